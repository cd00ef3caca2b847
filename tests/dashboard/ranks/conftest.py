"""A store of runs of several ranks, whose straggler is known."""

import json
from pathlib import Path

import pytest

import ingest
from tests.builders.collectives import Call, Clock, awaited, computing, loop, recorded, shifted
from tests.builders.events import kernel, op
from tests.builders.relations import Run

STEPS, A_STEP = 8, 2  # steps, and collectives of each
RUNS = ("late", "bound", "even", "awaited", "unmatched", "alone")
LATE = 2  # the rank that computes 800 µs longer before each collective


def with_compute(run: Run) -> Run:
    """Add steps, and a kernel between collectives, which ends 40 µs before the next."""
    for content in run.files.values():
        calls = content["traceEvents"]
        ends = [calls[0]["ts"] - 4000, *(call["ts"] + call["dur"] for call in calls)]
        for number, call in enumerate(calls):
            start, device = ends[number] + 20, call["args"]["device"]
            content["traceEvents"] = [
                *content["traceEvents"],
                op(
                    "cudaLaunchKernel",
                    start - 5,
                    2,
                    cat="cuda_runtime",
                    args={"correlation": start},
                ),
                kernel("gemm", start, call["ts"] - start - 40, device=device, correlation=start),
            ]
        for step in range(len(calls) // A_STEP):
            start, end = ends[A_STEP * step], ends[A_STEP * (step + 1)]
            content["traceEvents"].append(
                op(f"ProfilerStep#{step}", start, end - start, cat="user_annotation")
            )
    return run


def of_ranks(calls: list[Call], clocks: dict[int, Clock], missing: tuple[int, ...] = ()) -> Run:
    hosts = {rank: f"node{rank // 2}" for rank in clocks}
    return with_compute(recorded(calls, clocks, hosts=hosts, missing=missing))


def without_groups(run: Run) -> Run:
    """Drop what says which collectives the kernels are."""
    for content in run.files.values():
        for event in content["traceEvents"]:
            for name in ("Process Group Name", "Process Group Ranks", "Collective name"):
                event.get("args", {}).pop(name, None)
    return run


@pytest.fixture(scope="session")
def ranks_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of runs: `late` and `bound` have a straggler, `even` has none.

    `bound` lacks rank 3. In `awaited`, hosts wait for rank 1 in collectives. `unmatched` has no
    process groups, and `alone` has one rank.
    """
    number = STEPS * A_STEP
    late = loop(4, number, lambda rank, at: 3000 + 20 * (at % 3) * rank + 800 * (rank == LATE))
    even = loop(2, number, lambda rank, at: 3000 + 400 * (rank == at % 2))
    clocks = {rank: shifted(120 * (rank // 2)) for rank in range(4)}
    two = {rank: shifted(0) for rank in range(2)}
    runs = {
        "late": of_ranks(late, clocks),
        "bound": of_ranks(late, clocks, missing=(3,)),
        "even": of_ranks(even, two),
        "awaited": awaited(computing(recorded(loop(2, 4, lambda rank, _: 4800 + 800 * rank), two))),
        "unmatched": without_groups(of_ranks(even, two)),
        "alone": of_ranks([Call({0: call.starts_us[0]}) for call in even], {0: shifted(0)}),
    }
    directory = tmp_path_factory.mktemp("ranks")
    store = ingest.Store(directory / "store")
    for name, run in runs.items():
        (directory / name).mkdir()
        for file, content in run.files.items():
            (directory / name / file).write_text(json.dumps(content))
        store.add(directory / name)
    return Path(store.path)


@pytest.fixture(scope="session")
def ranks_run(ranks_store: Path) -> dict[str, str]:
    """The ids of the runs of the store, by name."""
    store = ingest.Store(ranks_store)
    return {name: store.find(name) for name in RUNS}
