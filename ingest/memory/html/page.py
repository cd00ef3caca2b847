"""A run's memory as one HTML page, which needs nothing else: for people without this program."""

import hashlib
import json
import re
from base64 import b64encode
from html import escape
from pathlib import Path
from typing import Any

import duckdb

from ingest.memory.moments import Device, best_level, devices, holders, stack_frames
from ingest.memory.report import LEVELS
from ingest.names import NO_STACK, UNKNOWN
from ingest.units import printable

HERE = Path(__file__).parent
PLACE = re.compile(r"\{\{([a-z_]+)\}\}")
BANDS = 8  # as many as there are colours that everyone can tell apart
BINS = 600  # about one for two pixels
BINS_IN_ALL = 6_000  # of all devices: a page stays below 5 MB
SITES = 25
STACKS = 3  # of each site
LONGEST_FRAME = 300

Row = dict[str, Any]


def memory_page(connection: duckdb.DuckDBPyConnection, run_id: str) -> str:
    """The page (HTML) with the memory of each device of a run over time, and what held it.

    It loads nothing and runs no script but its own. Bytes and ns in its data are whole numbers.
    Raises MissingError where the run has no memory.
    """
    of_run = devices(connection, run_id)
    bins = max(20, min(BINS, BINS_IN_ALL // len(of_run)))
    data = {
        "run": run_id,
        "devices": [_device(connection, run_id, device, bins) for device in of_run],
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
    return PLACE.sub(lambda place: parts[place[1]], page)


def _hash(text: str) -> str:
    """What a content security policy knows a script by."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _device(
    connection: duckdb.DuckDBPyConnection, run_id: str, device: Device, bins: int
) -> dict[str, Any]:
    level = best_level(connection, run_id, device, device.peak_ordinal)
    source = device.path.replace("\\", "/").rpartition("/")[2]
    axes: dict[str, Any] = {}
    if device.first_ns is not None and device.last_ns is not None:
        until = device.last_ns - device.first_ns
        axes["time"] = _axis(connection, run_id, device, level, "time", until, bins)
    if device.actions:
        until = device.actions - 1
        axes["order"] = _axis(connection, run_id, device, level, "order", until, bins)
    parameters = [run_id, device.source_id, device.device]
    return {
        "label": printable(f"rank {device.rank}  {device.device}  {source}"),
        "origin": device.origin,
        "actions": device.actions,
        "start": device.start_bytes,
        "peak": device.peak_bytes,
        "peak_ordinal": device.peak_ordinal,
        "peak_after": _after(device, device.peak_ns),
        "end": device.end_bytes,
        "reserved": device.end_reserved_bytes,
        "reserved_peak": device.peak_reserved_bytes,
        "level": LEVELS[level],
        "axes": axes,
        "sites": _sites(connection, run_id, device, level),
        "fragmentation": _rows(
            connection,
            """
            SELECT level, pool, segments, bytes, active_bytes, inactive_bytes, stranded_bytes,
                rounding_bytes, largest_inactive_bytes
            FROM fragmentation
            WHERE run_id = $1 AND source_id = $2 AND device = $3 AND (
                level = 'device' OR level = 'pool' AND pool IS NOT NULL
            )
            ORDER BY level, bytes DESC LIMIT 50
            """,
            parameters,
        ),
        "errors": _errors(connection, run_id, device),
        "settings": [
            [printable(name), printable(value or "")]
            for name, value in connection.execute(
                """
                SELECT setting, value FROM allocator_settings
                WHERE run_id = $1 AND source_id = $2 ORDER BY setting LIMIT 200
                """,
                parameters[:2],
            ).fetchall()
        ],
    }


def _axis(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    device: Device,
    level: str,
    axis: str,
    until: int,
    bins: int,
) -> dict[str, Any]:
    """The curve, and its bands: a list of bytes for each, by moment; moments by place."""
    parameters = [run_id, device.source_id, device.device, level, axis, until, bins, BANDS]
    bands = connection.execute(
        """
        SELECT any_value(coalesce(name, '')), list(bytes ORDER BY ordinal),
            list(place ORDER BY ordinal), list(ordinal ORDER BY ordinal),
            list(time_ns ORDER BY ordinal)
        FROM memory_bands($1, $2, $3, $4, $5, 0, $6, $7, $8)
        GROUP BY size ORDER BY size
        """,
        parameters,
    ).fetchall()
    curve = connection.execute(
        """
        SELECT list(place ORDER BY ordinal), list(used_bytes ORDER BY ordinal),
            list(reserved_bytes ORDER BY ordinal)
        FROM memory_curve($1, $2, $3, $4, 0, $5, $6)
        """,
        [*parameters[:3], axis, until, bins],
    ).fetchall()
    places, used, reserved = curve[0]
    return {
        "until": until,
        "names": [printable(name) for name, *_ in bands],
        "bands": [held for _, held, *_ in bands],
        "places": bands[0][2],
        "ordinals": bands[0][3],
        "after": [_after(device, time_ns) for time_ns in bands[0][4]],
        "curve": {
            "places": places,
            "used": used,
            "reserved": reserved if any(value is not None for value in reserved) else None,
        },
    }


def _sites(
    connection: duckdb.DuckDBPyConnection, run_id: str, device: Device, level: str
) -> list[Row]:
    """What held most at the peak, with the stacks that held most of it; the rest in one row."""
    rows = holders(connection, run_id, device, device.peak_ordinal, level)
    top, rest = rows[:SITES], rows[SITES:]
    of_site: dict[str, list[tuple[Any, ...]]] = {}
    if level == "site":
        names = {row[0] for row in top}
        for row in holders(connection, run_id, device, device.peak_ordinal, "stack"):
            if row[0] in names and row[4] is not None and len(of_site.get(row[0], ())) < STACKS:
                of_site.setdefault(row[0], []).append(row)
    stack_ids = [row[4] for stacks in of_site.values() for row in stacks]
    frames = stack_frames(connection, run_id, stack_ids) if stack_ids else {}
    sites: list[Row] = [
        {
            "name": printable(name or UNKNOWN),
            "bytes": held,
            "elements": elements,
            "stacks": [
                {
                    "bytes": stack[1],
                    "elements": stack[2],
                    "frames": [printable(f, LONGEST_FRAME) for f in frames.get(stack[4], [])],
                }
                for stack in of_site.get(name, ())
            ],
        }
        for name, held, elements, _, _ in top
    ]
    if rest:
        held = sum(row[1] for row in rest)
        sites.append({"name": f"{len(rest):,} more", "bytes": held, "elements": None, "stacks": []})
    return sites


def _errors(connection: duckdb.DuckDBPyConnection, run_id: str, device: Device) -> list[Row]:
    rows = _rows(
        connection,
        """
        SELECT ordinal, time_ns, requested_bytes, device_free_bytes, reserved_bytes, active_bytes,
            free_bytes, largest_free_bytes, site, top_sites
        FROM oom_report
        WHERE run_id = $1 AND source_id = $2 AND device = $3 ORDER BY ordinal LIMIT 20
        """,
        [run_id, device.source_id, device.device],
    )
    for row in rows:
        row["after"] = _after(device, row.pop("time_ns"))
        row["site"] = printable(row["site"] or NO_STACK)
        row["top_sites"] = [
            [printable(site["name"] or UNKNOWN), site["bytes"], site["elements"]]
            for site in row["top_sites"] or ()
        ]
    return rows


def _after(device: Device, time_ns: int | None) -> int | None:
    """A Unix time as ns after the device's first action."""
    return None if time_ns is None or device.first_ns is None else time_ns - device.first_ns


def _rows(connection: duckdb.DuckDBPyConnection, query: str, parameters: list[object]) -> list[Row]:
    found = connection.execute(query, parameters)
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
