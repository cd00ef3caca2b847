"""Options of `ingest profile-analyze`, compared with values that plain Python computes."""

import csv
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.builders.megengine import CPU, GPU, THREAD, Opr, profile
from tests.conftest import Traces
from tests.helpers.command import Command
from tests.helpers.megengine import Profile, rate
from tests.helpers.samples import MEGENGINE, Samples


@pytest.fixture(scope="module")
def real(sampled: Samples) -> Path:
    """A store of the samples."""
    return sampled.store(*MEGENGINE)


@pytest.fixture(params=["prof_net3", "prof_async"])
def run(request: pytest.FixtureRequest) -> str:
    """A run of that store."""
    return str(request.param)


@pytest.fixture
def reference(run: str, samples: Path) -> Profile:
    """The same profile, read by plain Python."""
    return Profile.read(samples / "megengine" / f"{run}.json")


def grid(out: str) -> list[list[str]]:
    """Return the cells of each row of the first grid, with wrapped names joined."""
    rows: list[list[list[str]]] = []
    for line in out[out.index("╞") : out.index("╘")].splitlines():
        if line[0] in "╞├":
            rows.append([])
        else:
            rows[-1].append(line.strip("│").split("│"))
    cells = [
        [" ".join(map(str.strip, cell)).strip() for cell in zip(*r, strict=True)] for r in rows
    ]
    return [[cell.replace(" -  ", "") for cell in row] for row in cells]


def shown(names: Iterable[str], times: Iterable[float], total: float) -> list[list[str]]:
    """Return the expected first three cells of a row for each operator or group."""
    rows, cumulative = [], 0.0
    for number, (name, time) in enumerate(zip(names, times, strict=True)):
        cumulative += time
        share, reached = 100 * time / total, 100 * cumulative / total
        first = f"#{number} {time:.3} {share:.1f}%"
        rows.append([first, f"{cumulative:.3} {reached:.1f}%", name])
    return rows


def test_the_longest_of_some_names(
    run: str, reference: Profile, command: Command, real: Path
) -> None:
    times = reference.times()
    matching = [opr for opr in times if re.match("conv*", reference.oprs[opr]["name"])]
    top = sorted(matching, key=lambda opr: -times[opr])[:3]
    assert len(matching) > 3
    arguments = ("profile-analyze", run, "-t", "3", "--opr-name", "conv*")
    rows = grid(command(*arguments, store=real).out)
    names = [f"{reference.oprs[opr]['name']} {reference.oprs[opr]['type']} {opr}" for opr in top]
    total = sum(times.values())
    assert [row[:3] for row in rows] == shown(names, (times[opr] for opr in top), total)
    [analysis] = json.loads(command(*arguments, "--json", store=real).out)
    assert analysis["total_device_time"] == pytest.approx(total, rel=1e-12)
    assert [row["opr_id"] for row in analysis["device"]] == list(map(int, top))
    assert [row["time"] for row in analysis["device"]] == [times[opr] for opr in top]
    assert [row["memory"] for row in analysis["device"]] == [reference.memory(opr) for opr in top]
    assert [row["ratio"] for row in analysis["device"]] == pytest.approx(
        [times[opr] / total for opr in top], rel=1e-12
    )


def test_the_sum_of_each_type(run: str, reference: Profile, command: Command, real: Path) -> None:
    times = reference.times()
    groups = reference.by_type(list(times))
    sums = {type_: sum(times[opr] for opr in oprs) for type_, oprs in groups.items()}
    top = sorted(groups, key=lambda type_: -sums[type_])[:5]
    arguments = ("profile-analyze", run, "-t", "5", "--aggregate-by", "type", "--aggregate", "sum")
    rows = grid(command(*arguments, store=real).out)
    names = [f"{type_} {len(groups[type_])} N/A" for type_ in top]
    assert [row[:3] for row in rows] == shown(
        names, (sums[type_] for type_ in top), sum(times.values())
    )
    [analysis] = json.loads(command(*arguments, "--json", store=real).out)
    for row, type_ in zip(analysis["device"], top, strict=True):
        flo = [reference.flo(opr) for opr in groups[type_] if reference.flo(opr) is not None]
        memory = sum(reference.memory(opr) for opr in groups[type_])
        assert (row["type"], row["count"]) == (type_, len(groups[type_]))
        assert row["time"] == pytest.approx(sums[type_], rel=1e-12)
        assert row["computation"] == (sum(flo) if flo else None)
        assert row["flops"] == (pytest.approx(sum(flo) / sums[type_]) if flo else None)
        assert row["memory"] == memory
        assert row["bandwidth"] == pytest.approx(memory / sums[type_])


def test_the_least_memory_first(run: str, reference: Profile, command: Command, real: Path) -> None:
    times = reference.times()
    top = sorted(times, key=reference.memory)[:3]
    arguments = ("profile-analyze", run, "-t", "3", "--order-by", "+memory")
    rows = grid(command(*arguments, store=real).out)
    assert [row[5] for row in rows] == [f"{reference.memory(opr):.2f} byte" for opr in top]
    [analysis] = json.loads(command(*arguments, "--json", store=real).out)
    assert [row["opr_id"] for row in analysis["device"]] == list(map(int, top))
    for row, opr in zip(analysis["device"], top, strict=True):
        bandwidth = rate(reference.memory(opr), times[opr])
        assert float(row["bandwidth"]) == pytest.approx(bandwidth, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("column", ["computation", "flops"])
def test_unknown_values_come_last_in_both_directions(
    column: str, run: str, reference: Profile, command: Command, real: Path
) -> None:
    times = reference.times()
    known = {}
    for opr in times:
        flo = reference.flo(opr)
        if flo is not None:
            known[int(opr)] = flo if column == "computation" else rate(flo, times[opr])
    unknown = [int(opr) for opr in times if int(opr) not in known]
    assert len(unknown) > 5
    for direction, sign in (("", -1), ("+", 1)):
        result = command(
            *("profile-analyze", run, "-t", "0", "--json", "--order-by", direction + column),
            store=real,
        )
        found = [row["opr_id"] for row in json.loads(result.out)[0]["device"]]
        assert found == [*sorted(known, key=lambda opr: sign * known[opr]), *unknown]


def test_a_total_time_of_zero_has_no_percentages(traces: Traces, command: Command) -> None:
    zero = (0, 0, 0)
    traces.store.add(
        traces.write(
            profile(
                Opr("1", device={CPU: zero}, host={THREAD: zero}, computation=8, memory=4),
                Opr("2", "Copy", device={CPU: zero}, host={THREAD: zero}),
            )
        )
    )
    result = command("profile-analyze", "trace", "--show-host")
    assert result.code == 0
    first, second = grid(result.out)
    assert first[:2] == ["#0 0.0 N/A", "0.0 N/A"]
    assert first[3:7] == ["8.00 FLO", "inf FLOPS", "4.00 byte", "inf byte/s"]
    assert second[3:7] == ["N/A FLO", "N/A FLOPS", "0.00 byte", "nan byte/s"]
    host = result.out[result.out.index("host self time") - 5 :]
    assert [row[:2] for row in grid(host)] == [["#0 0.0 N/A", "0.0 N/A"], ["#1 0.0 N/A", "0.0 N/A"]]
    for form in (["--wiki"], ["--copy-time"], ["--aggregate", "max"], ["--json"]):
        assert command("profile-analyze", "trace", *form).code == 0
    [row, _] = json.loads(command("profile-analyze", "trace", "--json").out)[0]["device"]
    assert (row["ratio"], row["cumulative_ratio"], row["bandwidth"]) == (None, None, "inf")


def test_json_and_csv_hold_the_same_exact_numbers(
    run: str, reference: Profile, command: Command, real: Path
) -> None:
    arguments = ("profile-analyze", run, "-t", "0", "--show-host")
    [analysis] = json.loads(command(*arguments, "--json", store=real).out)
    rows = list(csv.DictReader(io.StringIO(command(*arguments, "--csv", store=real).out)))
    for side in ("device", "host"):
        times = reference.times(side)
        listed = [row for row in rows if row["side"] == side]
        assert {int(row["opr_id"]): float(row["time"]) for row in listed} == {
            int(opr): time for opr, time in times.items()
        }
        for row, record in zip(listed, analysis[side], strict=True):
            assert row["path"] == analysis["path"]
            assert row["name"] == record["name"]
            assert json.loads(row["in_shapes"]) == record["in_shapes"]
            for name in ("time", "flops", "bandwidth", "cumulative_ratio"):
                value = record[name]
                assert row[name] == ("" if value is None else str(value))
    assert any(row["bandwidth"] == "inf" for row in rows)


def test_copies_are_summed_by_end_and_by_first_kernel(traces: Traces, command: Command) -> None:
    copies: list[Any] = [(0, 1, 3), (3, 3.5, 4)]
    oprs = [Opr(str(n), "Copy", device={GPU: time}) for n, time in enumerate(copies)]
    traces.store.add(traces.write(profile(*oprs, Opr("9", device={GPU: (4, 4, 9)}))))
    printed = command("profile-analyze", "trace", "--copy-time", "--print-only", "summary").out
    assert re.search(r"copy time +tot=4.0000 avg=2.0000\n", printed)
    assert re.search(r"copy wait time +tot=1.5000 avg=0.7500\n", printed)
    [analysis] = json.loads(command("profile-analyze", "trace", "--json").out)
    assert (analysis["copy_time"], analysis["copy_wait_time"]) == ([4, 2], [1.5, 0.75])
