"""A run's memory as one self-contained HTML page, to share with people without tracehouse."""

import hashlib
import json
import re
from base64 import b64encode
from html import escape
from pathlib import Path
from typing import Any

import duckdb

from ingest.names import NO_STACK, UNKNOWN
from ingest.reports import memory
from ingest.reports.device_memory import DeviceMemory, devices
from ingest.units import printable

HERE = Path(__file__).parent
PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")
BANDS = 8  # the number of colours that everyone can tell apart
BINS = 600  # about one per two pixels
BINS_IN_ALL = 6_000  # over all devices; keeps a page below 5 MB
OWNERS = 25
STACKS = 3  # per owner
POOLS = 50
SETTINGS = 200
ERRORS = 20
ERROR_COLUMNS = (
    *("ordinal", "time_ns", "requested_bytes", "device_free_bytes", "reserved_bytes"),
    *("active_bytes", "free_bytes", "largest_free_bytes", "user_frame", "top_owners"),
)
LONGEST_FRAME = 300

Row = dict[str, Any]


def memory_page(connection: duckdb.DuckDBPyConnection, run_id: str) -> str:
    """Return an HTML page with the memory of each device of a run over time, by owner.

    The page loads nothing and runs only its own script. Its data are integers, in bytes and ns.
    Raise MissingError if the run has no memory.
    """
    of_run = devices(connection, run_id)
    bins = max(20, min(BINS, BINS_IN_ALL // len(of_run)))
    data = {
        "run": run_id,
        "devices": [_device(connection, device, bins) for device in of_run],
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    parts = {
        "title": escape(f"Memory of {run_id}"),
        "data": text,
        "style": (HERE / "memory.css").read_text(encoding="utf-8"),
        "script": (HERE / "memory.js").read_text(encoding="utf-8"),
    }
    parts["style_hash"], parts["script_hash"] = _hash(parts["style"]), _hash(parts["script"])
    page = (HERE / "memory.html").read_text(encoding="utf-8")
    return PLACEHOLDER.sub(lambda found: parts[found[1]], page)


def _hash(text: str) -> str:
    """Return the hash of a script or style, as a content security policy writes it."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _device(
    connection: duckdb.DuckDBPyConnection, device: DeviceMemory, bins: int
) -> dict[str, Any]:
    level = memory.best_level(connection, device, device.peak_ordinal)
    axes: dict[str, Any] = {}
    if device.first_ns is not None and device.last_ns is not None:
        until = device.last_ns - device.first_ns
        axes["time"] = _axis(connection, device, level, "time", until, bins)
    if device.actions:
        until = device.actions - 1
        axes["order"] = _axis(connection, device, level, "order", until, bins)
    return {
        "label": printable(f"rank {device.rank}  {device.label}  {device.file}"),
        "origin": device.origin,
        "actions": device.actions,
        "start": device.start_bytes,
        "peak": device.peak_bytes,
        "peak_ordinal": device.peak_ordinal,
        "peak_after": _after(device, device.peak_ns),
        "end": device.end_bytes,
        "reserved": device.end_reserved_bytes,
        "reserved_peak": device.peak_reserved_bytes,
        "level": memory.LEVELS[level],
        "axes": axes,
        "owners": _owners(connection, device, level),
        "fragmentation": _fragmentation(connection, device),
        "errors": _errors(connection, device),
        "settings": [
            [printable(row["setting"]), printable(row["value"] or "")]
            for row in memory.allocator_settings(device).query.rows(connection)[:SETTINGS]
        ],
    }


def _axis(
    connection: duckdb.DuckDBPyConnection,
    device: DeviceMemory,
    level: str,
    axis: str,
    until: int,
    bins: int,
) -> dict[str, Any]:
    """Return the curve and its bands along an axis. Each band is a list of bytes, by moment."""
    parameters = [*device.arguments, level, axis, until, bins, BANDS]
    bands = connection.execute(
        """
        SELECT any_value(coalesce(name, '')), list(bytes ORDER BY ordinal),
            list(position ORDER BY ordinal), list(ordinal ORDER BY ordinal),
            list(time_ns ORDER BY ordinal)
        FROM memory_by_owner_over_time($1, $2, $3, $4, $5, 0, $6, $7, $8)
        GROUP BY owner_ordinal ORDER BY owner_ordinal
        """,
        parameters,
    ).fetchall()
    curve = connection.execute(
        """
        SELECT list(position ORDER BY ordinal), list(used_bytes ORDER BY ordinal),
            list(reserved_bytes ORDER BY ordinal)
        FROM memory_curve($1, $2, $3, $4, 0, $5, $6)
        """,
        [*device.arguments, axis, until, bins],
    ).fetchall()
    positions, used, reserved = curve[0]
    return {
        "until": until,
        "names": [printable(name) for name, *_ in bands],
        "bands": [held for _, held, *_ in bands],
        "positions": bands[0][2],
        "ordinals": bands[0][3],
        "after": [_after(device, time_ns) for time_ns in bands[0][4]],
        "curve": {
            "positions": positions,
            "used": used,
            "reserved": reserved if any(value is not None for value in reserved) else None,
        },
    }


def _owners(connection: duckdb.DuckDBPyConnection, device: DeviceMemory, level: str) -> list[Row]:
    """Return the largest owners at the peak, with their largest stacks, and a row for the rest."""
    held_by = _held_by(connection, device, level)
    top, rest = held_by[:OWNERS], held_by[OWNERS:]
    stacks: dict[str, dict[int, Row]] = {owner["name"]: {} for owner in top}
    if level == "frame":
        for stack in _held_by(connection, device, "stack"):
            of_owner, stack_id = stacks.get(stack["name"]), stack["stack_id"]
            if of_owner is not None and stack_id is not None and len(of_owner) < STACKS:
                of_owner[stack_id] = stack
    stack_ids = [stack_id for of_owner in stacks.values() for stack_id in of_owner]
    frames = memory.stack_frames(connection, device.run_id, stack_ids)
    rows: list[Row] = [
        {
            "name": printable(owner["name"] or UNKNOWN),
            "bytes": owner["bytes"],
            "allocations": owner["allocations"],
            "stacks": [
                {
                    "bytes": stack["bytes"],
                    "allocations": stack["allocations"],
                    "frames": [printable(f, LONGEST_FRAME) for f in frames.get(stack_id, [])],
                }
                for stack_id, stack in stacks[owner["name"]].items()
            ],
        }
        for owner in top
    ]
    if rest:
        held = sum(owner["bytes"] for owner in rest)
        more = f"{len(rest):,} more"
        rows.append({"name": more, "bytes": held, "allocations": None, "stacks": []})
    return rows


def _fragmentation(connection: duckdb.DuckDBPyConnection, device: DeviceMemory) -> list[Row]:
    """Return the reserved memory of the device, and of its largest pools."""
    rows = [
        {"level": level, **row}
        for level in ("device", "pool")
        for row in memory.fragmentation(device, level).query.rows(connection)
    ]
    return [row for row in rows if row["level"] == "device" or row["pool"] is not None][:POOLS]


def _held_by(connection: duckdb.DuckDBPyConnection, device: DeviceMemory, level: str) -> list[Row]:
    """Return the owners at the peak, the largest first."""
    return memory.owners(device, device.peak_ordinal, level, "at the peak").query.rows(connection)


def _errors(connection: duckdb.DuckDBPyConnection, device: DeviceMemory) -> list[Row]:
    rows = [
        {column: row[column] for column in ERROR_COLUMNS}
        for row in memory.errors(device, ERRORS).query.rows(connection)
    ]
    for row in rows:
        row["after"] = _after(device, row.pop("time_ns"))
        row["user_frame"] = printable(row["user_frame"] or NO_STACK)
        row["top_owners"] = [
            [printable(owner["name"] or UNKNOWN), owner["bytes"], owner["allocations"]]
            for owner in row["top_owners"] or ()
        ]
    return rows


def _after(device: DeviceMemory, time_ns: int | None) -> int | None:
    """Convert a Unix time to ns after the device's first action."""
    return None if time_ns is None or device.first_ns is None else time_ns - device.first_ns
