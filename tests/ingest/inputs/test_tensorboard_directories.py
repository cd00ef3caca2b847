"""Directories that torch.profiler writes for TensorBoard: runs, workers and cycles."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ingest
from ingest.formats import Source
from tests.builders.events import host, op
from tests.helpers.command import Command
from tests.ingest.inputs.conftest import ReadRun

RECORDING = """
import os, sys, torch
from torch.profiler import profile, schedule, tensorboard_trace_handler

directory, cycles = sys.argv[1], int(sys.argv[2])
plan = schedule(wait=0, warmup=1, active=2, repeat=cycles)
child = os.fork()  # a second process, which need not import torch again
written = tensorboard_trace_handler(directory)
with profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=plan,
             on_trace_ready=written) as profiler:
    for _ in range(3 * cycles):
        torch.rand(8, 8).relu()
        profiler.step()
if child:
    sys.exit(os.waitpid(child, 0)[1])
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the traces of two torch processes, three cycles each."""
    pytest.importorskip("torch")
    directory = tmp_path_factory.mktemp("recorded")
    command = [sys.executable, "-c", RECORDING, str(directory), "3"]
    subprocess.run(command, stderr=subprocess.DEVNULL, check=True)
    return directory


def by_worker(directory: Path) -> list[list[Path]]:
    """Return the files of each worker, ordered by time."""
    workers: dict[str, list[Path]] = {}
    for file in sorted(directory.glob("*.pt.trace.json")):
        workers.setdefault(file.name.partition(".")[0], []).append(file)
    return list(workers.values())


def cycles(store: ingest.Store) -> list[tuple[int, int, list[int]]]:
    """Return rank, cycle and steps of each trace."""
    return (
        ingest.connect(store.path)
        .sql(
            "SELECT sources.rank, cycle, list(step ORDER BY step) FROM sources "
            "INNER JOIN steps USING (run_id, source_id) GROUP BY ALL ORDER BY ALL"
        )
        .fetchall()
    )


def ranks_and_cycles(sources: list[Source]) -> list[tuple[int | None, int | None]]:
    """Return the rank and the cycle of each file."""
    return [(source.rank, source.cycle) for source in sources]


def codes(added: list[Source]) -> set[str]:
    return {code for source in added for code in source.warning_codes}


def test_workers_and_cycles_of_a_schedule(recorded: Path, store: ingest.Store) -> None:
    added = store.add(recorded)
    assert cycles(store) == [
        *[(0, 1, [1, 2]), (0, 2, [4, 5]), (0, 3, [7, 8])],
        *[(1, 1, [1, 2]), (1, 2, [4, 5]), (1, 3, [7, 8])],
    ]
    assert "cycle 3, " in added.sources[2].summary()
    assert not store.add(recorded).is_new


def delay(file: Path, delay_ns: int) -> None:
    """Change a trace as if it had been recorded later."""
    trace = json.loads(file.read_text())
    trace["baseTimeNanoseconds"] += delay_ns
    file.write_text(json.dumps(trace))


@pytest.mark.parametrize("delayed", [[], [0], [1]])
def test_a_missing_cycle_of_a_worker_has_a_warning(
    delayed: list[int], recorded: Path, read_run: ReadRun, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(recorded, run)
    by_worker(run)[0][0].unlink()
    for worker in delayed:  # as if the processes had run one after the other
        for file in by_worker(run)[worker]:
            delay(file, 60_000_000_000)
    sources = read_run(run)
    assert ranks_and_cycles(sources) == [(0, 2), (0, 3), (1, 1), (1, 2), (1, 3)]
    messages = {(s.rank, w.message) for s in sources for w in s.coded_warnings}
    assert (0, "files are missing for cycles: 1 (the run has 3 cycles)") in messages


@pytest.mark.parametrize(("workers", "count"), [(1, 3), (2, 1)])
def test_fewer_workers_or_cycles_are_read(
    workers: int, count: int, recorded: Path, read_run: ReadRun, tmp_path: Path
) -> None:
    for files in by_worker(recorded)[:workers]:
        for file in files[:count]:
            shutil.copy(file, tmp_path)
    numbers = [None] if count == 1 else [1, 2, 3]
    assert ranks_and_cycles(read_run(tmp_path)) == [
        (rank, number) for rank in range(workers) for number in numbers
    ]


def test_a_log_directory_holds_several_runs(
    recorded: Path, command: Command, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    first, second = by_worker(recorded)
    for name, files in (("run_a", first[:1]), ("nested/run_b", second)):
        (log / name).mkdir(parents=True)
        for file in files:
            shutil.copy(file, log / name)
    cut = log / "run_a" / second[0].name
    cut.write_bytes(second[0].read_bytes()[:-2000])
    (log / "run_a" / "events.out.tfevents.1.host").write_bytes(b"\0")
    (log / "events.out.tfevents.1.host").write_bytes(b"\0")
    (log / "checkpoints").mkdir()
    result = command("add", log)
    assert result.code == 0
    assert "truncated" in result.err
    lines = [line for line in result.out.splitlines() if not line.startswith("  ")]
    assert [line.partition("-")[0] for line in lines] == ["run_b", "run_a"]
    assert "events.out.tfevents.1.host: skipped: not a profile" in result.out
    assert command("add", log).out.count("already in the store") == 2


def write(directory: Path, name: str, ts: float, step: int | None = None) -> None:
    """Write a trace of one operator, inside a step if one is given."""
    steps = [] if step is None else [host(f"ProfilerStep#{step}", "user_annotation", ts, 100)]
    events = [*steps, op(name, ts + 10, 50)]
    file = directory / f"{name}.{int(ts) + 10**12}.pt.trace.json"
    file.write_text(json.dumps({"baseTimeNanoseconds": 10**18, "traceEvents": events}))


def numbers(sources: list[Source]) -> list[tuple[str, int | None]]:
    """Return the worker and the cycle of each trace."""
    return [(source.path.name.partition(".")[0], source.cycle) for source in sources]


def test_times_distinguish_cycles_with_the_same_steps(read_run: ReadRun, tmp_path: Path) -> None:
    for ts in (0, 1000, 2000):
        write(tmp_path, "a_1", ts, step=3)
    for ts in (1020, 2020):
        write(tmp_path, "b_2", ts, step=3)
    sources = read_run(tmp_path)
    assert numbers(sources) == [("a_1", 1), ("a_1", 2), ("a_1", 3), ("b_2", 2), ("b_2", 3)]
    assert codes(sources) == {"rank_assumed", "cycles_missing"}


def test_workers_may_start_at_different_times(read_run: ReadRun, tmp_path: Path) -> None:
    for ts, step in ((0, 3), (1000, 6)):
        write(tmp_path, "a_1", ts, step)
        write(tmp_path, "b_2", ts + 5000, step)
    sources = read_run(tmp_path)
    assert codes(sources) == {"rank_assumed"}
    assert numbers(sources) == [("a_1", 1), ("a_1", 2), ("b_2", 1), ("b_2", 2)]


def test_ambiguous_cycles_have_a_warning(read_run: ReadRun, tmp_path: Path) -> None:
    for ts in (0, 1000, 2000):
        write(tmp_path, "a_1", ts)
    for ts in (5000, 6000):
        write(tmp_path, "b_2", ts)
    sources = read_run(tmp_path)
    assert numbers(sources) == [("a_1", 1), ("a_1", 2), ("a_1", 3), ("b_2", 1), ("b_2", 2)]
    assert codes(sources) == {"rank_assumed", "cycles_uncertain"}


def test_a_later_job_in_the_same_directory_has_a_warning(read_run: ReadRun, tmp_path: Path) -> None:
    write(tmp_path, "host_1", 0, step=3)
    write(tmp_path, "host_2", 5000, step=3)
    first, second = read_run(tmp_path)
    assert "recorded_apart" not in first.warning_codes
    assert second.message("recorded_apart") == (
        "begins after the end of host_1: if it belongs to another job, "
        "move it to a separate directory"
    )


def test_profiles_next_to_run_directories_are_a_run(
    store: ingest.Store, tmp_path: Path, command: Command
) -> None:
    """Their names do not matter: run directories below do not hide them."""
    (tmp_path / "run_a").mkdir()
    write(tmp_path / "run_a", "host_1", 0)
    for name, worker in (("rank0.json", "host_2"), ("profile_of_today.json", "host_3")):
        write(tmp_path, worker, 0)
        (tmp_path / f"{worker}.{10**12}.pt.trace.json").rename(tmp_path / name)
    assert command("add", str(tmp_path), "--store", str(store.path)).code == 0
    files = ingest.connect(store.path).sql("SELECT count(*) FROM sources GROUP BY run_id")
    assert sorted(files.fetchall()) == [(1,), (2,)]
