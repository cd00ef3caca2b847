"""A program's own sessions of torch's profiler become traces of the run."""

import gzip
import json
from collections.abc import Callable

import pytest

from tests.capture.captured import Captured, events

pytestmark = pytest.mark.usefixtures("capture_extra")
SETUP = """
import torch
from torch.profiler import profile, schedule, ProfilerActivity
model = torch.nn.Linear(4, 4)
def call(): model(torch.ones(2, 4))
"""


@pytest.fixture
def recorded(with_torch, tmp_path) -> Callable[[str], Captured]:
    """A function that runs a script with and without capture, with equal output."""

    def run(script: str) -> Captured:
        (tmp_path / "own.py").write_text(SETUP + script)
        capture = ("-m", "capture", "run", "--out", "run", "--")
        plain, done = (with_torch(*words, "own.py", cwd=tmp_path) for words in ((), capture))
        assert (plain.returncode, plain.stdout) == (done.returncode, done.stdout), done.stderr
        return Captured.read(tmp_path / "run", done)

    return run


def linears(path) -> int:
    return sum(event.get("name") == "aten::linear" for event in events(path))


def test_an_exported_trace_is_copied_and_the_earlier_recording_kept(recorded, tmp_path):
    recorded(
        """
call()
with profile(activities=[ProfilerActivity.CPU]) as own:
    for _ in range(3): call()
own.export_chrome_trace("mine.json")
try: own.export_chrome_trace("again.json")
except RuntimeError as error: print(error)
"""
    )

    before = tmp_path / "run" / "own-rank0.trace.json.gz"
    own = tmp_path / "run" / "own-rank0-cycle2.trace.json.gz"
    assert (linears(before), linears(own)) == (1, 3)
    assert gzip.decompress(own.read_bytes()) == (tmp_path / "mine.json").read_bytes()


def test_each_exported_cycle_becomes_a_trace(recorded, tmp_path):
    recorded(
        """
def ready(own): own.export_chrome_trace(f"cycle{own.step_num}.json.gz")
plan = schedule(wait=1, warmup=1, active=2, repeat=2)
with profile(activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=ready) as own:
    for _ in range(9):
        call()
        own.step()
"""
    )

    # The first session was recorded during the wait.
    names = ("own-rank0", "own-rank0-cycle2", "own-rank0-cycle3")
    traces = [tmp_path / "run" / f"{name}.trace.json.gz" for name in names]
    assert [linears(trace) for trace in traces] == [1, 2, 2]


@pytest.mark.parametrize(
    "session",
    [
        "with profile(activities=[ProfilerActivity.CPU]) as own:",
        "with torch.autograd.profiler.profile() as own:",
    ],
)
def test_a_session_that_is_not_exported_is_saved(session, recorded, tmp_path):
    done = recorded(
        f"""
{session}
    for _ in range(3): call()
print([event.count for event in own.key_averages() if event.key == "aten::linear"])
"""
    )

    assert len(done.named("aten::linear")) == 3
    assert json.loads((tmp_path / "run" / "run.json").read_text())["name"] == "own"


def test_a_session_records_all_steps_after_the_recording_has_ended(recorded, tmp_path):
    recorded(
        """
for _ in range(12): call()
with profile(activities=[ProfilerActivity.CPU]) as own:
    for _ in range(20): call()
"""
    )

    before = tmp_path / "run" / "own-rank0.trace.json.gz"
    own = tmp_path / "run" / "own-rank0-cycle2.trace.json.gz"
    assert (linears(before), linears(own)) == (10, 20)


def test_a_session_can_be_exported_after_the_next_one(recorded, tmp_path):
    recorded(
        """
with profile(activities=[ProfilerActivity.CPU]) as first: call()
with profile(activities=[ProfilerActivity.CPU]) as second: call(); call()
first.export_chrome_trace("first.json")
second.export_chrome_trace("second.json.gz")
"""
    )

    traces = [tmp_path / "run" / f"own-rank0{cycle}.trace.json.gz" for cycle in ("", "-cycle2")]
    assert [linears(trace) for trace in traces] == [1, 2]
    assert json.loads((tmp_path / "first.json").read_text())["traceEvents"]


@pytest.mark.parametrize(
    ("script", "kept"),
    [
        (
            """
with profile(activities=[ProfilerActivity.CPU]):
    call()
    with profile(activities=[ProfilerActivity.CPU]): call()
print("end")
""",
            [1],
        ),
        (
            """
import threading
own = profile(activities=[ProfilerActivity.CPU])
own.start(); call()
thread = threading.Thread(target=own.stop); thread.start(); thread.join()
print("end")
""",
            [],
        ),
    ],
    ids=["inside a session", "stopped by another thread"],
)
def test_a_session_that_torch_loses_is_reported(script, kept, recorded, tmp_path):
    """An export of such a session ends the process by a segmentation fault."""
    captured = recorded(script)

    assert [linears(trace) for trace in (tmp_path / "run").glob("*.trace.json.gz")] == kept
    assert captured.finished
    assert "capture: torch lost a profile of the program" in captured.finished.stderr
