"""Which process of a job this is: as torch.distributed says, else torchrun's environment."""

import os
import sys
from typing import Any


def rank() -> int:
    """Number of this process in its job; 0 where it is alone."""
    return known_rank() or 0


def known_rank(inherited: str | None = None) -> int | None:
    """Number of this process in its job; None where it is in none.

    `inherited` is the RANK of the process that started this one: not a number of its own.
    """
    if not _distributed() and os.environ.get("RANK") == inherited:
        return None
    return _of_job("get_rank", "RANK")


def world_size() -> int:
    """Processes of the job; 1 where this one is alone."""
    size = _of_job("get_world_size", "WORLD_SIZE")
    return 1 if size is None else size


def _of_job(function: str, variable: str) -> int | None:
    if distributed := _distributed():
        return int(getattr(distributed, function)())
    said = os.environ.get(variable, "")
    return int(said) if said.isdecimal() else None


def _distributed() -> Any:
    """torch.distributed where this process is in a job of it."""
    distributed = sys.modules.get("torch.distributed")
    if distributed and distributed.is_available() and distributed.is_initialized():
        return distributed
    return None
