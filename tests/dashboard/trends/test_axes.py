"""The ticks of the charts on page Trends."""

import pandas as pd
import pytest

from dashboard.trends import axes


def texts(axis: axes.Axis) -> list[str]:
    return [text for _, text in axis.ticks]


def test_run_numbers_are_whole():
    assert texts(axes.of_numbers(3, 5)) == ["3", "4", "5"]
    assert texts(axes.of_numbers(1, 2_000)) == ["500", "1,000", "1,500", "2,000"]


@pytest.mark.parametrize(
    ("until", "found"),
    [
        ("2026-03-01 00:00:07", ["00:00:00", "00:00:05"]),
        ("2026-03-01 03:00", ["03-01 00:00", "03-01 01:00", "03-01 02:00", "03-01 03:00"]),
        ("2026-03-02 12:00", ["03-01 00:00", "03-01 12:00", "03-02 00:00", "03-02 12:00"]),
        ("2026-03-04 06:00", ["2026-03-01", "2026-03-03"]),
        ("2026-05-15", ["2026-03-01", "2026-04-01", "2026-05-01"]),
        ("2031-03-01", ["2027-01-01", "2029-01-01", "2031-01-01"]),
        ("2090-03-01", ["2027-01-01", "2077-01-01"]),
    ],
)
def test_times_are_round_and_few(until, found):
    since = pd.Timestamp("2026-03-01")
    axis = axes.of_times(since, pd.Timestamp(until), is_small=True)
    assert texts(axis) == found
    assert all(axis.least <= at <= axis.most for at, _ in axis.ticks)


@pytest.mark.parametrize(
    ("values", "unit", "found"),
    [
        ([1e6, 3e6], "ns", ["1 ms", "2 ms", "3 ms"]),
        ([2**30, 3 * 2**30], "bytes", ["1 GiB", "2 GiB", "3 GiB"]),
        ([0, 0], "count", ["0", "0.5", "1"]),
    ],
)
def test_values_have_their_unit(values, unit, found):
    assert texts(axes.of_values(pd.Series(values), unit, is_log=False, has_change=False)) == found


def test_a_log_scale_has_round_numbers():
    axis = axes.of_values(pd.Series([3e4, 5e9]), "ns", is_log=True, has_change=False)
    assert texts(axis) == ["0.0001 s", "0.001 s", "0.01 s", "0.1 s", "1 s"]
    axis = axes.of_values(pd.Series([3e6, 8e6]), "ns", is_log=True, has_change=False)
    assert texts(axis) == ["3 ms", "4 ms", "5 ms", "6 ms", "7 ms", "8 ms"]
