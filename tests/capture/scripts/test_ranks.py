"""The ranks of a job: their files, and what matches their collectives."""

import gzip
import json
import os
import pickle
import re
import signal
import sys
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import ingest
from tests.capture.captured import Captured
from tests.capture.processes import ROOT, Finished, in_a_new_process
from tests.capture.scripts.programs import MODEL

pytestmark = pytest.mark.usefixtures("capture_extra")

SLOW_RANK = 1  # of `examples/slow_rank.py`
STEPS = 6
# The example computes 40 ms more. A busy machine can hold up any rank for that long.
DELAY_S = 0.2
# A job of one process, or of forks that know their `rank`.
JOIN = """
import os, sys, torch, torch.distributed as dist
def join(rank=0, size=1):
    dist.init_process_group("gloo", store=dist.FileStore("store", size), rank=rank, world_size=size)
def train(steps):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        model(torch.ones(2, 4)).sum().backward()
        for parameter in model.parameters(): dist.all_reduce(parameter.grad)
        optimizer.step()
"""


def capture_run(*options: str) -> tuple[str, ...]:
    return ("-m", "capture", "run", "--out", "run", *options, "--")


@pytest.fixture(scope="module")
def slow_rank(capture_extra, tmp_path_factory) -> tuple[Path, Finished]:
    """A run of four ranks, of which one is late in each step.

    A machine that sets its clock during the recording stretches its times, so record again.
    """
    for _ in range(5):
        directory = tmp_path_factory.mktemp("slow_rank")
        done = record_slow_rank(directory)
        run = Captured.described(directory / "run" / "run.json")
        if "steady_clock" not in run.get("missing", {}):
            return directory / "run", done
    pytest.fail("this machine keeps setting its clock")


def record_slow_rank(directory: Path) -> Finished:
    torchrun = [str(Path(sys.executable).with_name("torchrun")), "--standalone"]
    example = (ROOT / "examples" / "slow_rank.py").read_text()
    slower, replaced = re.subn("(?m)^DELAY_S = .*", f"DELAY_S = {DELAY_S}", example)
    assert replaced == 1
    (directory / "slow_rank.py").write_text(slower)
    command = [*capture_run(), *torchrun, "--nproc-per-node", "4", "slow_rank.py"]
    done = in_a_new_process(*command, cwd=directory, OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    return done


def trace_of(directory: Path, rank: int) -> dict[str, Any]:
    [path] = directory.glob(f"*-rank{rank}.trace.json.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return dict(json.load(file))


def dump_of(directory: Path, rank: int, part: str = "") -> dict[str, Any]:
    [path] = directory.glob(f"*{part}-flight_recorder-rank{rank}")
    return dict(pickle.loads(path.read_bytes()))


def files(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_each_rank_writes_its_files(slow_rank):
    directory, done = slow_rank
    traces = {f"slow_rank-rank{rank}.trace.json.gz" for rank in range(4)}
    dumps = {f"slow_rank-flight_recorder-rank{rank}" for rank in range(4)}
    described = {"run.json", *(f"rank{rank}.json" for rank in range(4))}

    assert files(directory) == traces | dumps | described
    assert "capture: files       13, including 4 traces" in done.stderr
    for rank in range(4):
        run = Captured.described(directory / f"rank{rank}.json")
        assert (run["rank"], run["world_size"], run["host_name"]) == (rank, 4, os.uname().nodename)
        assert len(run["profiled_step_times_ns"]) == STEPS
    assert Captured.described(directory / "run.json")["rank"] == 0


def test_a_trace_names_its_rank_its_host_and_its_groups(slow_rank):
    directory, _ = slow_rank
    for rank in range(4):
        trace = trace_of(directory, rank)
        job = trace["distributedInfo"]
        members = [group["ranks"] for group in job["pg_config"]]
        pair = [0, 1] if rank < 2 else [2, 3]
        assert (job["rank"], job["world_size"], members) == (rank, 4, [[0, 1, 2, 3], pair])
        assert trace["host_name"] == os.uname().nodename


def test_ingest_finds_the_slow_rank_and_what_it_does_longer(slow_rank, tmp_path):
    """All collectives match, also those of two groups of the same kind and size."""
    directory, _ = slow_rank
    store = ingest.Store(tmp_path / "store")
    store.add(directory)
    with ingest.connect(store.path) as connection:
        calls = "SELECT count(*), count(*) FILTER (is_matched) FROM collectives GROUP BY rank"
        assert set(connection.execute(calls).fetchall()) == {(14, 14)}
        costs = "SELECT rank FROM stragglers ORDER BY cost_ns DESC LIMIT 1"
        assert connection.execute(costs).fetchall() == [(SLOW_RANK,)]
        longer = (
            "SELECT max_rank, ranks FROM imbalance "
            "WHERE level = 'op' AND name = 'aten::linalg_qr' AND excess_ns > 100e6"
        )
        assert connection.execute(longer).fetchall() == [(SLOW_RANK, 1)]


def test_a_dump_tells_the_groups_of_equal_operators_apart(slow_rank):
    """Its entries begin inside an operator each, and three more precede the recording."""
    directory, _ = slow_rank
    for rank in range(4):
        trace, dump = trace_of(directory, rank), dump_of(directory, rank)
        zero_ns = trace["baseTimeNanoseconds"]
        spans = [
            (zero_ns + event["ts"] * 1000, zero_ns + (event["ts"] + event["dur"]) * 1000)
            for event in trace["traceEvents"]
            if event["name"].startswith("c10d::")
        ]
        around = [
            [span for span in spans if span[0] <= entry["time_created_ns"] <= span[1]]
            for entry in dump["entries"]
        ]
        assert [len(found) for found in around] == [0] * 3 + [1] * len(spans)
        assert len({span for found in around for span in found}) == len(spans)

        default, pair = "0", "1" if rank < 2 else "2"
        reduced = Counter(
            (entry["process_group"][0], tuple(map(tuple, entry["input_sizes"])))
            for entry in dump["entries"]
            if entry["profiling_name"] == "gloo:all_reduce"
        )
        assert reduced == {(default, ((256 * 257,),)): STEPS, (pair, ((),)): STEPS}
        of_pair = [each for each in dump["entries"] if each["process_group"][0] == pair]
        assert [each["collective_seq_id"] for each in of_pair] == list(range(1, STEPS + 1))


def test_a_dump_has_the_members_of_gloo_groups_in_the_form_of_torch(slow_rank):
    directory, _ = slow_rank
    default = {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}
    pairs = {
        rank: {"name": name, "desc": "undefined", "ranks": ranks}
        for rank, name, ranks in ((0, "1", "[0, 1]"), (3, "2", "[2, 3]"))
    }

    for rank, pair in pairs.items():
        assert dump_of(directory, rank)["pg_config"] == {"0": default, pair["name"]: pair}


def test_the_tool_of_torch_matches_the_ranks(slow_rank, with_torch, tmp_path):
    """Without the members of the groups it fails with a KeyError."""
    directory, _ = slow_rank
    tool = ("-m", "torch.distributed.flight_recorder.fr_trace", str(directory))
    done = with_torch(*tool, "-o", str(tmp_path / "matched"), cwd=tmp_path)
    (tmp_path / "show.py").write_text(
        "import pickle\n_, found = pickle.load(open('matched', 'rb'))\n"
        "matched = [each for each in found.collectives if each.pass_check]\n"
        "print(len(found.groups), len(found.collectives), len(matched))\n"
    )
    shown = with_torch("show.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    # Of all ranks: an all_gather and 4 broadcasts, then an all_reduce in each step. Of each pair:
    # an all_reduce in each step.
    assert shown.stdout.split() == ["3", *[str(5 + 3 * STEPS)] * 2]


def test_the_others_wait_for_the_slow_rank(slow_rank):
    directory, _ = slow_rank
    waits_us = [
        median(
            event["dur"]
            for event in trace_of(directory, rank)["traceEvents"]
            if event["name"] == "gloo:all_reduce" and event["args"]["Input Dims"] == [[256 * 257]]
        )
        for rank in range(4)
    ]
    named = [
        sum(
            event["name"] == "aten::linalg_qr" for event in trace_of(directory, rank)["traceEvents"]
        )
        for rank in range(4)
    ]

    assert min(range(4), key=waits_us.__getitem__) == SLOW_RANK, waits_us
    assert [count > 0 for count in named] == [rank == SLOW_RANK for rank in range(4)]


def test_each_trace_has_the_collectives_since_the_one_before(with_torch, tmp_path):
    """Torch remembers no more than the user has set, and no entry is in two dumps."""
    (tmp_path / "mine.py").write_text(JOIN + "join(); train(5)")
    schedule = ("--profile-wait", "1", "--profile-warmup", "0", "--profile-active", "1")
    command = (*capture_run(*schedule, "--profile-repeat", "2"), "mine.py")
    done = with_torch(*command, cwd=tmp_path, TORCH_FR_BUFFER_SIZE="3")

    assert done.returncode == 0, done.stderr
    dumps = {f"mine-cycle{cycle}-flight_recorder-rank0" for cycle in (1, 2)}
    assert {name for name in files(tmp_path / "run") if "flight" in name} == dumps
    entries = [
        [entry["record_id"] for entry in dump_of(tmp_path / "run", 0, f"-cycle{cycle}")["entries"]]
        for cycle in (1, 2)
    ]
    assert entries == [[1, 2, 3], [5, 6, 7]]  # two collectives in a step


def test_without_a_limit_of_the_user_torch_remembers_more(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(JOIN + "join(); train(3); print(*sorted(os.environ.items()))")
    done = with_torch(*capture_run(), "mine.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    prefix = tmp_path / "run" / "mine-timeout-flight_recorder-rank"
    for variable in (("TORCH_FR_BUFFER_SIZE", "20000"), ("TORCH_FR_DUMP_TEMP_FILE", str(prefix))):
        assert str(variable) in done.stdout


@pytest.mark.parametrize(
    ("change", "size", "reason"),
    [
        ("pass", "0", None),  # the user has switched it off
        (
            "del torch._C._distributed_c10d._dump_fr_trace",
            "9",
            "this version of torch has no flight recorder for the collectives of this process",
        ),
    ],
)
def test_a_run_without_a_flight_recorder(change, size, reason, with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(JOIN + f"{change}\njoin(); train(3)")
    done = with_torch(*capture_run(), "mine.py", cwd=tmp_path, TORCH_FR_BUFFER_SIZE=size)

    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "run") == {"mine-rank0.trace.json.gz", "rank0.json", "run.json"}
    run = Captured.described(tmp_path / "run" / "run.json")
    assert run.get("missing", {}).get("flight_recorder") == reason


def test_collectives_of_nccl_come_first(with_torch, tmp_path):
    """Its recorder is a stand-in. It knows the members of groups itself."""
    script = JOIN + (
        "import pickle\n"
        "group = {'name': '0', 'desc': 'default_pg', 'ranks': '[0, 1]'}\n"
        "entry = {'record_id': 5, 'profiling_name': 'nccl:all_reduce', 'retired': True}\n"
        "dump = {'version': '2.10', 'pg_config': {'0': group}, 'entries': [entry]}\n"
        "torch._C._distributed_c10d._dump_nccl_trace = lambda: pickle.dumps(dump)\n"
        "join(); train(3)"
    )
    (tmp_path / "mine.py").write_text(script)
    done = with_torch(*capture_run(), "mine.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    dump = dump_of(tmp_path / "run", 0)
    assert [entry["profiling_name"] for entry in dump["entries"]] == ["nccl:all_reduce"]
    assert dump["pg_config"]["0"]["ranks"] == "[0, 1]"


def test_a_run_without_a_job_has_no_dump(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(MODEL)
    done = with_torch(*capture_run(), "mine.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "run") == {"mine-rank0.trace.json.gz", "rank0.json", "run.json"}


def test_a_rank_that_fails_leaves_its_files(with_torch, tmp_path):
    """Multiprocessing then ends the other one by SIGTERM."""
    script = JOIN + (
        "import torch.multiprocessing as mp\n"
        "def work(rank):\n"
        "    join(rank, 2); train(3)\n"
        "    if rank: raise ValueError('planted')\n"
        "    dist.barrier()\n"
        "if __name__ == '__main__': mp.start_processes(work, nprocs=2, start_method='fork')\n"
    )
    (tmp_path / "mine.py").write_text(script)
    done = with_torch(*capture_run(), "mine.py", cwd=tmp_path)

    assert done.returncode == 1
    assert "ValueError: planted" in done.stderr
    names = {
        f"{kind}{rank}{end}"
        for rank in (0, 1)
        for kind, end in (
            ("mine-rank", ".trace.json.gz"),
            ("mine-flight_recorder-rank", ""),
            ("rank", ".json"),
        )
    }
    assert files(tmp_path / "run") == {*names, "run.json"}
    last = [dump_of(tmp_path / "run", rank)["entries"][-1] for rank in (0, 1)]
    assert [entry["profiling_name"] for entry in last] == ["gloo:barrier", "gloo:all_reduce"]


def test_ranks_that_wait_for_each_other_say_for_what(with_torch, tmp_path):
    """Each waits in C++ and is ended by SIGTERM, long after its recording has ended.

    None dies before both have written their files: the death of one would end the other's wait.
    """
    script = JOIN + (
        "import pickle, signal, threading, time, torch.multiprocessing as mp\n"
        "from pathlib import Path\n"
        "kill = os.kill\n"
        "def kill_with_the_other(process, number):\n"
        "    Path(f'written{dist.get_rank()}').touch()\n"
        "    paths = [Path(f'written{rank}') for rank in range(2)]\n"
        "    while not all(path.exists() for path in paths): time.sleep(0.05)\n"
        "    kill(process, number)\n"
        "def recorded():\n"
        "    return pickle.loads(torch._C._distributed_c10d._dump_fr_trace())['entries']\n"
        "def stop():\n"
        "    while recorded()[-1]['retired']: time.sleep(0.05)\n"
        "    os.kill = kill_with_the_other; kill(os.getpid(), signal.SIGTERM)\n"
        "def work(rank):\n"
        "    join(rank, 2); train(12)\n"
        "    other = dist.new_group([0, 1], group_desc='other')\n"
        "    threading.Thread(target=stop).start()\n"
        "    dist.all_reduce(torch.ones(7), group=other if rank else None)\n"
        "if __name__ == '__main__':\n"
        "    forks = mp.get_context('fork')\n"
        "    ranks = [forks.Process(target=work, args=(rank,)) for rank in range(2)]\n"
        "    for rank in ranks: rank.start()\n"
        "    for rank in ranks: rank.join()\n"
        "    print(*(rank.exitcode for rank in ranks))\n"
    )
    (tmp_path / "mine.py").write_text(script)
    done = with_torch(*capture_run(), "mine.py", cwd=tmp_path)

    assert done.stdout.split() == [f"-{signal.SIGTERM:d}"] * 2, done.stderr
    assert "ranks       0 (ForkProcess-1, 10 steps), 1 (ForkProcess-2, 10 steps)" in done.stderr
    for rank, group in ((0, "default_pg"), (1, "other")):
        waits_for = dump_of(tmp_path / "run", rank, "-end")["entries"][-1]
        assert waits_for["process_group"][1] == group
        assert (waits_for["retired"], waits_for["input_sizes"]) == (False, [[7]])
        before = dump_of(tmp_path / "run", rank, "mine")["entries"]
        assert len(before) == 20  # of the ten steps in the trace
        error = Captured.described(tmp_path / "run" / f"rank{rank}.json")["error"]
        assert re.match("Stopped: ", error)


def test_a_job_that_ends_before_the_recording_is_described(with_torch, tmp_path):
    """`--from-start` does not record the launcher, which is no rank."""
    job = (
        "join(); other = dist.new_group([0]); dist.all_reduce(torch.ones(3), group=other)\n"
        "dist.destroy_process_group(other); dist.new_group([0]); dist.destroy_process_group()\n"
    )
    (tmp_path / "mine.py").write_text(JOIN + job + "raise ValueError('x')")
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "1")
    done = with_torch(*capture_run("--from-start"), *torchrun, "mine.py", cwd=tmp_path)

    assert done.returncode == 1, done.stderr
    names = {"mine-rank0.trace.json.gz", "mine-flight_recorder-rank0", "rank0.json", "run.json"}
    assert files(tmp_path / "run") == names
    job = trace_of(tmp_path / "run", 0)["distributedInfo"]
    groups = [(group["pg_name"], group["ranks"]) for group in job["pg_config"]]
    assert groups == [(name, [0]) for name in ("0", "1", "2")]
    assert list(dump_of(tmp_path / "run", 0)["pg_config"]) == ["0", "1", "2"]
    assert Captured.described(tmp_path / "run" / "rank0.json")["error"] == "ValueError: x"


def test_accelerate_launches_ranks(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import torch\nfrom accelerate import Accelerator\naccelerator = Accelerator(cpu=True)\n"
        "model = torch.nn.Linear(4, 4)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "model, optimizer = accelerator.prepare(model, optimizer)\n"
        "for _ in range(3):\n"
        "    accelerator.backward(model(torch.ones(2, 4)).sum()); optimizer.step()\n"
    )
    # Its option for GPUs starts several processes on a CPU, too.
    options = ("--multi_gpu", "--num_processes", "2", "--num_machines", "1")
    others = ("--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0")
    launch = ("-m", "accelerate.commands.launch", *options, *others)
    done = with_torch(*capture_run(), *launch, "mine.py", cwd=tmp_path, OMP_NUM_THREADS="1")

    assert done.returncode == 0, done.stderr
    for rank in (0, 1):
        run = Captured.described(tmp_path / "run" / f"rank{rank}.json")
        assert (run["rank"], run["world_size"]) == (rank, 2)
        assert dump_of(tmp_path / "run", rank)["pg_config"]["0"]["ranks"] == "[0, 1]"


RANKS = """
import os, torch, torch.distributed as dist
import capture
dist.init_process_group("gloo")
for _ in range(2):
    with capture.Profiler(output_dir="both", name="two", with_stack=False):
        dist.all_reduce(torch.ones(4))
        dist.barrier()
dist.destroy_process_group()
os._exit(0)  # without capture, torch 2.13 with gloo and its profiler aborts at 1 of 70 exits
"""


def test_two_ranks_write_into_one_directory(with_torch, tmp_path):
    (tmp_path / "ranks.py").write_text(RANKS)
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "ranks.py"]
    done = with_torch(*launch, cwd=tmp_path, OMP_NUM_THREADS="1")

    assert done.returncode == 0, done.stderr
    for directory in ("both", "both-2"):  # the second recording finds the first one
        traces = {f"two-rank{rank}.trace.json.gz" for rank in (0, 1)}
        dumps = {f"two-flight_recorder-rank{rank}" for rank in (0, 1)}
        others = {"run.json", "rank0.json", "rank1.json"}
        assert files(tmp_path / directory) == traces | dumps | others
    captured = Captured.read(tmp_path / "both")
    assert (captured.run["rank"], captured.run["world_size"]) == (0, 2)


def test_a_launcher_can_start_capture_on_each_rank(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(MODEL)
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    capture = ["-m", "capture", "run", "--out", "both", "--", "mine.py"]
    done = with_torch(*launcher, *capture, cwd=tmp_path, OMP_NUM_THREADS="1")

    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "both").iterdir()}
    traces = {f"mine-rank{rank}.trace.json.gz" for rank in (0, 1)}
    assert names == traces | {"run.json", "rank0.json", "rank1.json"}
