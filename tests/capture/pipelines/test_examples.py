"""The scripts in `examples/`."""

from pathlib import Path

import pytest

from tests.capture.captured import events
from tests.capture.processes import ROOT

pytestmark = pytest.mark.usefixtures("capture_extra")


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
def test_an_example_records_its_steps(example, arguments, traces, with_diffusers, tmp_path):
    script = str(ROOT / "examples" / f"{example}.py")
    runs = str(tmp_path / "runs")
    done = with_diffusers(script, *arguments, cwd=tmp_path, TRACEHOUSE_PROFILE_DIR=runs)

    assert done.returncode == 0, done.stderr
    directory = Path(done.stdout.splitlines()[-1])
    assert directory.parent == tmp_path / "runs"
    for name, steps in traces.items():
        found = events(directory / f"{name}.trace.json.gz")
        marks = {e["name"] for e in found if e["name"].startswith("ProfilerStep#")}
        assert marks == {f"ProfilerStep#{number}" for number in steps}


@pytest.mark.parametrize("example", ["plain_script", "diffusers_script"])
def test_an_example_without_the_flag_leaves_nothing(example, with_diffusers, tmp_path):
    done = with_diffusers(str(ROOT / "examples" / f"{example}.py"), cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []
