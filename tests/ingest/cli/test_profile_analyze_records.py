"""The numbers of `ingest profile-analyze`, against those of MegEngine's own profile_analyze."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command import Command, Result
from tests.megengine import Profile, rate
from tests.samples import MEGENGINE, Samples

Row = dict[str, Any]
SIDES = ("device", "host")
HOW = {"max": max, "min": min}


@pytest.fixture(scope="module")
def default_store(sampled: Samples) -> Path:
    """The store that `command` works on."""
    return sampled.store(*MEGENGINE)


@pytest.fixture
def expected(samples: Path) -> Path:
    """What the original says."""
    return samples / "expected" / "megengine"


def near(value: float | str) -> Any:
    """A number to 1e-12 of it; the original, too, writes those that are not finite as texts."""
    return pytest.approx(float(value), rel=1e-12, abs=0, nan_ok=True)


def records(said: Result) -> dict[str, list[Row]]:
    """The records of the one file, by side."""
    assert (said.code, said.err) == (0, "")
    [analysis] = json.loads(said.out)
    return {side: analysis[side] for side in SIDES}


def same(found: list[Row], expected: list[Row]) -> None:
    """Compares what identifies each record, and its figures."""
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
    """What asks for all records of both sides."""
    said = ["-t", "0", "--show-host", "--json", "--top-end-key", key]
    said += ["--aggregate", aggregate] if aggregate != "None" else []
    return said + (["--aggregate-by", by] if by != "None" else [])


@pytest.mark.parametrize("run", MEGENGINE)
def test_its_numbers_are_the_originals(run: str, command: Command, expected: Path) -> None:
    listed = json.loads((expected / "records.json").read_text())[f"{run}.json"]
    compared = 0
    for asked in {asked.partition("/")[2] for asked in listed}:
        found = records(command("profile-analyze", run, *options(*asked.split("/"))))
        for side in SIDES:
            wanted = listed[f"{side}/{asked}"]
            if isinstance(wanted, list):  # else how the original crashed
                same(found[side], wanted)
                compared += 1
    assert compared == 2 * 2 * 4


@pytest.mark.parametrize("run", MEGENGINE)
@pytest.mark.parametrize("key", ["end", "kern"])
def test_the_most_and_the_least_of_each_type_leave_out_what_is_unknown(
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
            same(found[side], sorted(rows, key=lambda row: -row["time"]))
            if run != "prof_onlywait":
                assert {row["computation"] is None for row in rows} == {True, False}
