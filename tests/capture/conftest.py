"""Fixtures that run Python and the command `capture` in separate processes."""

import importlib.util
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from capture import errors
from capture.cli import main
from tests.capture.captured import Captured
from tests.capture.processes import PATIENCE_S, ROOT, Finished

ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "NO_COLOR": "1"}
# Inductor's kernels compile faster in one process, without vector instructions and unoptimised. The
# compiler must be named `g++`: else Inductor builds a precompiled header that g++ does not read.
FAST_COMPILER = {"TORCHINDUCTOR_VEC_ISA_OK": "0", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
UNOPTIMISED = '#!/bin/sh\nexec {} "$@" -O0\n'

# In the new process, some packages cannot be imported, and the network is forbidden.
PRELUDE = """
import socket, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

class Local(socket.socket):
    def connect(self, address):
        assert self.family == socket.AF_UNIX, "the network was used"
        super().connect(address)

sys.meta_path.insert(0, Absent())
socket.socket = Local
"""

CAPTURE = "from capture.cli.main import main; main()"
SERVER = "import runpy; runpy.run_module('tests.capture.server', run_name='__main__')"
COMPILER = ("torch", "torch._dynamo.backends.debugging", "torch._inductor.compile_fx")
PIPELINES = ("Flux", "StableDiffusion3", "StableDiffusion", "Wan")


@pytest.fixture(scope="session")
def run_python() -> Callable[..., Finished]:
    """A function that runs Python code with arguments, without the packages in `absent`."""

    def run(code: str, *arguments: str, absent: tuple[str, ...] = ()) -> Finished:
        return subprocess.run(
            [sys.executable, "-c", PRELUDE.format(absent=absent) + code, *arguments],
            cwd=ROOT,
            env={**os.environ, **ENVIRONMENT},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def run_capture(run_python: Callable[..., Finished]) -> Callable[..., Finished]:
    """A function that runs `capture` in a new interpreter, without the packages in `absent`."""

    def run(*arguments: str, absent: tuple[str, ...] = ()) -> Finished:
        return run_python(CAPTURE, *arguments, absent=absent)

    return run


@pytest.fixture
def run_capture_here(monkeypatch, capfd) -> Callable[..., Finished]:
    """A function that runs `capture` in this process, for commands that record nothing."""

    def run(*arguments: str) -> Finished:
        monkeypatch.setattr(errors, "_on_stderr", False)  # the command changes these
        monkeypatch.setattr(sys, "path", list(sys.path))
        code = 0
        try:
            main.main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        return Finished(arguments, code, *capfd.readouterr())

    return run


class Forks:
    """A process that has imported `modules`. Its forks run Python programs.

    Compilers cache in `directory`.
    """

    def __init__(self, directory: Path, *modules: str) -> None:
        own = {**FAST_COMPILER, "PYTHONPATH": str(ROOT), "TORCHINDUCTOR_CACHE_DIR": str(directory)}
        self._server = subprocess.Popen(
            [sys.executable, "-c", PRELUDE.format(absent=()) + SERVER, *modules],
            cwd=ROOT,
            env={**os.environ, **ENVIRONMENT, **own},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, cwd: Path = ROOT, **environment: str | None) -> Finished:
        """Run `python` with these arguments, which begin with `-m` or a script, in a fork.

        In the environment, None removes a variable, and FORK_PYTHON is a word: if the program runs
        this Python with that argument, this is a fork, too.
        """
        assert self._server.stdin
        assert self._server.stdout
        with tempfile.TemporaryDirectory() as directory:
            written = [Path(directory, name) for name in ("stdout", "stderr")]
            request = [*map(str, (*written, cwd)), environment, *arguments]
            print(json.dumps(request), file=self._server.stdin, flush=True)
            if not select.select([self._server.stdout], [], [], PATIENCE_S)[0]:
                self.end()  # its answer would be that to the next request
                pytest.fail("the server does not answer")
            code = self._server.stdout.readline()
            assert code, f"the server ended with {self._server.wait()}"
            return Finished(arguments, int(code), *(file.read_text() for file in written))

    def end(self) -> None:
        """Kill the process, which has nothing to save. Its programs have ended."""
        with self._server:
            self._server.kill()


@pytest.fixture(scope="session")
def with_torch(capture_extra, tmp_path_factory) -> Iterator[Callable[..., Finished]]:
    """A function that runs Python in a fork of a process that has imported torch and its compiler.

    Programs whose import of torch is not tested run faster this way.
    """
    forks = Forks(tmp_path_factory.mktemp("compiled"), *COMPILER)
    yield forks.run
    forks.end()


@pytest.fixture(scope="session")
def with_diffusers(capture_extra, tmp_path_factory) -> Iterator[Callable[..., Finished]]:
    """A function that runs Python in a fork of a process that has imported diffusers, too."""
    modules = (*COMPILER, *(f"diffusers:{pipeline}Pipeline" for pipeline in PIPELINES))
    forks = Forks(tmp_path_factory.mktemp("compiled"), *modules)
    yield forks.run
    forks.end()


@pytest.fixture(scope="session")
def run_loaded_capture(with_diffusers: Callable[..., Finished]) -> Callable[..., Finished]:
    """A function that runs `capture` in a fork of a process that has imported diffusers."""

    def run(*arguments: str, **environment: str | None) -> Finished:
        return with_diffusers("-m", "capture", *arguments, **environment)

    return run


@pytest.fixture(scope="session")
def capture_extra() -> None:
    """Skip the test if torch, diffusers or transformers is not installed."""
    for package in ("torch", "diffusers", "transformers"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed, so nothing can be captured")


@pytest.fixture(scope="session")
def captured(capture_extra, run_loaded_capture, tmp_path_factory) -> Captured:
    """A run of `capture flux --tiny` with a batch of two and the default of three steps."""
    directory = tmp_path_factory.mktemp("capture") / "first light"
    command = ["flux", "--tiny", "--out", str(directory), "--batch", "2", "--profile-with-stack"]
    finished = run_loaded_capture(*command)
    assert finished.returncode == 0, finished.stderr
    return Captured.read(directory, finished)


@pytest.fixture(scope="session")
def compiler(capture_extra) -> None:
    """Skip the test if Inductor has no compiler."""
    if not shutil.which("g++"):
        pytest.skip("Inductor needs g++, which is not installed")


@pytest.fixture(scope="session")
def recompiled(run_loaded_capture, tmp_path_factory) -> Captured:
    """An SD3 run with warm-up at batch two and measurement at batch one.

    So torch compiles again inside the measured run. It compiles without Inductor, whose kernels
    take a minute.
    """
    directory = tmp_path_factory.mktemp("compiled")
    finished = run_loaded_capture(
        *("sd3", "--tiny", "--compile", "--warmup-batch", "2", "--steps", "2"),
        *("--out", str(directory / "run")),
        TORCH_COMPILE_OVERRIDE_BACKENDS=">=0:eager",
        TORCH_TRACE=str(directory / "log"),
    )
    assert finished.returncode == 0, finished.stderr
    return Captured.read(directory / "run", finished)


@pytest.fixture(scope="session")
def side_by_side(compiler, run_loaded_capture, tmp_path_factory) -> tuple[Captured, Captured]:
    """Wan runs of one `capture compare`: eager, and with its blocks compiled by Inductor.

    The compiled run is a new interpreter, because torch keeps a compile log from its import.
    """
    directory = tmp_path_factory.mktemp("compared")
    gcc = directory / "g++"
    gcc.write_text(UNOPTIMISED.format(shutil.which("g++")))
    gcc.chmod(0o755)
    out = directory / "both"
    finished = run_loaded_capture(
        *("compare", "wan", "--tiny", "--steps", "2", "--regional", "--out", str(out)),
        *("--frames", "1", "--height", "32", "--width", "32"),
        CXX=str(gcc),
        TMPDIR=str(directory),  # Inductor caches its header there
        TORCHINDUCTOR_CACHE_DIR=None,
        FORK_PYTHON="--eager",
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.splitlines() == [str(out / "eager"), str(out / "compiled")]
    return Captured.read(out / "eager"), Captured.read(out / "compiled")
