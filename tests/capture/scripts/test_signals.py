"""Programs that end by a signal while their main thread does not run Python code."""

import signal

import pytest

from tests.capture.captured import Captured
from tests.capture.scripts.programs import MODEL

pytestmark = pytest.mark.usefixtures("capture_extra")

CAPTURE = ("-m", "capture", "run", "--profile-with-stack", "--out", "run", "--")
# Python's C handler runs on a thread that is not the main one, so it interrupts no system call of
# the main thread. A signal just before the system call has the same effect.
SIGNALLED = (
    "import ctypes, os, signal, threading, time\n"
    "def stop():\n"
    "    signal.pthread_kill(threading.get_ident(), signal.{name})\n"
    "threading.Timer(0.1, stop).start()\n"
)
LOCK = "mutex = ctypes.create_string_buffer(64)\nlock = ctypes.CDLL(None).pthread_mutex_lock\n"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("waits", ["time.sleep(600)", "os.read(os.pipe()[0], 1)"])
def test_a_signal_ends_a_system_call_that_it_does_not_interrupt(name, waits, with_torch, tmp_path):
    (tmp_path / "waits.py").write_text(MODEL + SIGNALLED.format(name=name) + waits)
    done = with_torch(*CAPTURE, "waits.py", cwd=tmp_path)

    assert done.returncode == -signal.Signals[name], done.stderr
    captured = Captured.read(tmp_path / "run")
    assert captured.run["error"] == f"Stopped: {name}"
    # Stacks do not show the thread that sends the signal again before it does.
    waking, calls = captured.named(".*wakeup.*"), captured.named("aten::linear")
    assert waking[0]["ts"] > calls[-1]["ts"]


def test_a_signal_ends_c_code_that_does_not_return(with_torch, tmp_path):
    """The files cannot be written, because that takes Python on the main thread."""
    (tmp_path / "waits.py").write_text(
        MODEL + SIGNALLED.format(name="SIGTERM") + LOCK + "lock(mutex); lock(mutex)"
    )
    done = with_torch(*CAPTURE, "waits.py", cwd=tmp_path)

    assert done.returncode == -signal.SIGTERM, done.stderr


def test_pools_that_terminate_their_workers_end(with_torch, tmp_path):
    (tmp_path / "pools.py").write_text(
        "import multiprocessing, torch\nmodel = torch.nn.Linear(4, 4)\n"
        "def work(number): return model(torch.ones(4)).shape[0] * number\n"
        "for _ in range(3):\n"
        "    with multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "        print(sum(pool.map(work, range(6))))\n"
    )
    done = with_torch(*CAPTURE, "pools.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "60\n60\n60\n"), done.stderr


def test_a_program_may_set_the_descriptor_that_signals_wake(with_torch, tmp_path):
    """A program sees only its own descriptors. After it removes them, signals still end it."""
    (tmp_path / "wakes.py").write_text(
        MODEL
        + "import asyncio, os, signal\n"
        + "reading, writing = os.pipe(); os.set_blocking(writing, False)\n"
        + "signal.signal(signal.SIGUSR1, lambda *_: None)\n"
        + "seen = [signal.set_wakeup_fd(-1), signal.set_wakeup_fd(writing)]\n"
        + "os.kill(os.getpid(), signal.SIGUSR1)\n"
        + "print(*seen, os.read(reading, 9)[0], signal.set_wakeup_fd(-1) == writing)\n"
        + "async def serve():\n"
        + "    done = asyncio.Event()\n"
        + "    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, done.set)\n"
        + "    os.kill(os.getpid(), signal.SIGUSR1)\n"
        + "    await done.wait()\n"
        + "asyncio.run(serve())\nsys.stdout.flush()\n"
        + SIGNALLED.format(name="SIGTERM")
        + "time.sleep(600)"
    )
    done = with_torch(*CAPTURE, "wakes.py", cwd=tmp_path)

    assert done.stdout == f"\n-1 -1 {signal.SIGUSR1:d} True\n", done.stderr
    assert done.returncode == -signal.SIGTERM, done.stderr
    assert Captured.read(tmp_path / "run").named("aten::linear")


def test_a_program_may_wait_for_a_signal_that_it_blocks(with_torch, tmp_path):
    (tmp_path / "waits.py").write_text(
        "import os, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\n"
        + MODEL
        + "os.kill(os.getpid(), signal.SIGTERM)\n"
        + "print(signal.SIGTERM in signal.sigpending(), signal.sigwait([signal.SIGTERM]).name)\n"
    )
    done = with_torch(*CAPTURE, "waits.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "\nTrue SIGTERM\n"), done.stderr
    assert Captured.read(tmp_path / "run").named("aten::linear")


def test_a_fork_of_a_program_that_closes_all_files_ends_by_a_signal(with_torch, tmp_path):
    (tmp_path / "closes.py").write_text(
        MODEL
        + "import os, signal, time\nsys.stdout.flush()\nos.closerange(3, 256)\n"
        + "if not (child := os.fork()): time.sleep(600)\n"
        + "os.kill(child, signal.SIGTERM)\n"
        + "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = with_torch(*CAPTURE, "closes.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "\n-15\n"), done.stderr
    assert "Exception ignored" not in done.stderr
