"""Memory snapshots and the moments at which they are taken."""

from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from capture import Profiler
from tests.capture.captured import Captured

pytestmark = pytest.mark.usefixtures("capture_extra")


@pytest.fixture
def allocator(monkeypatch) -> SimpleNamespace:
    """A stand-in for CUDA's allocator, which a CPU lacks. It numbers its snapshots."""
    import torch

    seen = SimpleNamespace(calls=[], observers=[], snapshots=0)

    def dump(path: str) -> None:
        seen.snapshots += 1
        Path(path).write_text(f"snapshot {seen.snapshots}")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    memory = torch.cuda.memory
    monkeypatch.setattr(
        memory, "_record_memory_history", lambda **options: seen.calls.append(options)
    )
    monkeypatch.setattr(memory, "_dump_snapshot", dump)
    attach = "_cuda_attach_out_of_memory_observer"
    monkeypatch.setattr(torch._C, attach, seen.observers.append, raising=False)
    return seen


def test_a_snapshot_is_written_after_memory_ran_out(allocator, tmp_path):
    import torch

    profiler = Profiler(activities=["MEM"], output_dir=tmp_path, name="oom", max_memory_entries=7)
    with pytest.raises(torch.OutOfMemoryError), profiler:
        raise torch.OutOfMemoryError("CUDA out of memory")

    assert allocator.calls == [{"max_entries": 7}, {"enabled": None}]
    assert (tmp_path / "oom-rank0-memory.pickle").read_text() == "snapshot 1"
    assert Captured.read(tmp_path).run["error"].startswith("OutOfMemoryError")


@pytest.mark.parametrize(("is_caught", "kept"), [(False, "snapshot 1"), (True, "snapshot 2")])
def test_a_snapshot_shows_the_moment_when_memory_ran_out(is_caught, kept, allocator, tmp_path):
    """If the program continues, the snapshot is taken at its end, with the error in the history."""
    import torch

    snapshot = tmp_path / "oom-rank0-memory.pickle"
    with suppress(torch.OutOfMemoryError), Profiler(True, ["MEM"], tmp_path, "oom"):
        [runs_out] = allocator.observers
        runs_out(0, 1 << 30, 1 << 30, 0)
        assert snapshot.read_text() == "snapshot 1"
        if not is_caught:
            raise torch.OutOfMemoryError("CUDA out of memory")
    runs_out(0, 1 << 30, 1 << 30, 0)  # torch cannot remove the observer

    assert snapshot.read_text() == kept


def test_a_failed_preparation_leaves_a_snapshot(allocator, tmp_path):
    import torch

    profiler = Profiler(activities=["MEM"], output_dir=tmp_path, name="oom")
    profiler.describe(model="large")
    with suppress(torch.OutOfMemoryError), profiler.preparing():
        assert allocator.calls  # weights that are loaded from here have stacks
        raise torch.OutOfMemoryError("CUDA out of memory")

    run = Captured.read(tmp_path).run
    assert (run["model"], run["error"]) == ("large", "OutOfMemoryError: CUDA out of memory")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"oom-rank0-memory.pickle", "run.json", "rank0.json"}
    assert allocator.calls[-1] == {"enabled": None}
