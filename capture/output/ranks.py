"""Which process of a job this is: as torch.distributed says, else torchrun's environment."""

import os
import sys


def rank() -> int:
    """Number of this process in its job; 0 where it is alone."""
    return _of_job("get_rank", "RANK", 0)


def world_size() -> int:
    """Processes of the job; 1 where this one is alone."""
    return _of_job("get_world_size", "WORLD_SIZE", 1)


def _of_job(function: str, variable: str, alone: int) -> int:
    distributed = sys.modules.get("torch.distributed")
    if distributed and distributed.is_available() and distributed.is_initialized():
        return int(getattr(distributed, function)())
    said = os.environ.get(variable, "")
    return int(said) if said.isdecimal() else alone
