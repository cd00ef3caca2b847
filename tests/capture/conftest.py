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

from tests.capture.captured import Captured, Finished

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "NO_COLOR": "1"}
# Without vector instructions, Inductor's kernels compile faster. But on CPUs with AMX, torch then
# refuses attention in bfloat16.
WITHOUT_VECTORS = {"ATEN_CPU_CAPABILITY": "default"}

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
PIPELINES = ("Flux", "StableDiffusion3", "StableDiffusion")
PATIENCE_S = 600


@pytest.fixture(scope="session")
def run_python() -> Callable[..., Finished]:
    """A function that runs Python code with arguments, without the packages in `absent`."""

    def run(code: str, *arguments: str, absent: tuple[str, ...] = ()) -> Finished:
        return subprocess.run(
            [sys.executable, "-c", PRELUDE.format(absent=absent) + code, *arguments],
            cwd=ROOT,
            env={**os.environ, **ENVIRONMENT, **WITHOUT_VECTORS},
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


class Forks:
    """A process that has imported `modules`. Its forks run Python programs."""

    def __init__(self, *modules: str) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-c", PRELUDE.format(absent=()) + SERVER, *modules],
            cwd=ROOT,
            env={**os.environ, **ENVIRONMENT, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, cwd: Path = ROOT, **environment: str) -> Finished:
        """Run `python` with these arguments, which begin with `-m` or a script, in a fork."""
        assert self._server.stdin
        assert self._server.stdout
        with tempfile.TemporaryDirectory() as directory:
            written = [Path(directory, name) for name in ("stdout", "stderr")]
            request = [*map(str, (*written, cwd)), environment, *arguments]
            print(json.dumps(request), file=self._server.stdin, flush=True)
            assert select.select([self._server.stdout], [], [], PATIENCE_S)[0], (
                "the server does not answer"
            )
            code = self._server.stdout.readline()
            assert code, f"the server ended with {self._server.wait()}"
            return Finished(arguments, int(code), *(file.read_text() for file in written))

    def end(self) -> None:
        """End the process."""
        try:
            self._server.communicate(timeout=60)
        finally:
            self._server.kill()


@pytest.fixture(scope="session")
def with_torch(capture_extra: None) -> Iterator[Callable[..., Finished]]:
    """A function that runs Python in a fork of a process that has imported torch and its compiler.

    Programs whose import of torch is not tested run faster this way.
    """
    forks = Forks("torch", "torch._dynamo.backends.debugging", "torch._inductor.compile_fx")
    yield forks.run
    forks.end()


@pytest.fixture(scope="session")
def with_diffusers(capture_extra: None) -> Iterator[Callable[..., Finished]]:
    """A function that runs Python in a fork of a process that has imported diffusers."""
    forks = Forks(*(f"diffusers:{pipeline}Pipeline" for pipeline in PIPELINES))
    yield forks.run
    forks.end()


@pytest.fixture(scope="session")
def run_loaded_capture(with_diffusers: Callable[..., Finished]) -> Callable[..., Finished]:
    """A function that runs `capture` in a fork of a process that has imported diffusers."""

    def run(*arguments: str) -> Finished:
        return with_diffusers("-m", "capture", *arguments)

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
def recompiled(capture_extra, run_capture, tmp_path_factory) -> Captured:
    """An SD3 run with warm-up at batch two and measurement at batch one.

    So torch compiles again inside the measured run. It compiles without Inductor, whose kernels
    take a minute.
    """
    directory = tmp_path_factory.mktemp("compiled") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCH_COMPILE_OVERRIDE_BACKENDS", ">=0:aot_eager")
        finished = run_capture(
            *("sd3", "--tiny", "--compile", "--warmup-batch", "2", "--steps", "2"),
            *("--out", str(directory)),
        )
    assert finished.returncode == 0, finished.stderr
    return Captured.read(directory, finished)


@pytest.fixture(scope="session")
def side_by_side(compiler, run_capture, tmp_path_factory) -> tuple[Captured, Captured]:
    """FLUX runs of one `capture compare`: eager, and with its blocks compiled by Inductor."""
    out = tmp_path_factory.mktemp("compared") / "both"
    options = ("--tiny", "--steps", "2", "--regional", "--out", str(out))
    finished = run_capture("compare", "flux", *options)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.splitlines() == [str(out / "eager"), str(out / "compiled")]
    return Captured.read(out / "eager"), Captured.read(out / "compiled")
