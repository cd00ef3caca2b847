"""When `capture run` begins and ends a recording, and what its steps are."""

from pathlib import Path

import pytest

from tests.capture.captured import Captured
from tests.capture.processes import Finished

pytestmark = pytest.mark.usefixtures("capture_extra")


def test_calls_of_a_model_in_a_loop_are_steps(with_torch, tmp_path):
    (tmp_path / "infer.py").write_text(
        "import torch\nmodel = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())\n"
        "for _ in range(6): model(torch.ones(2, 4))"
    )
    schedule = ["--profile-wait", "1", "--profile-warmup", "1", "--profile-active", "2"]
    done = with_torch(
        *("-m", "capture", "run", *schedule, "--out", "run", "--", "infer.py"), cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    captured = Captured.read(tmp_path / "run")
    assert captured.steps == ["ProfilerStep#2", "ProfilerStep#3"]
    assert len(captured.named("aten::linear")) == 2
    assert captured.run["steps_from"] == "calls"


@pytest.mark.parametrize(("flags", "linears"), [([], 10), (["--from-start"], 20)])
def test_a_recording_ends_after_enough_steps(flags, linears, with_torch, tmp_path):
    (tmp_path / "infer.py").write_text(
        "import torch\nmodel = torch.nn.Linear(4, 4)\n"
        "for _ in range(20): model(torch.ones(2, 4))\nprint('done')"
    )
    done = with_torch(
        "-m", "capture", "run", *flags, "--out", "run", "--", "infer.py", cwd=tmp_path
    )

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    captured = Captured.read(tmp_path / "run")
    assert len(captured.named("aten::linear")) == linears
    assert ("steps without a compilation" in done.stderr) == (not flags)
    if not flags:
        assert len(captured.run["profiled_step_times_ns"]) == 10
        assert "steps       10 (calls)" in done.stderr


def test_the_optimizer_defines_steps_even_after_earlier_calls(with_torch, tmp_path):
    """The program accumulates gradients: four calls make a step."""
    (tmp_path / "accumulates.py").write_text(
        "import torch\nmodel = torch.nn.Linear(4, 4)\nmodel(torch.ones(2, 4))\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for n in range(12):\n"
        "    model(torch.ones(2, 4)).sum().backward()\n"
        "    if n % 4 == 3: optimizer.step()"
    )
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "accumulates.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    captured = Captured.read(tmp_path / "run")
    assert captured.run["steps_from"] == "optimizer"
    assert captured.steps == [f"ProfilerStep#{number}" for number in range(3)]
    assert len(captured.run["profiled_step_times_ns"]) == 3


@pytest.mark.parametrize(
    ("program", "steps"),
    [
        pytest.param(
            "for n in range(3):\n"
            "    optimizer = torch.optim.SGD(torch.nn.Linear(4, 4).parameters())\n"
            "    for _ in range(3): optimizer.step()\n",
            9,
            id="a new model for each value of a parameter",
        ),
        pytest.param(
            "optimizer = torch.optim.SGD(head.parameters())\n"
            "for _ in range(3): optimizer.step()\n"
            "other = torch.optim.SGD([*head.parameters(), *body.parameters()])\n"
            "for _ in range(4): other.step()\n",
            7,
            id="the head first, then everything",
        ),
        pytest.param(
            "optimizer = torch.optim.SGD(head.parameters())\n"
            "other = torch.optim.SGD(body.parameters())\n"
            "for _ in range(3):\n    for _ in range(5): other.step()\n    optimizer.step()\n"
            "for _ in range(16): optimizer.step()\n",
            15 + 1,
            id="two that take turns, then one alone",
        ),
        pytest.param(
            "each = [torch.optim.SGD([tensor]) for tensor in torch.ones(20, 4)]\n"
            "for _ in range(3):\n    for optimizer in each: optimizer.step()\n",
            3,
            id="one for each parameter",
        ),
        pytest.param(
            "class Averages(torch.optim.Optimizer):\n"
            "    def __init__(self, inner):\n"
            "        self.inner = inner\n        super().__init__(inner.param_groups, {})\n"
            "    def step(self): self.inner.step()\n"
            "optimizer = Averages(torch.optim.SGD(head.parameters()))\n"
            "for _ in range(3): optimizer.step()\n",
            3,
            id="one around another",
        ),
    ],
)
def test_one_optimizer_at_a_time_defines_steps(program, steps, with_torch, tmp_path):
    (tmp_path / "trains.py").write_text(
        "import torch\nhead, body = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)\n"
        f"head(torch.ones(2, 4))\n{program}"
    )
    schedule = ("--profile-warmup", "0", "--profile-active", "99")
    capture = ("-m", "capture", "run", *schedule, "--out", "run", "--")
    done = with_torch(*capture, "trains.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    captured = Captured.read(tmp_path / "run")
    assert captured.run["steps_from"] == "optimizer"
    assert captured.steps == [f"ProfilerStep#{number}" for number in range(steps)]
    assert len(captured.run["profiled_step_times_ns"]) == steps


PIPELINE = """
import torch
model = torch.nn.Linear(4, 4)
{before}
from diffusers.pipelines.pipeline_utils import DiffusionPipeline
class Pipeline(DiffusionPipeline):
    def __init__(self): self.unet, self.encoder = model, torch.nn.Linear(4, 4)
    def {call}(self, x):
        self.encoder(self.encoder(x))
        for _ in {steps}: x = self.unet(x)
pipeline = Pipeline()
for _ in range(2):
    {train}
    pipeline.{call}(torch.ones(2, 4))
"""
BAR = "self.progress_bar(range(3))"
MAKE, TRAIN = (
    "optimizer = torch.optim.SGD(model.parameters())",
    "model(torch.ones(4)); optimizer.step()",
)


@pytest.mark.parametrize(
    ("program", "source", "steps"),
    [
        ({"steps": BAR}, "denoising", 6),
        ({"steps": BAR, "before": "model(torch.ones(2, 4))"}, "denoising", 6),
        ({"steps": BAR, "call": "generate"}, "denoising", 6),
        ({"steps": "range(3)"}, "calls", 6),
        ({"steps": BAR, "before": MAKE, "train": TRAIN}, "optimizer", 2),
    ],
    ids=["pipeline", "after a call", "without a call", "without a bar", "in a training"],
)
def test_each_denoising_step_is_a_step(program, source, steps, with_torch, tmp_path):
    """The test uses a stand-in for diffusers."""
    module = tmp_path / "diffusers" / "pipelines" / "pipeline_utils.py"
    module.parent.mkdir(parents=True)
    for folder in (module.parent, module.parent.parent):
        (folder / "__init__.py").touch()
    module.write_text(
        "class DiffusionPipeline:\n    def progress_bar(self, iterable): return iterable\n"
    )
    parts = {"before": "", "call": "__call__", "train": ""} | program
    (tmp_path / "late.py").write_text(PIPELINE.format(**parts))
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "late.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    captured = Captured.read(tmp_path / "run")
    assert captured.run["steps_from"] == source
    assert captured.steps == [f"ProfilerStep#{number}" for number in range(steps)]
    assert len(captured.run["profiled_step_times_ns"]) == steps
    calls = 0 if "call" in program else 2
    assert len(captured.named("pipeline: Pipeline")) == calls


def test_a_capture_profiler_in_the_program_takes_over(with_torch, tmp_path):
    (tmp_path / "ours.py").write_text(
        "import torch, capture\nmodel = torch.nn.Linear(4, 4)\nmodel(torch.ones(2, 4))\n"
        "with capture.Profiler(output_dir='theirs'): model(torch.ones(2, 4))"
    )
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "ours.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    for directory in ("run", "theirs"):
        assert len(Captured.read(tmp_path / directory).named("aten::linear")) == 1
    assert f"ingest add {tmp_path / 'run'} {tmp_path / 'theirs'}" in done.stderr


def test_recording_begins_after_a_capture_profiler_that_waits(with_torch, tmp_path):
    (tmp_path / "waits.py").write_text(
        "import torch, capture\nmodel = torch.nn.Linear(4, 4)\n"
        "with capture.Profiler(output_dir='theirs', wait=2, warmup=1, active=1) as profiler:\n"
        "    for _ in range(15):\n        model(torch.ones(2, 4))\n        profiler.step()\n"
        "for _ in range(4): model(torch.ones(2, 4))\n"
    )
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "waits.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert len(Captured.read(tmp_path / "theirs").named("aten::linear")) == 1
    assert len(Captured.read(tmp_path / "run").named("aten::linear")) == 4


def test_a_run_of_a_capture_profiler_alone_is_a_success(with_torch, tmp_path):
    """In another process, too."""
    (tmp_path / "forks.py").write_text(
        "import os, torch, capture\n"
        "if os.fork() == 0:\n"
        "    with capture.Profiler(output_dir='theirs'): torch.ones(2).cumsum(0)\n"
        "    os._exit(0)\n"
        "os.wait()"
    )
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "forks.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert f"next        ingest add {tmp_path / 'theirs'}\n" in done.stderr
    assert Captured.read(tmp_path / "theirs").named("aten::cumsum")


def with_frequent_checks(run_python, script: str, directory: Path) -> Finished:
    """Run `capture run` on a script, with 20 checks of its memory per second instead of one."""
    (directory / "often.py").write_text(
        "from capture.cli.main import main\nfrom capture.scripts import size_limit\n"
        f"size_limit.PERIOD_S = 0.05\nmain(['run', '--out', 'run', '--', '{script}'])"
    )
    return run_python("often.py", cwd=directory)


def test_a_recording_ends_if_the_process_grows(with_torch, tmp_path):
    (tmp_path / "grows.py").write_text(
        "import time, torch\nheld = []\ntorch.nn.Linear(4, 4)(torch.ones(2, 4))\n"
        "while torch.autograd.profiler._is_profiler_enabled and len(held) < 200:\n"
        "    held.append(bytearray(10 << 20))\n    time.sleep(0.05)\n"
        "torch.ones(3).cumsum(0)\nprint('done')"
    )
    done = with_frequent_checks(with_torch, "grows.py", tmp_path)

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "the process has grown by 100 MiB" in done.stderr
    captured = Captured.read(tmp_path / "run")
    assert captured.named("aten::linear")
    assert not captured.named("aten::cumsum")


def test_memory_that_a_compilation_takes_does_not_end_the_recording(with_torch, tmp_path):
    (tmp_path / "compiled.py").write_text(
        "import time, torch\nheld = []\n"
        "def backend(graph, inputs):\n"
        "    for _ in range(15):\n"
        "        held.append(bytearray(20 << 20))\n        time.sleep(0.05)\n"
        "    return graph.forward\n"
        "model = torch.compile(torch.nn.Linear(4, 4), backend=backend)\n"
        "for _ in range(3):\n    model(torch.ones(2, 4))\n    time.sleep(0.3)"
    )
    done = with_frequent_checks(with_torch, "compiled.py", tmp_path)

    assert done.returncode == 0, done.stderr
    assert "the recording ends here" not in done.stderr
    assert len(Captured.read(tmp_path / "run").named("Torch-Compiled Region: 0/0")) == 3


def test_nothing_begins_or_ends_while_a_cuda_graph_is_captured(with_torch, tmp_path):
    """Without a GPU, the program says when it captures."""
    (tmp_path / "graphs.py").write_text(
        "import torch\nfrom capture.scripts import recorder\n"
        "model, x = torch.nn.Linear(4, 4), torch.ones(2, 4)\n"
        "def call(is_capturing):\n"
        "    recorder.is_capturing = lambda: is_capturing\n"
        "    model(x)\n"
        "    print(torch.autograd.profiler._is_profiler_enabled)\n"
        "for is_capturing in (True, False, False, *[True] * 12, False): call(is_capturing)\n"
    )
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "graphs.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["False", *["True"] * 15]
    assert len(Captured.read(tmp_path / "run").steps) == 3
