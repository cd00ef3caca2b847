"""Which process of a job this is: as torch.distributed says, else torchrun's environment."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple


class Job(NamedTuple):
    """The number of this process in its job, and how many processes the job has."""

    rank: int
    size: int


def current_job(inherited_rank: str | None = None) -> Job | None:
    """The job that this process is in; None where it is in none.

    `inherited_rank` is the RANK of the process that started this one: not one of its own.
    """
    distributed = sys.modules.get("torch.distributed")
    if distributed and distributed.is_available() and distributed.is_initialized():
        return Job(distributed.get_rank(), distributed.get_world_size())
    said, size = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    if not said.isdecimal() or said == inherited_rank:
        return None
    return Job(int(said), int(size) if size.isdecimal() else 1)


def rank() -> int:
    """The number of this process; 0 where it is in no job."""
    job = current_job()
    return job.rank if job else 0
