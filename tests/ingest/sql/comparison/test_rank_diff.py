"""The ranks of two runs side by side: the same ranks, and the worst of each run."""

from typing import Any

import pytest

from tests.builders.events import host, kernel, op
from tests.builders.rank_runs import late, stepping, without_collectives
from tests.builders.relations import Input, Run, built, ranks

TIMES = ("wall", "compute", "waiting", "transfer", "exposed_communication", "lateness")


def differences(base: Input, other: Input, *columns: str) -> list[tuple[Any, ...]]:
    """Return columns of `rank_diff` in its order."""
    relations = built({"base": base, "other": other})
    names = ", ".join(columns)
    return relations.execute(
        f"SELECT pairing, base_rank, other_rank, {names} FROM rank_diff('base', 'other') "
        "ORDER BY ordinal"
    ).fetchall()


def without_device(run: Run) -> Run:
    """Drop the kernels of a run. Return the run."""
    for content in run.files.values():
        events = content["traceEvents"]
        content["traceEvents"] = [each for each in events if each["cat"] != "kernel"]
    return run


def test_another_rank_becomes_late() -> None:
    """Rank 1 computes 0.4 ms longer in the first run, and rank 2 0.8 ms in the second."""
    base, other = stepping(range(4), late(1, 400)), stepping(range(4), late(2))
    columns = [f"{side}_{time}_ns // 1000" for side in ("base", "other") for time in TIMES]
    assert differences(base, other, "base_reason", "other_reason", *columns) == [
        (
            *("worst", 1, 2, "straggler", "straggler"),
            *(5300, 5196, 0, 100, 100, 400),
            *(5700, 5596, 0, 100, 100, 800),
        ),
        (
            *("rank", 2, 2, None, "straggler"),
            *(5300, 4796, 400, 100, 500, 0),
            *(5700, 5596, 0, 100, 100, 800),
        ),
        (
            *("rank", 1, 1, "straggler", None),
            *(5300, 5196, 0, 100, 100, 400),
            *(5700, 4796, 800, 100, 900, 0),
        ),
        *(
            (
                *("rank", rank, rank, None, None),
                *(5300, 4796, 400, 100, 500, 0),
                *(5700, 4796, 800, 100, 900, 0),
            )
            for rank in (0, 3)
        ),
    ]
    changes = [f"change_{time}_ns // 1000" for time in TIMES]
    found = differences(base, other, "round(change_percent, 3)", *changes)
    percent = round(100 * 400 / 5300, 3)
    assert found == [
        ("worst", 1, 2, percent, 400, 400, 0, 0, 0, 400),
        ("rank", 2, 2, percent, 400, 800, -400, 0, -400, 800),
        ("rank", 1, 1, percent, 400, -400, 800, 0, 800, -400),
        ("rank", 0, 0, percent, 400, 0, 400, 0, 400, 0),
        ("rank", 3, 3, percent, 400, 0, 400, 0, 400, 0),
    ]


def test_ranks_of_only_one_run_have_no_change() -> None:
    base, other = stepping([0, 2, 3], late(2)), stepping([1, 2, 3], late(3))
    assert differences(
        base, other, "base_wall_ns IS NULL", "other_wall_ns IS NULL", "change_wall_ns"
    ) == [
        ("worst", 2, 3, False, False, 0),
        ("rank", 2, 2, False, False, 0),
        ("rank", 3, 3, False, False, 0),
        ("rank", 0, None, False, True, None),
        ("rank", None, 1, True, False, None),
    ]


def test_without_the_times_of_a_rank_waiting_is_a_lower_bound() -> None:
    """Rank 1, which makes the others wait, has no trace in the second run."""
    base, other = stepping(range(4), late(1)), stepping([0, 2, 3], late(1))
    columns = ("base_is_bound", "other_is_bound", "base_waiting_ns", "other_waiting_ns")
    assert differences(base, other, *columns)[1:] == [
        *(("rank", rank, rank, False, True, 800_000, 0) for rank in (0, 2, 3)),
        ("rank", 1, None, False, None, 0, None),
    ]


def test_runs_without_common_ranks_still_have_worst_ranks() -> None:
    found = differences(stepping([0, 1], late(1)), stepping([2, 3], late(3)), "change_compute_ns")
    assert found == [
        ("worst", 1, 3, 0),
        ("rank", 0, None, None),
        ("rank", 1, None, None),
        ("rank", None, 2, None),
        ("rank", None, 3, None),
    ]


@pytest.mark.parametrize(("base", "other"), [(1, 4), (4, 1), (1, 1)])
def test_a_run_of_one_rank_has_no_ranks_to_compare(base: int, other: int) -> None:
    runs = stepping(range(base), late(0)), stepping(range(other), late(0))
    assert differences(*runs, "change_wall_ns") == []


def test_without_collectives_waiting_is_unknown() -> None:
    """The slowest rank is the worst one, because no rank is a straggler."""
    base = without_collectives(stepping(range(3), late(1)))
    other = without_collectives(stepping(range(3), late(2)))
    unknown = [f"{side}_{time}_ns" for side in ("base", "change") for time in TIMES[2:4]]
    columns = ("base_reason", "change_compute_ns", "base_exposed_communication_ns", *unknown)
    found = differences(base, other, *columns, "base_lateness_ns", "change_lateness_ns")
    nothing = (None,) * 6
    assert found[0][3:] == (found[0][3], found[0][4], 0, *nothing)
    assert {row[1]: row[4] for row in found if row[0] == "rank"} == {1: -800_000, 2: 800_000, 0: 0}
    assert all(row[5:] == (0, *nothing) for row in found)


def test_only_one_run_has_collectives() -> None:
    base, other = stepping(range(2), late(1)), without_collectives(stepping(range(2), late(1)))
    found = differences(base, other, "base_waiting_ns", "other_waiting_ns", "change_waiting_ns")
    assert found[1:] == [("rank", 0, 0, 800_000, None, None), ("rank", 1, 1, 0, None, None)]


def test_the_slowest_rank_is_the_worst_without_a_straggler() -> None:
    def whole(*lengths: int) -> Run:
        return ranks([[kernel("gemm", 0, 10), kernel("gemm", n - 10, 10)] for n in lengths])

    columns = ("base_reason", "other_reason", "base_wall_ns", "other_wall_ns", "change_wall_ns")
    assert differences(whole(50, 90, 70), whole(80, 60, 60), *columns) == [
        ("worst", 1, 0, "slowest", "slowest", 90_000, 80_000, -10_000),
        ("rank", 0, 0, None, "slowest", 50_000, 80_000, 30_000),
        ("rank", 1, 1, "slowest", None, 90_000, 60_000, -30_000),
        ("rank", 2, 2, None, None, 70_000, 60_000, -10_000),
    ]


def test_a_device_and_a_host_have_no_change() -> None:
    base, other = stepping(range(2), late(1)), without_device(stepping(range(2), late(1)))
    found = differences(base, other, *(f"change_{time}_ns" for time in TIMES), "change_percent")
    assert {row[3:] for row in found} == {(None,) * 7}


def test_a_recording_without_steps_and_a_step_have_no_change() -> None:
    whole = ranks([[op("aten::mm", 0, 40)], [op("aten::mm", 0, 60)]])
    step = host("ProfilerStep#1", "user_annotation", 0, 90)
    stepped = ranks([[step, op("aten::mm", 0, 40)], [step, op("aten::mm", 0, 60)]])
    columns = ("base_wall_ns", "change_wall_ns", "change_percent")
    assert differences(whole, stepped, *columns)[1:] == [
        ("rank", 0, 0, 40_000, None, None),
        ("rank", 1, 1, 60_000, None, None),
    ]
