"""Scripts: ours in `examples/`, and any by `capture run`, alone and under torchrun."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.capture.captured import Captured, Finished, events

pytestmark = pytest.mark.usefixtures("capture_extra")
ROOT = Path(__file__).parents[2]

MODEL = """
import sys, torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loaded = torch.zeros(3).cumsum(0)  # before the first call of a module
for _ in range(3):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
print(*sys.argv[1:])
"""
RANKS = """
import os, torch, torch.distributed as dist
import capture
dist.init_process_group("gloo")
with capture.Profiler(output_dir="both", name="two", with_stack=False) as profiler:
    dist.all_reduce(torch.ones(4))
    dist.barrier()
dist.destroy_process_group()
os._exit(0)  # torch 2.13 with gloo and its profiler, and no capture, aborts at 1 of 70 exits
"""


def run(*command: str, cwd: Path, **environment: str) -> Finished:
    return subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # as a terminal starts it
    )


@pytest.mark.parametrize(
    ("example", "arguments", "traces"),
    [
        ("plain_script", ["--profile"], {"plain-rank0": [1, 2, 3]}),
        ("diffusers_script", ["--profile"], {"flux-rank0": [1, 2, 3]}),
        (
            "training_loop",
            [],
            {"training-rank0-cycle1": [2, 3], "training-rank0-cycle2": [6, 7]},
        ),
    ],
)
def test_an_example_records_its_steps(example, arguments, traces, tmp_path):
    script = str(ROOT / "examples" / f"{example}.py")
    done = run(script, *arguments, cwd=tmp_path, TRACEHOUSE_PROFILE_DIR=str(tmp_path / "runs"))

    assert done.returncode == 0, done.stderr
    directory = Path(done.stdout.splitlines()[-1])
    assert directory.parent == tmp_path / "runs"
    for name, steps in traces.items():
        found = events(directory / f"{name}.trace.json.gz")
        marks = {e["name"] for e in found if e["name"].startswith("ProfilerStep#")}
        assert marks == {f"ProfilerStep#{number}" for number in steps}


@pytest.mark.parametrize("example", ["plain_script", "diffusers_script"])
def test_an_example_without_the_flag_leaves_nothing(example, tmp_path):
    done = run(str(ROOT / "examples" / f"{example}.py"), cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_any_script_is_profiled_as_it_is(tmp_path):
    (tmp_path / "mine.py").write_text(MODEL)
    token = "hf_abcdefghijklmnopqrstuv"
    command = ["-m", "capture", "run", "--out", "run", "--", "mine.py", "--token", token, "--steps"]
    done = run(*command, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"--token {token} --steps", str(tmp_path / "run")]
    captured = Captured.read(tmp_path / "run")
    assert captured.steps == [f"ProfilerStep#{number}" for number in range(4)]  # the last one began
    assert captured.named("aten::linear")
    assert not captured.named("aten::cumsum")
    expected = ["mine.py", "--token", "[redacted]", "--steps"]
    assert captured.run["arguments"] == {"command": expected}


def test_a_script_from_its_start_and_its_exit_code(tmp_path):
    (tmp_path / "fails.py").write_text(
        "import torch\ntorch.zeros(3).cumsum(0)\nraise SystemExit(7)"
    )
    command = ["-m", "capture", "run", "--from-start", "--out", "run", "--", "fails.py"]
    done = run(*command, cwd=tmp_path)

    assert done.returncode == 7
    captured = Captured.read(tmp_path / "run")
    assert captured.named("aten::cumsum")
    assert captured.run["error"] == "SystemExit: 7"


def test_a_script_without_a_module_says_why_there_is_nothing(tmp_path):
    (tmp_path / "plain.py").write_text("print('mine')")
    done = run("-m", "capture", "run", "--out", "run", "--", "plain.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "mine\n")
    assert "--from-start" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "run").exists()


def test_a_script_that_is_stopped_leaves_valid_files(tmp_path):
    (tmp_path / "stops.py").write_text(
        MODEL + "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
    )
    done = run("-m", "capture", "run", "--out", "run", "--", "stops.py", cwd=tmp_path)

    assert done.returncode == 130
    assert Captured.read(tmp_path / "run").named("aten::linear")


def test_a_script_whose_threads_do_the_work_is_told(tmp_path):
    (tmp_path / "threads.py").write_text(
        "import threading, torch\nmodel = torch.nn.Linear(4, 4)\n"
        "worker = threading.Thread(target=lambda: model(torch.ones(2, 4)))\n"
        "worker.start(); worker.join(); print('done')"
    )
    done = run("-m", "capture", "run", "--out", "run", "--", "threads.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "done\n")
    assert "the main thread" in done.stderr.splitlines()[-1]


def test_two_ranks_write_into_one_directory(tmp_path):
    (tmp_path / "ranks.py").write_text(RANKS)
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "ranks.py"]
    for directory in ("both", "both-2"):
        done = run(*launch, cwd=tmp_path, OMP_NUM_THREADS="1")

        assert done.returncode == 0, done.stderr
        names = {path.name for path in (tmp_path / directory).iterdir()}
        traces = {f"two-rank{rank}.trace.json.gz" for rank in (0, 1)}
        assert names == traces | {"run.json", "rank0.json", "rank1.json"}
    captured = Captured.read(tmp_path / "both")
    assert (captured.run["rank"], captured.run["world_size"]) == (0, 2)
