"""The formatting of numbers, times and names in `ingest.units`."""

import pandas as pd
import pytest

from ingest import units


@pytest.mark.parametrize(
    ("ns", "written"),
    [(1, "1.00 ns"), (999.9, "1.00 µs"), (999_900, "1.00 ms"), (-4_150_000, "-4.15 ms")],
)
def test_a_time_that_rounds_up_to_the_next_unit_is_written_in_it(ns: float, written: str) -> None:
    assert units.duration(ns) == written


@pytest.mark.parametrize("value", [None, float("nan"), pd.NA])
def test_an_unknown_value_is_a_dash_in_every_unit(value: float | None) -> None:
    for write in (units.duration, units.size, units.percent, units.count, units.mean_count):
        assert write(value) == units.UNKNOWN
    for unit in ("ns", "bytes", "count"):
        assert units.amount(value, unit) == units.UNKNOWN


def test_a_change_has_a_sign_unless_it_is_zero() -> None:
    assert units.change(8.14, units.percent) == "+8.1%"
    assert units.change(-1234.5, units.percent) == "-1,234.5%"
    assert units.change(-0.04, units.percent) == "0.0%"
    assert units.change(0, units.percent) == "0.0%"


def test_a_mean_of_counts_has_few_decimals() -> None:
    values = (132_104, 297.0, 7.5, 1 / 6, 1_234.5, 0, float("inf"))
    written = ["132,104", "297", "7.5", "0.17", "1,234", "0", "inf"]
    assert list(map(units.mean_count, values)) == written


def test_an_amount_of_zero_has_no_unit_of_time() -> None:
    assert units.amount(0, "ns") == "0"
    assert units.amount(1_300.0, "bytes") == "1.27 KiB"
    assert units.amount(7.0, "count") == "7"
    assert units.amount(7.25, "count") == "7.2"


def test_a_name_cannot_control_the_terminal() -> None:
    assert units.printable("a\x1b[2Jb\u202ec") == "a\\x1b[2Jb\\u202ec"
    assert units.clipped("a\u061cb") == "a\ufffdb"


@pytest.mark.parametrize(
    ("text", "ns"),
    [("1.5s", 1_500_000_000), ("20 ms", 20_000_000), ("10us", 10_000), ("3µs", 3_000), ("7ns", 7)],
)
def test_a_time_with_a_unit_is_parsed(text: str, ns: int) -> None:
    assert units.parse_duration(text) == ns


@pytest.mark.parametrize("text", ["", "5", "s", "-1s", "1e3s", "1.s", "1h", "1 000ms"])
def test_other_text_is_not_a_time(text: str) -> None:
    with pytest.raises(ValueError, match="not a time with a unit"):
        units.parse_duration(text)


@pytest.mark.parametrize(
    ("input_dims", "written"),
    [
        ("[[16,64],[64,5],[]]", "16×64, 64×5"),
        ("[[[2,3],[4]],[]]", "[2×3, 4]"),
        ("[[[2,3],[4],[5],[6]]]", "[2×3, 4, … of 4]"),
        ('[["s0",4],7]', "s0×4"),
        ("[]", ""),
        (None, ""),
    ],
)
def test_shapes_are_those_of_tensors(input_dims: str | None, written: str) -> None:
    assert units.shapes(input_dims) == written


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([], ""),
        ([3], "3"),
        ([0, 1], "0 and 1"),
        ([0, 1, 2], "0 to 2"),
        ([0, 1, 2, 4, 6, 7], "0 to 2, 4, 6 and 7"),
        ([5, 7, 8, 9], "5 and 7 to 9"),
    ],
)
def test_numbers_in_a_row_are_a_range(numbers: list[int], text: str) -> None:
    assert units.number_ranges(numbers) == text


def test_after_some_ranges_the_rest_is_counted() -> None:
    assert units.number_ranges([0, 2, 4, 6], 2) == "0, 2 and 2 more"
    assert units.number_ranges([0, 1, 2, 4], 2) == "0 to 2 and 4"
