"""The scripts in `examples/`, and scripts under `capture run`, with and without torchrun."""

import os
import signal
import subprocess
import sys
import time
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
for _ in range(2):
    with capture.Profiler(output_dir="both", name="two", with_stack=False):
        dist.all_reduce(torch.ones(4))
        dist.barrier()
dist.destroy_process_group()
os._exit(0)  # without capture, torch 2.13 with gloo and its profiler aborts at 1 of 70 exits
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
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # as in a terminal
    )


@pytest.mark.parametrize(
    ("example", "loaded", "arguments", "traces"),
    [
        ("plain_script", "with_torch", ["--profile"], {"plain-rank0": [1, 2, 3]}),
        ("diffusers_script", "with_diffusers", ["--profile"], {"flux-rank0": [1, 2, 3]}),
        (
            "training_loop",
            "with_torch",
            [],
            {"training-rank0-cycle1": [2, 3], "training-rank0-cycle2": [6, 7]},
        ),
    ],
)
def test_an_example_records_its_steps(example, loaded, arguments, traces, request, tmp_path):
    script = str(ROOT / "examples" / f"{example}.py")
    runs = str(tmp_path / "runs")
    run_loaded = request.getfixturevalue(loaded)
    done = run_loaded(script, *arguments, cwd=tmp_path, TRACEHOUSE_PROFILE_DIR=runs)

    assert done.returncode == 0, done.stderr
    directory = Path(done.stdout.splitlines()[-1])
    assert directory.parent == tmp_path / "runs"
    for name, steps in traces.items():
        found = events(directory / f"{name}.trace.json.gz")
        marks = {e["name"] for e in found if e["name"].startswith("ProfilerStep#")}
        assert marks == {f"ProfilerStep#{number}" for number in steps}


@pytest.mark.parametrize(
    ("example", "loaded"),
    [("plain_script", "with_torch"), ("diffusers_script", "with_diffusers")],
)
def test_an_example_without_the_flag_leaves_nothing(example, loaded, request, tmp_path):
    run_loaded = request.getfixturevalue(loaded)
    done = run_loaded(str(ROOT / "examples" / f"{example}.py"), cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_unmodified_script_is_profiled(tmp_path):
    """Torch is not imported before the script imports it, so the script can configure it."""
    (tmp_path / "mine.py").write_text(
        "import os, sys\nprint('torch' in sys.modules)\nos.environ['OMP_NUM_THREADS'] = '1'\n"
        + MODEL
        + "print(torch.get_num_threads())"
    )
    token = "hf_abcdefghijklmnopqrstuv"
    command = ["-m", "capture", "run", "--out", "run", "--", "mine.py", "--token", token, "--steps"]
    done = run(*command, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["False", f"--token {token} --steps", "1"]
    assert f"capture: {tmp_path / 'run'}" in done.stderr
    captured = Captured.read(tmp_path / "run")
    assert captured.steps == [f"ProfilerStep#{number}" for number in range(3)]
    assert captured.named("aten::linear")
    assert not captured.named("aten::cumsum")
    expected = ["mine.py", "--token", "[redacted]", "--steps"]
    assert captured.run["arguments"] == {"command": expected}
    assert captured.run["steps_from"] == "optimizer"


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--out", "run", "mine.py", "--its", "1"],
        ["run", "--out", "run", "--", "python", "mine.py", "--its", "1"],
        ["run", "--out", "run", "-m", "mine", "--its", "1"],
        ["run", "--out", "run", "--", "python3", "-m", "mine", "--its", "1"],
        ["mine.py", "--its", "1"],
    ],
    ids=" ".join,
)
def test_a_program_can_be_named_in_several_forms(command, with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(MODEL)
    done = with_torch("-m", "capture", *command, cwd=tmp_path, TRACEHOUSE_PROFILE_DIR="runs")

    assert (done.returncode, done.stdout) == (0, "--its 1\n"), done.stderr
    [trace] = tmp_path.glob("**/mine-rank0.trace.json.gz")
    assert trace.parent in (tmp_path / "run", tmp_path / "runs" / "mine")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (["torchrum", "mine.py"], "no such file or command"),
        (["./mine.txt"], "neither a Python script nor executable"),
        ([], "name a script"),
    ],
)
def test_a_wrong_program_is_an_error_with_usage(command, text, tmp_path):
    (tmp_path / "mine.txt").write_text("#!text\n")
    done = run("-m", "capture", "run", "--", *command, cwd=tmp_path)

    assert done.returncode == 2
    assert text in done.stderr
    assert "capture run" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


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


def test_from_start_records_everything_and_keeps_the_exit_code(tmp_path):
    (tmp_path / "fails.py").write_text(
        "import torch\ntorch.zeros(3).cumsum(0)\nraise SystemExit(7)"
    )
    command = ["-m", "capture", "run", "--from-start", "--out", "run", "--", "fails.py"]
    done = run(*command, cwd=tmp_path)

    assert done.returncode == 7
    captured = Captured.read(tmp_path / "run")
    assert captured.named("aten::cumsum")
    assert captured.run["error"] == "SystemExit: 7"


def test_everything_is_recorded_if_module_calls_cannot_be_observed(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(MODEL)
    (tmp_path / "absent.py").write_text(
        "from capture.cli.main import main\nfrom capture.scripts import calls\n"
        "calls.NAME = '_absent'\nmain(['run', '--out', 'run', 'mine.py'])"
    )
    done = with_torch("absent.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr
    assert "cannot observe module calls" in done.stderr
    assert Captured.read(tmp_path / "run").named("aten::cumsum")


def test_a_traceback_starts_in_the_script(with_torch, tmp_path):
    (tmp_path / "fails.py").write_text(
        "import torch\ntorch.nn.Linear(4, 4)(torch.ones(2, 4))\n"
        "class Fails(torch.nn.Module):\n    def forward(self): raise ValueError('mine')\n"
        "Fails()()\n"
    )
    plain = run("fails.py", cwd=tmp_path)
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "fails.py", cwd=tmp_path)

    assert plain.returncode == done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if "USDT" not in line]
    assert plain.stderr.splitlines() == [x for x in lines if not x.startswith("capture: ")]
    assert Captured.read(tmp_path / "run").run["error"] == "ValueError: mine"


@pytest.mark.parametrize("has_torch", [True, False])
def test_a_script_without_module_calls_gets_a_reason(has_torch, with_torch, tmp_path):
    (tmp_path / "plain.py").write_text("print('mine')")
    capture = ("-m", "capture", "run", "--out", "run", "--", "plain.py")
    done = (with_torch if has_torch else run)(*capture, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "mine\n")
    reason = "--from-start" if has_torch else "did not import torch"
    assert reason in done.stderr.splitlines()[-1]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_valid_files(number, with_torch, tmp_path):
    (tmp_path / "stops.py").write_text(
        MODEL + f"import os, time; sys.stdout.flush(); os.kill(os.getpid(), {number:d})\n"
        "time.sleep(60)"
    )
    capture = ("-m", "capture", "run", "--out", "run", "--", "stops.py")
    done = (run if number == signal.SIGINT else with_torch)(*capture, cwd=tmp_path)

    assert done.returncode == -number, done.stderr
    assert f"capture: {tmp_path / 'run'}" in done.stderr
    captured = Captured.read(tmp_path / "run")
    assert captured.named("aten::linear")
    ended = "KeyboardInterrupt" if number == signal.SIGINT else f"Stopped: {number.name}"
    assert captured.run["error"] == ended


def test_a_signal_ends_the_dashboard_too(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(MODEL)
    (tmp_path / "streamlit").mkdir()
    (tmp_path / "streamlit" / "__init__.py").touch()
    (tmp_path / "streamlit" / "__main__.py").write_text(
        "import os, pathlib, signal, sys, time\n"
        "def end(*_):\n    pathlib.Path('ended').touch()\n    sys.exit()\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "os.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(60)"
    )
    command = ["-m", "capture", "run", "--out", "run", "--ingest", "store", "--open", "--"]
    done = with_torch(*command, "mine.py", cwd=tmp_path)

    assert done.returncode == -signal.SIGTERM, done.stderr
    assert done.stderr.count("capture: steps") == 1
    until = time.monotonic() + 20
    while not (tmp_path / "ended").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert (tmp_path / "ended").exists()


@pytest.mark.parametrize("code", [0, 5])
def test_a_program_that_ends_by_os_exit_is_recorded(code, with_torch, tmp_path):
    (tmp_path / "leaves.py").write_text(MODEL + f"import os\nsys.stdout.flush(); os._exit({code})")
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "leaves.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (code, "\n"), done.stderr
    assert "steps       3 (optimizer)" in done.stderr
    assert Captured.read(tmp_path / "run").named("aten::linear")


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


def test_a_schedule_that_records_no_step_is_an_error(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(MODEL)
    command = ["-m", "capture", "run", "--profile-wait", "50", "--out", "run", "--", "mine.py"]
    done = with_torch(*command, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "\n")
    assert "--profile-wait" in done.stderr.splitlines()[-1]


def test_sigterm_waits_until_a_trace_is_written(with_torch, tmp_path):
    (tmp_path / "stops.py").write_text(
        "import os, signal, threading, time, torch\nmodel = torch.nn.Linear(4, 4)\n"
        "def stop():\n"
        "    while not any('.partial' in name for name in os.listdir('run')): time.sleep(0.001)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "threading.Thread(target=stop, daemon=True).start()\n"
        "class Many(torch.nn.Module):\n"
        "    def forward(self, x):\n        for _ in range(5000): model(x)\n"
        "many = Many()\nfor _ in range(9): many(torch.ones(2, 4))\n"
        "while True: time.sleep(0.01)"
    )
    schedule = ["--profile-warmup", "0", "--profile-active", "1", "--profile-repeat", "0"]
    done = with_torch(
        *("-m", "capture", "run", *schedule, "--out", "run", "--", "stops.py"), cwd=tmp_path
    )

    assert done.returncode == -signal.SIGTERM, done.stderr
    assert "another torch profiler" not in done.stderr
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {"run.json", "rank0.json", "stops-rank0-cycle1.trace.json.gz"}
    assert len(events(tmp_path / "run" / "stops-rank0-cycle1.trace.json.gz")) > 5000


def test_a_program_may_close_stderr(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(MODEL + "sys.stderr.close()")
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "mine.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "\n")
    assert Captured.read(tmp_path / "run").named("aten::linear")


def test_the_sigterm_handler_of_a_script_is_kept(with_torch, tmp_path):
    (tmp_path / "handles.py").write_text(
        "import os, signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: print('mine'))\n"
        + MODEL
        + "os.kill(os.getpid(), signal.SIGTERM)\nprint('goes on')"
    )
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "handles.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "\nmine\ngoes on\n")


def test_a_script_that_works_on_other_threads_gets_a_reason(with_torch, tmp_path):
    (tmp_path / "threads.py").write_text(
        "import threading, torch\nmodel = torch.nn.Linear(4, 4)\n"
        "worker = threading.Thread(target=lambda: model(torch.ones(2, 4)))\n"
        "worker.start(); worker.join(); print('done')"
    )
    capture = ["-m", "capture", "run", "--out", "run"]
    done = with_torch(*capture, "--", "threads.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "done\n")
    assert "use --from-start to record all threads" in done.stderr.splitlines()[-1]
    done = with_torch(*capture, "--from-start", "--", "threads.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert len(Captured.read(tmp_path / "run").named("aten::linear")) == 1


def test_a_fork_that_ends_leaves_the_run_to_its_parent(with_torch, tmp_path):
    (tmp_path / "forks.py").write_text(
        "import os, signal, sys\ndef fork():\n"
        "    if os.fork() == 0: sys.exit(3 if signal.getsignal(15) == signal.SIG_DFL else 4)\n"
        "    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)\n"
        f"fork()\n{MODEL}fork()\n"
    )
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "forks.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "3\n\n3\n"), done.stderr
    assert "Exception ignored" not in done.stderr
    assert Captured.read(tmp_path / "run").named("aten::linear")


def test_modes_and_tracers_of_the_program_do_not_see_step_labels(with_torch, tmp_path):
    (tmp_path / "modes.py").write_text(
        "import torch\nfrom torch.fx.experimental.proxy_tensor import make_fx\n"
        "from torch.utils._python_dispatch import TorchDispatchMode\n"
        "class Printing(TorchDispatchMode):\n"
        "    def __torch_dispatch__(self, op, types, args=(), kwargs=None):\n"
        "        print(op)\n        return op(*args, **(kwargs or {}))\n"
        "torch.manual_seed(0)\n"
        "model, x = torch.nn.Linear(4, 4).requires_grad_(False), torch.ones(2, 4)\n"
        "def twice(x): return model(x) + model(x)\n"
        "print(torch.jit.trace(twice, x).graph)\nprint(make_fx(twice)(x).code)\n"
        "with Printing(): twice(x); twice(x)\n"
    )
    plain = with_torch("modes.py", cwd=tmp_path)
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "modes.py", cwd=tmp_path)

    assert (plain.returncode, done.returncode) == (0, 0), done.stderr
    assert done.stdout == plain.stdout
    assert len(Captured.read(tmp_path / "run").steps) > 2


@pytest.mark.parametrize(("before", "steps"), [("", 6), ("model(torch.ones(2, 4))", 7)])
def test_each_denoising_step_is_a_step(before, steps, with_torch, tmp_path):
    """The test uses a stand-in for diffusers. Work before its import is a separate step."""
    module = tmp_path / "diffusers" / "pipelines" / "pipeline_utils.py"
    module.parent.mkdir(parents=True)
    for folder in (module.parent, module.parent.parent):
        (folder / "__init__.py").touch()
    module.write_text(
        "class DiffusionPipeline:\n"
        "    def progress_bar(self, iterable): return iterable\n"
        "    def __call__(self, model, x):\n"
        "        for _ in self.progress_bar(range(3)): x = model(x)\n"
    )
    (tmp_path / "late.py").write_text(
        f"import torch\nmodel = torch.nn.Linear(4, 4)\n{before}\n"
        "from diffusers.pipelines.pipeline_utils import DiffusionPipeline\n"
        "for _ in range(2): DiffusionPipeline()(model, torch.ones(2, 4))\n"
    )
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "late.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    captured = Captured.read(tmp_path / "run")
    assert captured.steps == [f"ProfilerStep#{number}" for number in range(steps)]
    assert len(captured.named("pipeline: DiffusionPipeline")) == 2
    assert len(captured.named("aten::linear")) == steps
    assert captured.run["steps_from"] == "denoising"


def test_a_function_with_labels_can_be_scripted_during_a_recording(with_torch, tmp_path):
    (tmp_path / "labels.py").write_text(
        "import torch\nfrom torch.autograd.profiler import record_function\n"
        + MODEL
        + "def labelled(x):\n    with record_function('scripted'): return x + 1\n"
        "print(torch.jit.script(labelled)(torch.ones(2)))\n"
        "with record_function('a \"quoted\" label'): pass\n"
    )
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "labels.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "\ntensor([2., 2.])\n"), done.stderr
    captured = Captured.read(tmp_path / "run")
    assert captured.named("scripted|a 'quoted' label")[1:]


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


def test_a_recording_ends_if_the_process_grows(with_torch, tmp_path):
    (tmp_path / "grows.py").write_text(
        "import time, torch\nheld = []\ntorch.nn.Linear(4, 4)(torch.ones(2, 4))\n"
        "while torch.autograd.profiler._is_profiler_enabled and len(held) < 100:\n"
        "    held.append(bytearray(20 << 20))\n    time.sleep(0.2)\n"
        "torch.ones(3).cumsum(0)\nprint('done')"
    )
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "grows.py", cwd=tmp_path)

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
        "        held.append(bytearray(20 << 20))\n        time.sleep(0.2)\n"
        "    return graph.forward\n"
        "model = torch.compile(torch.nn.Linear(4, 4), backend=backend)\n"
        "for _ in range(3):\n    model(torch.ones(2, 4))\n    time.sleep(1.5)"
    )
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "compiled.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "the recording ends here" not in done.stderr
    assert len(Captured.read(tmp_path / "run").named("Torch-Compiled Region: 0/0")) == 3


def test_a_failed_recording_does_not_affect_the_program(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import shutil, warnings\nwarnings.simplefilter('error')\n"
        + MODEL.replace("model(torch", "shutil.rmtree('run', ignore_errors=True); model(torch")
        + "print('done')"
    )
    done = with_torch(
        *("-m", "capture", "run", "--profile-active", "1", "--out", "run", "--", "mine.py"),
        cwd=tmp_path,
    )

    assert (done.returncode, done.stdout) == (1, "\ndone\n"), done.stderr
    assert "capture: the recording failed: cannot write" in done.stderr
    assert "Traceback" not in done.stderr


def test_arguments_after_the_program_belong_to_it(tmp_path):
    (tmp_path / "mine.py").write_text("import sys\nprint(sys.argv)")
    for command in (["mine.py", "--", "--x"], ["--", "mine.py", "--", "--x"]):
        done = run("-m", "capture", "run", "--out", "run", *command, cwd=tmp_path)
        assert done.stdout == "['mine.py', '--', '--x']\n"


def test_ingest_adds_the_run_to_a_store(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(MODEL)
    done = with_torch(
        *("-m", "capture", "run", "--ingest", "store", "--out", "run", "--", "mine.py"),
        cwd=tmp_path,
    )

    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr
    assert len(list(tmp_path.glob("store/runs/*/run_id=mine-*/ops.parquet"))) == 1


def test_two_ranks_write_into_one_directory(with_torch, tmp_path):
    (tmp_path / "ranks.py").write_text(RANKS)
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "ranks.py"]
    done = with_torch(*launch, cwd=tmp_path, OMP_NUM_THREADS="1")

    assert done.returncode == 0, done.stderr
    for directory in ("both", "both-2"):  # the second recording finds the first one
        names = {path.name for path in (tmp_path / directory).iterdir()}
        traces = {f"two-rank{rank}.trace.json.gz" for rank in (0, 1)}
        assert names == traces | {"run.json", "rank0.json", "rank1.json"}
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
