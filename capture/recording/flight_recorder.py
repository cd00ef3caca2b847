"""Dumps of torch's flight recorder: the last collectives of a process, in their order.

An entry names the process group of a collective and its place in the group's sequence. A trace of
Gloo records neither. The dumps have torch's form, so torch's own tools read them, too.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any

from capture.output.run_directory import Files, atomic_write

NO_RECORDER = "this version of torch has no flight recorder for the collectives of this process"
# Environment variables: the first of torch from 2.8 on, the second of older versions.
ENTRIES = ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE")
PREFIX = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")
# Ten steps with tensor parallelism can have more than torch's 2,000. An entry takes about 1 kB.
MANY = "20000"
# NCCL and XCCL have recorders of their own. Before torch 2.8, the other backends have none.
DUMPS = ("_dump_nccl_trace", "_dump_xccl_trace", "_dump_fr_trace")
PROTOCOL = 2  # of torch's pickles


def remember_more(directory: Path, name: str) -> None:
    """Let torch remember more collectives, and dump those of NCCL at a timeout, too.

    Torch reads the variables when it creates the first process group. Variables that the user has
    set are kept. Torch appends the rank to the name.
    """
    is_old = not hasattr(_c10d(), "_dump_fr_trace")
    prefix = Files(directory, name, "rank").flight_recorder("-timeout")
    for names, value in ((ENTRIES, MANY), (PREFIX, str(prefix))):
        if not any(name in os.environ for name in names):
            os.environ[names[is_old]] = value


class FlightRecorder:
    """Writes dumps of the collectives of this process among its `files`.

    There is a dump for each trace, because torch forgets collectives while the program goes on. No
    entry is in two dumps, so together they are the sequence of the process. Torch fills `pg_config`
    only for NCCL. For other backends, a dump has the groups that `note_groups` has seen, of which
    this process is a member, in the same form.

    The functions that write return the reason why they cannot, or None. Without process groups, or
    if the user has switched the recorder off, they do nothing.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._has_dumped = False
        self._last = -1  # the id of the last entry in a dump
        self._groups: dict[str, dict[str, Any]] = {}  # by name, as torch's profiler has them
        self._count = 0

    def note_groups(self) -> list[dict[str, Any]]:
        """Remember the process groups, because a program can destroy them before it ends.

        Return all of them if there are new ones.
        """
        distributed = sys.modules.get("torch.distributed")
        if not (distributed and distributed.is_available() and distributed.is_initialized()):
            self._count = 0
            return []
        count = distributed.get_pg_count()
        if count == self._count:
            return []
        self._count = count
        groups = distributed.distributed_c10d._get_all_pg_configs()
        self._groups |= {group["pg_name"]: group for group in groups}
        return list(self._groups.values())

    def dump_trace(self, cycle: int | None) -> str | None:
        """Write the collectives until the end of a trace."""
        return self._dump(self._files, "" if cycle is None else f"-cycle{cycle}")

    def dump_end(self, has_failed: bool) -> str | None:
        """Write the collectives since the last dump, if there is none or the process failed."""
        if self._has_dumped and not has_failed:
            return None
        return self._dump(self._files, "-end" if self._has_dumped else "")

    def dump_stuck(self, process: str, is_end: bool) -> bool:
        """Write those since the last trace, of a `process` whose main thread cannot.

        If that is not the end of the process, do so only if it waits for one of them. Return
        whether there are any.
        """
        last = self._last
        self._dump(self._files._replace(process=process), "-end", only_if_waiting=not is_end)
        return self._last > last

    def _dump(self, files: Files, part: str, only_if_waiting: bool = False) -> str | None:
        if not self._groups or _is_off():
            return None
        names = [name for name in DUMPS if hasattr(_c10d(), name)]
        if not names:
            return NO_RECORDER
        try:
            found = [pickle.loads(getattr(_c10d(), name)()) for name in names]
            dump = next((each for each in found if each.get("entries")), found[-1])
            seen = {
                name: {"name": name, "desc": group["pg_desc"], "ranks": str(list(group["ranks"]))}
                for name, group in self._groups.items()
            }
            known = {name: group for name, group in dump["pg_config"].items() if name}
            entries = [each for each in dump.get("entries", ()) if each["record_id"] > self._last]
            dump |= {"pg_config": seen | known, "entries": entries}
            is_waiting = not all(entry["retired"] for entry in entries)
            if is_waiting or (not only_if_waiting and (entries or not self._has_dumped)):
                with atomic_write(files.flight_recorder(part)) as temporary:
                    temporary.write_bytes(pickle.dumps(dump, PROTOCOL))
                self._has_dumped = True
                self._last = max((each["record_id"] for each in entries), default=self._last)
        except Exception as error:  # the user's program goes on without a dump
            return f"torch's flight recorder could not be dumped: {error}"
        return None


def _is_off() -> bool:
    return next((os.environ[name] for name in ENTRIES if name in os.environ), "") == "0"


def _c10d() -> Any:
    """Return the module, or None if this torch has no distributed package."""
    return sys.modules.get("torch._C._distributed_c10d")
