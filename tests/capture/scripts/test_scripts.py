"""Scripts under `capture run`: how they are named, what they see, and what is reported."""

import pytest

from tests.capture.captured import Captured
from tests.capture.processes import in_a_new_process
from tests.capture.scripts.programs import MODEL

pytestmark = pytest.mark.usefixtures("capture_extra")


def test_an_unmodified_script_is_profiled(tmp_path):
    """Torch is not imported before the script imports it, so the script can configure it."""
    (tmp_path / "mine.py").write_text(
        "import os, sys\n__builtins__.print('torch' in sys.modules)\n"
        "os.environ['OMP_NUM_THREADS'] = '1'\n" + MODEL + "print(torch.get_num_threads())"
    )
    token = "hf_abcdefghijklmnopqrstuv"
    command = ["-m", "capture", "run", "--out", "run", "--", "mine.py", "--token", token, "--steps"]
    done = in_a_new_process(*command, cwd=tmp_path)

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


def test_a_wrong_program_is_an_error_with_usage(run_capture_here, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text("#!text\n")
    for command, text in (
        (["torchrum", "mine.py"], "no such file or command"),
        (["./mine.txt"], "neither a Python script nor executable"),
        ([], "name a script"),
    ):
        done = run_capture_here("run", "--", *command)

        assert done.returncode == 2
        assert text in done.stderr
        assert "capture run" in done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_arguments_after_the_program_belong_to_it(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text("import sys\nprint(sys.argv)")
    for command in (["mine.py", "--", "--x"], ["--", "mine.py", "--", "--x"]):
        done = with_torch("-m", "capture", "run", "--out", "run", *command, cwd=tmp_path)
        assert done.stdout == "['mine.py', '--', '--x']\n"


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


@pytest.mark.parametrize("has_torch", [True, False])
def test_a_script_without_module_calls_gets_a_reason(has_torch, with_torch, tmp_path):
    (tmp_path / "plain.py").write_text("print('mine')")
    capture = ("-m", "capture", "run", "--out", "run", "--", "plain.py")
    done = (with_torch if has_torch else in_a_new_process)(*capture, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "mine\n")
    reason = "--from-start" if has_torch else "did not import torch"
    assert reason in done.stderr.splitlines()[-1]
    assert not (tmp_path / "run").exists()


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


def test_a_schedule_that_records_no_step_is_an_error(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(MODEL)
    command = ["-m", "capture", "run", "--profile-wait", "50", "--out", "run", "--", "mine.py"]
    done = with_torch(*command, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "\n")
    assert "--profile-wait" in done.stderr.splitlines()[-1]


def test_modes_and_tracers_of_the_program_do_not_see_capture(with_torch, tmp_path):
    (tmp_path / "modes.py").write_text(
        "import torch\nfrom torch.fx.experimental.proxy_tensor import make_fx\n"
        "from torch.utils._python_dispatch import TorchDispatchMode\n"
        "class Printing(TorchDispatchMode):\n"
        "    def __torch_dispatch__(self, op, types, args=(), kwargs=None):\n"
        "        print(op)\n        return op(*args, **(kwargs or {}))\n"
        "torch.manual_seed(0)\n"
        "model, x = torch.nn.Linear(4, 4).requires_grad_(False), torch.ones(2, 4)\n"
        "class Naming(torch.overrides.TorchFunctionMode):\n"
        "    def __torch_function__(self, function, types, args=(), kwargs=None):\n"
        "        print(function.__name__)\n        return function(*args, **(kwargs or {}))\n"
        "def twice(x): return model(x) + model(x)\n"
        "with Naming(): twice(x)\n"  # the recording begins here
        "print(torch.jit.trace(twice, x).graph)\nprint(make_fx(twice)(x).code)\n"
        "with Printing(): twice(x); twice(x)\n"
    )
    plain = with_torch("modes.py", cwd=tmp_path)
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "modes.py", cwd=tmp_path)

    assert (plain.returncode, done.returncode) == (0, 0), done.stderr
    assert done.stdout == plain.stdout
    assert len(Captured.read(tmp_path / "run").steps) > 2


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


def test_ingest_adds_the_run_to_a_store(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(MODEL)
    done = with_torch(
        *("-m", "capture", "run", "--ingest", "store", "--out", "run", "--", "mine.py"),
        cwd=tmp_path,
    )

    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr
    assert len(list(tmp_path.glob("store/runs/*/run_id=mine-*/ops.parquet"))) == 1
