"""Dumps of torch's flight recorder, as NCCL's process groups write them in each version."""

import json
import pickle
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.builders.relations import Run

CLOCK_NS = 1_700_000_000_000_000_000
VERSIONS = ("1.1", "2.3", "2.4", "2.7", "2.10")
SINCE_2 = {
    *("record_id", "process_group", "collective_seq_id", "p2p_seq_id", "op_id", "is_p2p"),
    *("input_dtypes", "output_dtypes", "timeout_ms"),
}
TORCH = "/env/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"
DEFAULT = ("0", "default_pg")
Call = dict[str, Any]


def call(
    name: str = "all_reduce",
    seq: int = 1,
    state: str = "completed",
    *,
    shape: Sequence[int] = (8, 8),
    output: Sequence[int] | None = None,
    dtype: str = "Float",
    group: tuple[str, str] = DEFAULT,
    line: int = 10,
    p2p_seq: int | None = None,
    **changed: Any,
) -> Call:
    """Return an entry of the newest version. It is point-to-point if it has a `p2p_seq`."""
    created = CLOCK_NS + 1_000_000 * seq
    times = {
        "scheduled": (None, None),
        "started": (created + 1_000, None),
        "completed": (created + 1_000, created + 5_000),
    }[state]
    return {
        "frames": [
            {"name": "all_reduce", "filename": TORCH, "line": 3245},
            {"name": "step", "filename": "/home/user/train.py", "line": line},
            {"name": "main", "filename": "/home/user/train.py", "line": 99},
        ],
        "record_id": 0,
        "pg_id": int(group[0]) if group[0].isdigit() else 7,
        "process_group": group,
        "thread_name": "python",
        "thread_id": "140069485001600",
        "collective_seq_id": seq,
        "p2p_seq_id": p2p_seq or 0,
        "op_id": seq + (p2p_seq or 0),
        "profiling_name": f"nccl:{name}",
        "time_created_ns": created,
        "input_sizes": [list(shape)],
        "input_dtypes": [dtype],
        "output_sizes": [list(shape if output is None else output)],
        "output_dtypes": [dtype],
        "state": state,
        "time_discovered_started_ns": times[0],
        "time_discovered_completed_ns": times[1],
        "retired": state == "completed",
        "timeout_ms": 600_000,
        "is_p2p": p2p_seq is not None,
        **changed,
    }


def dump(
    calls: Iterable[Call],
    version: str = "2.10",
    groups: Mapping[tuple[str, str], Sequence[int]] | None = None,
    first_record: int = 0,
) -> dict[str, Any]:
    """Return a dump of a version. `groups` are the ranks of each group."""
    entries = [{**each, "record_id": first_record + number} for number, each in enumerate(calls)]
    if version.startswith("1."):
        entries = [_of_version_1(entry) for entry in entries]
        return {"entries": entries, "version": version}
    numbers = {entry["pg_id"]: entry["collective_seq_id"] for entry in entries}
    found: dict[str, Any] = {
        "version": version,
        "pg_config": {
            name: {"name": name, "desc": desc, "ranks": str(list(ranks))}
            for (name, desc), ranks in (groups or {}).items()
        },
        "pg_status": {
            str(pg_id): {
                "last_enqueued_collective": seq,
                "last_started_collective": seq,
                "last_completed_collective": -1,
            }
            for pg_id, seq in numbers.items()
        },
        "entries": entries,
        "nccl_comm_state": {},
    }
    if version == "2.7":
        found["nccl_version"] = "2.26.2"
    if version == "2.10":
        found["comm_lib_version"] = "2.27.5"
    else:
        for entry in entries:
            del entry["thread_name"], entry["thread_id"]
    return found


def _of_version_1(entry: Call) -> Call:
    without = SINCE_2 | {"thread_name", "thread_id"}
    kept = {key: value for key, value in entry.items() if key not in without}
    return kept | {"seq_id": entry["collective_seq_id"]}


def pickled(found: Mapping[str, Any]) -> bytes:
    """Return a dump as a pickle."""
    return pickle.dumps(found, 2)


def as_json(found: Mapping[str, Any]) -> bytes:
    """Return a dump as torch writes it in JSON: sorted, without stacks, with 0 for None."""
    entries = [
        {key: 0 if value is None else value for key, value in entry.items() if key != "frames"}
        for entry in found["entries"]
    ]
    status = {
        group: {key: str(value) for key, value in last.items()}
        for group, last in found.get("pg_status", {}).items()
    }
    written = {**found, "entries": entries, "pg_status": status}
    if not entries:
        del written["entries"]
    return json.dumps(written, sort_keys=True).encode()


def job(
    calls: Mapping[int, Iterable[Call]],
    version: str = "2.10",
    groups: Mapping[tuple[str, str], Sequence[int]] | None = None,
    size: int | None = None,
) -> Run:
    """Return a run with a dump of each of these ranks, whose default group has `size` ranks."""
    members = {DEFAULT: range(size or max(calls) + 1)} | dict(groups or {})
    files = {}
    for rank, listed in calls.items():
        own = {group: ranks for group, ranks in members.items() if rank in ranks}
        files[f"comm_lib_trace_rank_{rank}"] = pickled(dump(listed, version, own))
    return Run(files)
