"""The rank of this process, from torch.distributed or from torchrun's environment variables."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple


class Job(NamedTuple):
    """The rank of this process in its job, and the number of processes in the job."""

    rank: int
    size: int


def current_job(inherited_rank: str | None = None) -> Job | None:
    """Return the job of this process, or None if it is in no job.

    `inherited_rank` is the RANK of the process that started this one. The same RANK here is
    inherited, so it is ignored.
    """
    distributed = sys.modules.get("torch.distributed")
    if distributed and distributed.is_available() and distributed.is_initialized():
        return Job(distributed.get_rank(), distributed.get_world_size())
    rank_text, size = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    if not rank_text.isdecimal() or rank_text == inherited_rank:
        return None
    return Job(int(rank_text), int(size) if size.isdecimal() else 1)


def rank() -> int:
    """Return the rank of this process, or 0 if it is in no job."""
    job = current_job()
    return job.rank if job else 0
