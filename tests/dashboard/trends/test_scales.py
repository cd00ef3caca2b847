"""The ticks of the charts on page Trends."""

import pandas as pd
import pytest

from dashboard.trends import scales


def texts(scale: scales.Scale) -> list[str]:
    return [text for _, text in scale.ticks]


def test_run_numbers_are_whole():
    assert texts(scales.of_numbers(3, 5)) == ["3", "4", "5"]
    assert texts(scales.of_numbers(1, 2_000)) == ["500", "1,000", "1,500", "2,000"]


@pytest.mark.parametrize(
    ("until", "found"),
    [
        ("2026-03-01 00:02", ["03-01 00:00", "03-01 00:01", "03-01 00:02"]),
        ("2026-03-01 03:00", ["03-01 00:00", "03-01 01:00", "03-01 02:00", "03-01 03:00"]),
        ("2026-03-02 12:00", ["03-01 00:00", "03-01 12:00", "03-02 00:00", "03-02 12:00"]),
        ("2026-03-04 06:00", ["2026-03-01", "2026-03-03"]),
        ("2026-05-15", ["2026-03-01", "2026-04-01", "2026-05-01"]),
        ("2031-03-01", ["2028-01-01", "2030-01-01"]),
        ("2090-03-01", ["2050-01-01"]),
        ("2250-03-01", ["2100-01-01", "2200-01-01"]),
    ],
)
def test_times_are_round_and_few(until, found):
    since = pd.Timestamp("2026-03-01")
    scale = scales.of_times(since, pd.Timestamp(until), is_small=True)
    assert texts(scale) == found
    assert all(scale.least <= at <= scale.most for at, _ in scale.ticks)


@pytest.mark.parametrize(
    ("values", "unit", "found"),
    [
        ([1e6, 3e6], "ns", ["1 ms", "2 ms", "3 ms"]),
        ([2**30, 3 * 2**30], "bytes", ["1 GiB", "2 GiB", "3 GiB"]),
        ([0, 0], "count", ["0", "1"]),
        ([0, 0], "ns", ["0", "0.5 µs", "1 µs"]),
        ([3, 3], "count", ["3"]),
    ],
)
def test_values_have_their_unit(values, unit, found):
    assert texts(scales.of_values(pd.Series(values), unit, is_log=False, has_change=False)) == found


@pytest.mark.parametrize(
    ("values", "unit", "found"),
    [
        ([3e4, 5e9], "ns", ["100 µs", "1 ms", "10 ms", "100 ms", "1 s"]),
        ([3e6, 8e6], "ns", ["3 ms", "4 ms", "5 ms", "6 ms", "7 ms", "8 ms"]),
        ([3 * 2**20, 5 * 2**30], "bytes", ["10 MiB", "100 MiB", "1 GiB"]),
        ([1, 2_000], "count", ["1", "10", "100", "1,000"]),
        ([2, 4], "count", ["2", "3", "4"]),
    ],
)
def test_a_log_scale_has_round_values_in_their_units(values, unit, found):
    assert texts(scales.of_values(pd.Series(values), unit, is_log=True, has_change=False)) == found
