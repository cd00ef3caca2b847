"""Advice on memory: small snapshots with the rows that they must produce."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders.leaking import MIB, Snapshot, leaking
from tests.builders.relations import built

Rows = dict[str, tuple[Any, ...]]
NOT_RECORDED = "the snapshot does not record this setting; PyTorch 2.3 and later do"
FEW_STEPS = "fewer than three steps are known"


@pytest.fixture
def advice(tmp_path: Path) -> Callable[..., list[Rows]]:
    """A function that returns MiB, percent, finding and reason of each kind for each snapshot."""

    def of(*snapshots: Snapshot) -> list[Rows]:
        runs = {str(n): made.write(tmp_path / f"{n}.pickle") for n, made in enumerate(snapshots)}
        found: dict[str, Rows] = {run: {} for run in runs}
        for run, kind, *row in (
            built(runs)
            .execute(
                "SELECT run_id, kind, bytes / $1, round(percent, 1), finding, unknown_reason "
                "FROM memory_advice ORDER BY kind",
                [MIB],
            )
            .fetchall()
        ):
            found[run][kind] = tuple(row)
        return list(found.values())

    return of


def test_advice_for_steps_that_leak_until_memory_runs_out(advice):
    # Of 2,048 MiB, 0 to 500 and 1,024 to 1,924 are in use when memory runs out.
    [found] = advice(leaking(5, ("keep", "work", "last")))
    assert found == {
        "expandable_segments": (
            648, 46.3,
            "Expandable segments are off. They grow in place, so less memory stays free between "
            "allocations.",
            None,
        ),
        "fragmentation": (
            648, 46.3,
            "31.6% of the reserved memory was free when memory ran out, but in a segment that also "
            "holds allocations: only requests that fit there can use it.",
            None,
        ),
        "largest_owners": (
            1400, 100,
            "Largest owners at the peak: train.py:7 work (64.3%), train.py:7 keep (35.7%).",
            None,
        ),
        "leak": (400, 28.6, "A step leaves 100.00 MiB behind, at train.py:7 keep.", None),
    }  # fmt: skip


def filled(*sizes: int, reserved: int) -> Snapshot:
    """Adjacent allocations with these sizes in MiB."""
    made, at = Snapshot(reserved * MIB), 0
    for number, size in enumerate(sizes):
        made.alloc(at, size * MIB, f"f{number}")
        at += size * MIB
    return made


def test_expandable_segments_that_are_on_are_not_advised(advice):
    made = filled(60, 30, 5, 4, 1, reserved=200)
    made.settings = {"expandable_segments": True}
    [found] = advice(made)
    assert found["expandable_segments"] == (0, 0, None, None)
    assert found["fragmentation"][:2] == (100, 100)
    assert found["fragmentation"][2].startswith("50.0% of the reserved memory was free at the peak")
    assert found["largest_owners"][:3] == (
        95, 95, "Largest owners at the peak: train.py:7 f0 (60.0%), train.py:7 f1 (30.0%), "
        "train.py:7 f2 (5.0%).",
    )  # fmt: skip
    assert found["leak"] == (None, None, None, FEW_STEPS)


def test_a_finding_needs_one_percent_of_the_peak_and_a_mebibyte(advice):
    # MiB used and reserved → whether there is a finding
    cases = {(200, 202): True, (200, 201): False, (20, 21): True, (1, 1): False}
    found = advice(*(filled(used, reserved=reserved) for used, reserved in cases))
    for ((used, reserved), is_finding), kinds in zip(cases.items(), found, strict=True):
        assert kinds["fragmentation"][0] == reserved - used
        assert (kinds["fragmentation"][2] is not None) == is_finding, (used, reserved)


def test_some_kinds_cannot_be_judged_without_history_and_settings(advice):
    made = filled(60, 30, reserved=100)
    made.trace, made.settings = [], {}
    [found] = advice(made)
    assert found["fragmentation"][:2] == (10, 11.1)
    assert "free when the snapshot was taken" in found["fragmentation"][2]
    assert found["expandable_segments"] == (None, None, None, NOT_RECORDED)
    assert "Largest owners when the snapshot was taken: train.py:7 f0" in found["largest_owners"][2]
    assert found["leak"] == (None, None, None, "the snapshot has no history")


def test_memory_left_by_a_single_step_is_not_a_leak(advice):
    made = Snapshot(1024 * MIB)
    for step in range(4):
        made.annotate(f"ProfilerStep#{step}", "START")
        made.alloc(step * 100 * MIB, 100 * MIB, "work")
        if step != 2:
            made.free(step * 100 * MIB)
        made.annotate(f"ProfilerStep#{step}", "END")
    [found] = advice(made)
    assert found["leak"] == (0, 0, None, None)
