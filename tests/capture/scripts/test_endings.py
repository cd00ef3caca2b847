"""How programs under `capture run` end: exit codes, errors, signals, forks."""

import signal

import pytest

from tests.capture.captured import Captured, events
from tests.capture.processes import in_a_new_process, wait_until
from tests.capture.scripts.programs import MODEL

pytestmark = pytest.mark.usefixtures("capture_extra")


def test_from_start_records_everything_and_keeps_the_exit_code(tmp_path):
    (tmp_path / "fails.py").write_text(
        "import torch\ntorch.zeros(3).cumsum(0)\nraise SystemExit(7)"
    )
    command = ["-m", "capture", "run", "--from-start", "--out", "run", "--", "fails.py"]
    done = in_a_new_process(*command, cwd=tmp_path)

    assert done.returncode == 7
    captured = Captured.read(tmp_path / "run")
    assert captured.named("aten::cumsum")
    assert captured.run["error"] == "SystemExit: 7"


def test_a_traceback_starts_in_the_script(with_torch, tmp_path):
    (tmp_path / "fails.py").write_text(
        "import torch\ntorch.nn.Linear(4, 4)(torch.ones(2, 4))\n"
        "class Fails(torch.nn.Module):\n    def forward(self): raise ValueError('mine')\n"
        "Fails()()\n"
    )
    plain = in_a_new_process("fails.py", cwd=tmp_path)
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "fails.py", cwd=tmp_path)

    assert plain.returncode == done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if "USDT" not in line]
    assert plain.stderr.splitlines() == [x for x in lines if not x.startswith("capture: ")]
    assert Captured.read(tmp_path / "run").run["error"] == "ValueError: mine"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_valid_files(number, with_torch, tmp_path):
    (tmp_path / "stops.py").write_text(
        MODEL + f"import os, time; sys.stdout.flush(); os.kill(os.getpid(), {number:d})\n"
        "time.sleep(600)"
    )
    capture = ("-m", "capture", "run", "--out", "run", "--", "stops.py")
    done = (in_a_new_process if number == signal.SIGINT else with_torch)(*capture, cwd=tmp_path)

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
        "os.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(600)"
    )
    command = ["-m", "capture", "run", "--out", "run", "--ingest", "store", "--open", "--"]
    done = with_torch(*command, "mine.py", cwd=tmp_path)

    assert done.returncode == -signal.SIGTERM, done.stderr
    assert done.stderr.count("capture: steps") == 1
    wait_until((tmp_path / "ended").exists)


@pytest.mark.parametrize("code", [0, 5])
def test_a_program_that_ends_by_os_exit_is_recorded(code, with_torch, tmp_path):
    (tmp_path / "leaves.py").write_text(MODEL + f"import os\nsys.stdout.flush(); os._exit({code})")
    done = with_torch("-m", "capture", "run", "--out", "run", "--", "leaves.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (code, "\n"), done.stderr
    assert "steps       3 (optimizer)" in done.stderr
    assert Captured.read(tmp_path / "run").named("aten::linear")


def test_sigterm_waits_until_a_trace_is_written(with_torch, tmp_path):
    """The signal comes when capture opens the file, which gets another name when it is complete."""
    (tmp_path / "stops.py").write_text(
        "import os, signal, sys, time, torch\nmodel = torch.nn.Linear(4, 4)\n"
        "opened = []\n"
        "def stop(event, arguments):\n"
        "    if event == 'open' and '.partial' in str(arguments[0]) and not opened:\n"
        "        opened.append(arguments[0]); os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.addaudithook(stop)\n"
        "class Many(torch.nn.Module):\n"
        "    def forward(self, x):\n        for _ in range(500): model(x)\n"
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
    found = events(tmp_path / "run" / "stops-rank0-cycle1.trace.json.gz")
    assert sum(event["name"] == "aten::linear" for event in found) == 500


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
