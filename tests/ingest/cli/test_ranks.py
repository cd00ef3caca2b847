"""`ingest ranks`: a hang, by dumps of torch's flight recorder."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ingest
from tests.builders.collectives import awaited, computing, loop, recorded, shifted
from tests.builders.events import op
from tests.builders.flight_recorder import Call, call, dump, pickled
from tests.helpers.command import Command

DP, TP = ("4", "dp"), ("5", "tp")

# Rank 2 never comes to the last all-reduce.
GLOO = """
import os, sys, time
import torch, torch.distributed as dist, torch.multiprocessing as mp
from torch._C._distributed_c10d import _dump_fr_trace, _dump_fr_trace_json

directory = sys.argv[1]

def work(rank):
    dist.init_process_group("gloo", f"file://{directory}/store", rank=rank, world_size=3)
    pair = dist.new_group([0, 1], group_desc="pair")
    tensor = torch.ones(64)
    dist.all_reduce(tensor)
    dist.broadcast(tensor, 0)
    dist.all_gather([torch.empty(64) for _ in range(3)], tensor)
    if rank < 2:
        dist.all_reduce(tensor, group=pair)
        waits = dist.all_reduce(torch.ones(5, 6), async_op=True)
    time.sleep(0.5)  # gloo notes later what is done
    for name, content in (("pickle", _dump_fr_trace()), ("json", _dump_fr_trace_json())):
        with open(f"{directory}/{name}/comm_lib_trace_rank_{rank}", "wb") as file:
            file.write(content)
    open(f"{directory}/done{rank}", "w").close()
    while not all(os.path.exists(f"{directory}/done{each}") for each in range(3)):
        time.sleep(0.01)
    os._exit(0)

if __name__ == "__main__":
    os.environ["TORCH_FR_BUFFER_SIZE"] = "2000"
    mp.start_processes(work, nprocs=3, start_method="fork")
"""

AddDumps = Callable[..., str]


@pytest.fixture(scope="module")
def gloo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with dumps of a job on gloo, as pickles and as JSON."""
    pytest.importorskip("torch")
    directory = tmp_path_factory.mktemp("gloo")
    for name in ("pickle", "json"):
        (directory / name).mkdir()
    program = directory / "program.py"
    program.write_text(GLOO)
    subprocess.run([sys.executable, program, directory], check=True, timeout=120)
    return directory


@pytest.fixture
def add_dumps(store: ingest.Store, tmp_path: Path) -> AddDumps:
    """A function that adds a run with the dumps of ranks."""

    def add(calls: dict[int, list[Call]], groups: Any = None, size: int = 0) -> str:
        run = tmp_path / "run"
        run.mkdir()
        members = {("0", "default_pg"): range(size or len(calls)), **(groups or {})}
        for rank, listed in calls.items():
            own = {group: ranks for group, ranks in members.items() if rank in ranks}
            path = run / f"comm_lib_trace_rank_{rank}"
            path.write_bytes(pickled(dump(listed, groups=own)))
        return store.add(run).run_id

    return add


@pytest.mark.parametrize("encoding", ["pickle", "json"])
def test_a_job_that_hangs_on_gloo(
    gloo: Path, encoding: str, store: ingest.Store, command: Command
) -> None:
    assert command("add", gloo / encoding, store=store.path).code == 0
    said = command("ranks", encoding, store=store.path)
    at = " at program.py:17 work" if encoding == "pickle" else ""
    before = " at program.py:14 work" if encoding == "pickle" else ""
    assert said.out.splitlines()[0] == (
        f"Process group 0 (default_pg): collective 4 (all_reduce of 5×6{at}) was not done when the "
        "dumps were written. Ranks 0 and 1 wait. Rank 2 has not come. The last call of rank 2 was "
        f"all_gather 3 of group 0{before}, which is done."
    )
    assert said.rows["0 (default_pg)"] == ["0 and 1", "4", "–", "3", "yes"]
    assert said.rows["1 (pair)"] == ["0 and 1", "1", "–", "1", "yes"]
    found = json.loads(command("ranks", encoding, "--json", store=store.path).out)
    [hang] = found["hangs"]
    assert (hang["waiting_ranks"], hang["absent_ranks"], hang["is_origin"]) == ([0, 1], [2], True)
    assert (found["missing_ranks"], found["mismatches"]) == ([], [])


def test_a_rank_without_a_dump(add_dumps: AddDumps, store: ingest.Store, command: Command) -> None:
    waits = [call(seq=1), call("broadcast", 2, "started", retired=True)]
    run_id = add_dumps(dict.fromkeys((0, 1, 2, 5), waits), size=7)
    said = command("ranks", run_id, store=store.path)
    assert said.out.splitlines()[0] == (
        "Process group 0 (default_pg): collective 2 (broadcast of 8×8 at train.py:10 step) was not "
        "done when the dumps were written. Ranks 0 to 2 and 5 wait, and it timed out. Ranks 3, 4 "
        "and 6 have no dump, so it is unknown where they are."
    )
    found = json.loads(command("ranks", run_id, "--json", store=store.path).out)
    assert found["missing_ranks"] == [
        {"rank": rank, "missing_reason": "no dump"} for rank in (3, 4, 6)
    ]


@pytest.mark.parametrize(
    ("odd", "difference"),
    [
        (
            {"name": "barrier"},
            "kind of collective 1 of group 0: barrier on rank 1 at train.py:7 step; all_reduce on "
            "ranks 0 and 2 at train.py:10 step.",
        ),
        (
            {"shape": (8, 4)},
            "shape of collective 1 of group 0: all_reduce of 8×4 → 8×4 on rank 1 at train.py:7 "
            "step; all_reduce of 8×8 → 8×8 on ranks 0 and 2 at train.py:10 step.",
        ),
        (
            {"dtype": "Half"},
            "data type of collective 1 of group 0: all_reduce of Half on rank 1 at train.py:7 "
            "step; all_reduce of Float on ranks 0 and 2 at train.py:10 step.",
        ),
    ],
)
def test_ranks_that_differ(
    odd: dict[str, Any],
    difference: str,
    add_dumps: AddDumps,
    store: ingest.Store,
    command: Command,
) -> None:
    usual, other = call(state="started"), call(state="started", line=7, **odd)
    run_id = add_dumps({0: [usual], 1: [other], 2: [usual]})
    assert f"Ranks 0 to 2 wait. The ranks differ in the {difference}" in (
        command("ranks", run_id, store=store.path).out
    )


def test_ranks_that_wait_elsewhere(
    add_dumps: AddDumps, store: ingest.Store, command: Command
) -> None:
    calls = {
        0: [call(group=DP, state="started")],
        1: [call("send 0->1", 0, "started", group=TP, p2p_seq=1)],
        2: [call(seq=1)],
    }
    run_id = add_dumps(calls, {DP: [0, 1], TP: [1, 2]})
    first, second, *_ = command("ranks", run_id, store=store.path).out.splitlines()
    assert first == (
        "Process group 5 (tp): the point-to-point call from rank 1 to rank 2 (send of 8×8 at "
        "train.py:10 step) was not done when the dumps were written. Rank 1 waits. Rank 2 has not "
        "come. The last call of rank 2 was all_reduce 1 of group 0 at train.py:10 step, which is "
        "done."
    )
    assert second.endswith(
        "The last call of rank 1 was send 1 of group 5 at train.py:10 step, which is not done "
        "either. The ranks that have not come wait in other calls: the cause is there."
    )


def test_many_groups_that_hang(add_dumps: AddDumps, store: ingest.Store, command: Command) -> None:
    groups = {(str(number), "tp"): [0, 1] for number in range(1, 13)}
    calls = {0: [call(group=group, state="started") for group in groups], 1: []}
    run_id = add_dumps(calls, groups)
    lines = command("ranks", run_id, store=store.path).out.splitlines()
    assert lines[10] == "2 more findings with --json"
    assert all(line.startswith("Process group") for line in lines[:10])
    found = json.loads(command("ranks", run_id, "--json", store=store.path).out)
    assert len(found["findings"]) == 12


def test_ranks_that_wait_for_each_other(
    add_dumps: AddDumps, store: ingest.Store, command: Command
) -> None:
    calls = {0: [call(group=DP, state="started")], 1: [call(group=TP, state="started")]}
    run_id = add_dumps(calls, {DP: [0, 1], TP: [0, 1]})
    assert command("ranks", run_id, store=store.path).out.startswith(
        "The ranks wait for each other in different calls: they use their process groups in "
        "different orders.\n"
    )


def test_a_run_without_a_hang(add_dumps: AddDumps, store: ingest.Store, command: Command) -> None:
    run_id = add_dumps({0: [call(), call(seq=2)], 1: [call(), call(seq=2)]}, size=3)
    said = command("ranks", run_id, store=store.path)
    assert said.code == 0
    assert said.out.splitlines()[:2] == [
        "No hang: all 4 calls in the dumps of 2 ranks are done.",
        "Without a dump that can be read: rank 2.",
    ]


def test_calls_that_some_ranks_have_not_noticed(
    add_dumps: AddDumps, store: ingest.Store, command: Command
) -> None:
    run_id = add_dumps({0: [call()], 1: [call(state="started")]})
    assert command("ranks", run_id, store=store.path).out.startswith(
        "No hang: all 2 calls in the dumps of 2 ranks are done on a rank, so on all."
    )


def test_version_1_with_point_to_point_calls(
    store: ingest.Store, command: Command, tmp_path: Path
) -> None:
    calls = [call("send 0->1", 1, p2p_seq=1), call(seq=2, state="started")]
    (tmp_path / "dump_rank_0").write_bytes(pickled(dump(calls, "1.1")))
    run_id = store.add(tmp_path / "dump_rank_0").run_id
    assert command("ranks", run_id, store=store.path).out.startswith(
        "1 call in the dumps of 1 rank is not done, and cannot be compared between ranks: dumps of "
        "version 1 count point-to-point calls with the collectives."
    )


def test_a_run_without_dumps(store: ingest.Store, command: Command, tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": [op("a")]}))
    store.add(tmp_path / "trace.json")
    said = command("ranks", "trace", store=store.path)
    assert said.code == 0
    assert said.out.startswith("The run has no dumps of torch's flight recorder")
    assert json.loads(command("ranks", "trace", "--json", store=store.path).out)["hangs"] == []


def test_an_unknown_run(store: ingest.Store, command: Command) -> None:
    said = command("ranks", "none", store=store.path)
    assert said.code == 1
    assert "none: no such run" in said.err


def test_the_straggler_is_named_with_what_it_does_longer(
    store: ingest.Store, command: Command, tmp_path: Path
) -> None:
    calls = loop(4, 12, lambda rank, _: 4800 + 800 * (rank == 2))
    clocks = {rank: shifted(30 * rank) for rank in range(4)}
    run = awaited(computing(recorded(calls, clocks)))
    (tmp_path / "run").mkdir()
    for name, content in run.files.items():
        (tmp_path / "run" / name).write_text(json.dumps(content))
    store.add(tmp_path / "run")
    said = command("ranks", "run", store=store.path)
    assert said.out.splitlines()[:2] == [
        "Rank 2 is the straggler. It comes last in 100.0% of its 11 collectives, 800 µs after the "
        "next rank in the median. That costs 800 µs in a step.",
        "Part compute of its time takes 5.60 ms in a step, 800 µs longer than in the other ranks.",
    ]
    assert said.out.splitlines()[-1] == (
        "The critical path of the median step crosses ranks: 98.2% on rank 2, 1.8% on rank 0."
    )
    report = json.loads(command("ranks", "run", "--json", store=store.path).out)
    assert report["straggler"] == 2
    assert [each["rank"] for each in report["clocks"]] == [0, 1, 2, 3]
    path = [(each["rank"], each["dur_ns"], each["waited_in"]) for each in report["critical_path"]]
    assert path == [(2, 5_600_000, None), (0, 100_000, "all_reduce")]
