"""Resumption of a sweep after an interrupt at any process. The processes are stand-ins."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from capture.errors import CaptureError
from capture.sweep import process
from capture.sweep.lock import locked
from capture.sweep.plan import Plan, finish, open_directory
from capture.sweep.sweep import Sweep

PLAN = Plan(("flux", "--tiny"), ("default",), (), 2, 1)
FOLDERS = [variant.folder for variant in PLAN.variants]
PROCESSES = 6  # two timings and a profile of each of two variants


class Processes:
    """A stand-in for the processes of a sweep. It is interrupted at call `interrupted_at`."""

    def __init__(self, interrupted_at: int | None = None) -> None:
        self.calls = 0
        self._interrupted_at = interrupted_at

    def run(self, command, log, limit_s, environment, open_files=()):
        self.calls += 1
        is_over = self.calls != self._interrupted_at
        options = dict(each.split("=", 1) for each in command if each.startswith("--measure"))
        if options:
            self._measure(Path(options["--measure"]), environment, is_over)
        else:
            self._profile(Path(command[command.index("--out") + 1]))
        if not is_over:
            raise KeyboardInterrupt

    def _measure(self, file, environment, is_over):
        cache = Path(environment["TORCHINDUCTOR_CACHE_DIR"])
        is_cold = not cache.exists()
        cache.mkdir(exist_ok=True)
        np.save(file.with_suffix(".npy"), np.ones(2))
        if is_over:
            content = {
                "images": 1,
                "call_times_ns": [2],
                "warmup_times_ns": [100 if is_cold else 9],
            }
            content |= {"peak_of": "host", "peak_bytes": 1, "compilation": None}
            file.write_text(json.dumps(content))

    def _profile(self, run):
        """Write a profile as a pipeline does: into an empty directory, and even after SIGTERM."""
        assert not run.exists() or not list(run.iterdir())
        run.mkdir(exist_ok=True)
        (run / "run.json").write_text(json.dumps({"name": "mine"}))


def sweep_with(processes: Processes, directory: Path, monkeypatch) -> None:
    monkeypatch.setattr(process, "run", processes.run)
    running = Sweep(PLAN, directory, "tag", 60)
    running.measure()
    running.profile()
    running.clean()


def found(directory: Path) -> dict:
    return {name: json.loads((directory / name / "run/run.json").read_text()) for name in FOLDERS}


@pytest.mark.parametrize("number", range(1, PROCESSES + 1))
def test_a_sweep_resumes_after_an_interrupt_in_any_process(number, tmp_path, monkeypatch):
    undisturbed = Processes()
    sweep_with(undisturbed, tmp_path / "undisturbed", monkeypatch)
    assert undisturbed.calls == PROCESSES

    directory = tmp_path / "interrupted"
    with pytest.raises(KeyboardInterrupt):
        sweep_with(Processes(number), directory, monkeypatch)
    rest = Processes()
    sweep_with(rest, directory, monkeypatch)
    assert rest.calls == PROCESSES - number + 1
    assert found(directory) == found(tmp_path / "undisturbed")
    times = found(directory)["default"]["sweep"]["warmup_times_ns"]
    assert times == [[100], [9]]  # the first process started with an empty cache


def test_a_variant_without_a_folder_runs_again(tmp_path, monkeypatch):
    sweep_with(Processes(), tmp_path, monkeypatch)
    before = found(tmp_path)
    for path in sorted((tmp_path / "default").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    again = Processes()
    sweep_with(again, tmp_path, monkeypatch)
    assert again.calls == 3
    assert found(tmp_path) == before  # including the distance from eager, which did not run again


def test_a_process_without_a_result_has_failed(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "run", lambda *_: None)
    Sweep(PLAN, tmp_path, "tag", 60).measure()
    first = json.loads((tmp_path / "eager" / "1.json").read_text())
    assert first == {"error": "the process ended before it wrote its measurements"}


def test_secrets_in_the_options_are_not_written(tmp_path, monkeypatch):
    secret = "hf_" + "a" * 30
    plan = Plan(("flux", "--model", f"https://me:{secret}@hub"), (), (), 1, 1)
    directory, _ = open_directory(plan, tmp_path / "s", tmp_path, "one")
    assert open_directory(plan, tmp_path / "s", tmp_path, "two") == (directory, "one")
    monkeypatch.setattr(process, "run", lambda *_: f"no access with {secret}")
    running = Sweep(plan, directory, "one", 60)
    running.measure()
    running.profile()
    for file in (directory / "sweep.json", directory / "eager" / "run" / "run.json"):
        assert secret not in file.read_text()


def test_a_finished_sweep_is_repeated_in_the_next_directory(tmp_path, monkeypatch):
    default = tmp_path / "sweep-flux"
    directory, _ = open_directory(PLAN, None, default, "one")
    sweep_with(Processes(), directory, monkeypatch)
    finish(directory)
    assert open_directory(PLAN, None, default, "two") == (tmp_path / "sweep-flux-2", "two")
    assert open_directory(PLAN, directory, default, "two") == (directory, "one")
    (directory / "default").rename(tmp_path / "removed")
    assert open_directory(PLAN, None, default, "two") == (directory, "one")


def test_a_directory_is_for_one_sweep_at_a_time(tmp_path):
    """A process of a killed sweep keeps the directory locked."""
    with locked(tmp_path) as lock:
        with (
            pytest.raises(CaptureError, match="a process of this sweep is still running"),
            locked(tmp_path),
        ):
            pass
        orphan = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(600)"], pass_fds=[lock]
        )
    with pytest.raises(CaptureError, match="still running"), locked(tmp_path):
        pass
    orphan.kill()
    orphan.wait()
    with locked(tmp_path):
        pass


def test_a_directory_that_cannot_be_created_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CaptureError, match="cannot create the directory"):
        open_directory(PLAN, tmp_path / "file", tmp_path, "one")
    with pytest.raises(CaptureError, match="cannot write"):
        process.run([sys.executable], tmp_path / "none" / "log", 60, {})
