"""`capture sweep` over a function: correct, wrong and failing variants, and resumption."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from capture.errors import CaptureError
from capture.sweep.lock import locked
from tests.capture.captured import Captured
from tests.capture.processes import Finished, wait_until, with_signals

pytestmark = pytest.mark.usefixtures("capture_extra")

FUNCTIONS = """
import torch

net = torch.nn.Linear(4, 4)

def mine(kind="working"):
    if kind == "failing":
        raise ValueError("no such thing")
    made = net(torch.rand(2, 4))
    return made + 1 if torch.compiler.is_compiling() else made
"""


@pytest.fixture(scope="module")
def sweep(with_torch):
    """A function that runs a sweep in a directory. Its variants are compiled without Inductor.

    Its processes are forks of one that has imported torch. Those of the sweeps that are interrupted
    or fail are new interpreters.
    """

    def run(directory: Path, *options: str) -> Finished:
        return with_torch(
            *("-m", "capture", "sweep", "--script", "mine.py:mine", *options),
            cwd=directory,
            TORCH_COMPILE_OVERRIDE_BACKENDS=">=0:eager",
            FORK_PYTHON="capture",
        )

    return run


SWEEP = (sys.executable, "-m", "capture", "sweep", "--script", "mine.py:mine")
OPTIONS = (
    *("--try", "default", "--axis", "kind=working,failing", "--repeat", "2"),
    *("--calls", "2", "--out", "swept", "--tag", "mine", "--seed", "3"),
)


@pytest.fixture(scope="module")
def swept(sweep, tmp_path_factory):
    directory = tmp_path_factory.mktemp("sweep")
    (directory / "mine.py").write_text(FUNCTIONS)
    finished = sweep(directory, *OPTIONS)
    assert finished.returncode == 0, finished.stderr
    return directory / "swept", finished


def described(swept, variant: str) -> dict:
    return Captured.described(swept[0] / variant / "run" / "run.json")


def test_each_variant_is_timed_in_separate_processes(swept):
    found = described(swept, "default-kind-working")["sweep"]
    assert [len(calls) for calls in found["call_times_ns"]] == [2, 2]
    assert [len(calls) for calls in found["warmup_times_ns"]] == [3, 3]
    assert found["compilations"] == 1
    assert found["peak_of"] == "host"
    assert found["settings"] == {"kind": "working"}


def test_pipeline_options_apply_to_every_variant(swept):
    for variant in ("eager-kind-working", "default-kind-working"):
        assert described(swept, variant)["seed"] == 3


def test_each_variant_has_a_profile_with_the_tag(swept):
    run = Captured.read(swept[0] / "default-kind-working" / "run")
    assert run.run["tags"] == {"sweep": "mine", "variant": "default kind=working"}
    assert run.run["mode"] == "compiled"
    assert run.named("aten::linear")


def test_a_wrong_variant_shows_its_distance(swept):
    """The compiled function returns 1 more. All eager processes return the same."""
    eager, compiled = (
        described(swept, f"{tried}-kind-working")["sweep"]["distance"]
        for tried in ("eager", "default")
    )
    assert eager == {"max_abs": 0.0, "mean_abs": 0.0}
    assert compiled["max_abs"] == pytest.approx(1)
    assert compiled["mean_abs"] == pytest.approx(1)


def test_a_failing_variant_is_a_row_with_its_reason(swept):
    run = described(swept, "default-kind-failing")
    assert "no such thing" in run["error"]
    assert run["sweep"]["error"] == run["error"]
    assert "distance" not in run["sweep"]
    # The failed variant is not tried again.
    assert not list((swept[0] / "default-kind-failing").glob("2.*"))
    assert not list((swept[0] / "default-kind-failing" / "run").glob("*.gz"))


def test_the_sweep_prints_the_table_of_ingest_sweep(swept):
    directory, finished = swept
    command = [sys.executable, "-m", "ingest", "sweep", "mine", "--store", directory / "store"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert finished.stdout == done.stdout
    assert len([line for line in done.stdout.splitlines() if " kind=" in line]) >= 4
    assert "see this table again: ingest sweep mine --store swept/store" in finished.stderr
    assert "default kind=failing: failed: " in done.stdout


def test_only_missing_results_are_measured_again(swept, sweep):
    directory, _ = swept
    kept = directory / "eager-kind-working" / "1.json"
    before = kept.stat().st_mtime_ns
    (directory / "default-kind-working" / "2.json").unlink()
    finished = sweep(directory.parent, *OPTIONS)

    assert finished.returncode == 0, finished.stderr
    done = [line for line in finished.stderr.splitlines() if line.startswith("capture: round")]
    assert len(done) == 1
    assert "round 2, 2 of 4: default kind=working: " in done[0]
    assert kept.stat().st_mtime_ns == before


def test_compiler_caches_and_outputs_are_removed(swept):
    """The exception is the output that others are compared with."""
    assert not list(swept[0].rglob("cache"))
    assert list(swept[0].rglob("*.npy")) == [swept[0] / "eager-kind-working" / "1.npy"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_sweep_keeps_its_results(number, tmp_path):
    (tmp_path / "mine.py").write_text("import time\ndef mine(): time.sleep(300)\n")
    with subprocess.Popen(
        [*SWEEP, "--try", "eager", "--out", "swept"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        preexec_fn=with_signals,
    ) as process:
        log = tmp_path / "swept" / "eager" / "1.log"
        wait_until(lambda: log.exists() or process.poll() is not None)
        process.send_signal(number)
        assert process.stderr
        errors = process.stderr.read().decode()
    assert process.returncode == 130
    assert "the results so far are in swept; run the same command to continue" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "swept" / "eager" / "1.json").exists()  # an interrupt is not a failure
    wait_until(lambda: is_free(tmp_path / "swept"))  # its processes have been told to end


def is_free(directory: Path) -> bool:
    """Return whether no process of the sweep is left."""
    try:
        with locked(directory):
            return True
    except CaptureError:
        return False


def test_a_sweep_fails_if_all_variants_fail(tmp_path):
    (tmp_path / "mine.py").write_text("raise ImportError('no such part')")
    command = [*SWEEP, "--try", "eager", "--repeat", "1", "--out", "swept"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert finished.returncode == 1
    assert "eager: failed: ImportError: no such part" in finished.stdout
    assert finished.stderr.splitlines()[-1] == (
        "capture: every variant failed; the logs are in swept"
    )


def test_wrong_options_of_a_sweep_are_a_one_line_error(run_capture_here, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FUNCTIONS)
    for options, message in (
        (("--try", "fast"), "--try fast: unknown"),
        (("--axis", "kind"), "--axis kind: must be OPTION=VALUE,VALUE"),
        (("flux", "--tiny"), "name either a pipeline or a function"),
        (("--script", "mine.py"), "mine.py: must be FILE:FUNCTION"),
        (("--script", "other.py:mine"), "other.py: no such Python file"),
        (("--no-profile",), "--no-profile: not supported"),
    ):
        finished = run_capture_here("sweep", "--script", "mine.py:mine", *options)
        assert finished.returncode == 2
        assert len(finished.stderr.splitlines()) == 1
        assert message in finished.stderr
        assert os.listdir(tmp_path) == ["mine.py"]
