"""Ranks that torchrun starts."""

import pytest

from tests.capture.captured import Captured
from tests.capture.scripts.programs import MODEL

pytestmark = pytest.mark.usefixtures("capture_extra")


RANKS = """
import os, torch, torch.distributed as dist
import capture
dist.init_process_group("gloo")
for _ in range(2):
    with capture.Profiler(output_dir="both", name="two", with_stack=False):
        dist.all_reduce(torch.ones(4))
        dist.barrier()
dist.destroy_process_group()
os._exit(0)  # without capture, torch 2.13 with gloo and its profiler aborts at 1 of 70 exits
"""


def test_two_ranks_write_into_one_directory(with_torch, tmp_path):
    (tmp_path / "ranks.py").write_text(RANKS)
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "ranks.py"]
    done = with_torch(*launch, cwd=tmp_path, OMP_NUM_THREADS="1")

    assert done.returncode == 0, done.stderr
    for directory in ("both", "both-2"):  # the second recording finds the first one
        names = {path.name for path in (tmp_path / directory).iterdir()}
        traces = {f"two-rank{rank}.trace.json.gz" for rank in (0, 1)}
        assert names == traces | {"run.json", "rank0.json", "rank1.json"}
    captured = Captured.read(tmp_path / "both")
    assert (captured.run["rank"], captured.run["world_size"]) == (0, 2)


def test_a_launcher_can_start_capture_on_each_rank(with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(MODEL)
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    capture = ["-m", "capture", "run", "--out", "both", "--", "mine.py"]
    done = with_torch(*launcher, *capture, cwd=tmp_path, OMP_NUM_THREADS="1")

    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "both").iterdir()}
    traces = {f"mine-rank{rank}.trace.json.gz" for rank in (0, 1)}
    assert names == traces | {"run.json", "rank0.json", "rank1.json"}
