"""The numbers of `ingest profile-analyze`, compared with MegEngine's profile_analyze."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command import Command, Result
from tests.helpers.megengine import Profile, rate
from tests.helpers.samples import MEGENGINE, Samples

Row = dict[str, Any]
SIDES = ("device", "host")
HOW = {"max": max, "min": min}


@pytest.fixture(scope="module")
def default_store(sampled: Samples) -> Path:
    """The store that `command` uses."""
    return sampled.store(*MEGENGINE)


@pytest.fixture
def expected(samples: Path) -> Path:
    """The directory with the original's output."""
    return samples / "expected" / "megengine"


def near(value: float | str) -> Any:
    """Allow a relative error of 1e-12. As in the original, infinities and NaN are texts."""
    return pytest.approx(float(value), rel=1e-12, abs=0, nan_ok=True)


def records(result: Result) -> dict[str, list[Row]]:
    """Return the records of the only file, by side."""
    assert (result.code, result.err) == (0, "")
    [analysis] = json.loads(result.out)
    return {side: analysis[side] for side in SIDES}


def assert_equal(found: list[Row], expected: list[Row]) -> None:
    """Compare the identity and the numbers of each record."""
    assert len(found) == len(expected)
    for row, wanted in zip(found, expected, strict=True):
        for name in ("name", "type", "count"):
            assert row[name] == wanted.get(name), wanted
        for name in ("time", "computation", "memory", "flops", "bandwidth"):
            assert (row[name] is None) == (wanted[name] is None), (name, wanted)
            if wanted[name] is not None:
                assert float(row[name]) == near(wanted[name]), (name, wanted)
        for name in ("in_shapes", "out_shapes"):
            assert row[name] == wanted.get(name), wanted
        is_group = wanted.get("opr_id") in (None, "N/A")
        assert row["opr_id"] == (None if is_group else wanted["opr_id"])


def options(key: str, aggregate: str, by: str) -> list[str]:
    """Return the options that print all records of both sides."""
    listed = ["-t", "0", "--show-host", "--json", "--top-end-key", key]
    listed += ["--aggregate", aggregate] if aggregate != "None" else []
    return listed + (["--aggregate-by", by] if by != "None" else [])


@pytest.mark.parametrize("run", MEGENGINE)
def test_the_numbers_equal_the_originals(run: str, command: Command, expected: Path) -> None:
    """Each file is compared in half of the variants, and thus each variant for three files."""
    listed = json.loads((expected / "records.json").read_text())[f"{run}.json"]
    # Other values are messages: the original crashed.
    compared = {key: rows for key, rows in listed.items() if isinstance(rows, list)}
    variants = sorted({key.partition("/")[2] for key in compared})
    assert (len(compared), len(variants)) == (16, 8)
    for variant in variants[MEGENGINE.index(run) % 2 :: 2]:
        found = records(command("profile-analyze", run, *options(*variant.split("/"))))
        for side in SIDES:
            assert_equal(found[side], compared[f"{side}/{variant}"])


@pytest.mark.parametrize("run", MEGENGINE)
@pytest.mark.parametrize("key", ["end", "kern"])
def test_maximum_and_minimum_of_each_type_ignore_unknown_values(
    run: str, key: str, command: Command, samples: Path
) -> None:
    profile = Profile.read(samples / "megengine" / f"{run}.json")
    for aggregate, how in HOW.items():
        found = records(command("profile-analyze", run, *options(key, aggregate, "type")))
        for side in SIDES:
            times = profile.times(side, key)
            rows = []
            for type_, oprs in profile.by_type(list(times)).items():
                time = how(times[opr] for opr in oprs)
                flo = [profile.flo(opr) for opr in oprs if profile.flo(opr) is not None]
                memory = how(profile.memory(opr) for opr in oprs)
                most = how(flo) if flo else None
                row = {"type": type_, "count": len(oprs), "time": time, "computation": most}
                rate_of = {"flops": rate(most, time), "bandwidth": rate(memory, time)}
                rows.append({**row, "memory": memory, **rate_of})
            assert_equal(found[side], sorted(rows, key=lambda row: -row["time"]))
            if run != "prof_onlywait":
                assert {row["computation"] is None for row in rows} == {True, False}
