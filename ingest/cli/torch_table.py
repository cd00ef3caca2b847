"""The table that torch.profiler prints, for a run of the store.

Layout, units and totals follow `_build_table` in torch.autograd.profiler_util.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import duckdb

SUMS = {  # torch's name of a sum, and the column of `key_averages` that is summed
    "self_cpu_time_total": "cpu_self_ns",
    "cpu_time_total": "cpu_total_ns",
    "self_device_time_total": "device_self_ns",
    "device_time_total": "device_total_ns",
    "cpu_memory_usage": "cpu_memory_bytes",
    "self_cpu_memory_usage": "self_cpu_memory_bytes",
    "device_memory_usage": "device_memory_bytes",
    "self_device_memory_usage": "self_device_memory_bytes",
    "flops": "flops",
    "count": "calls",
}
MEANS = {"cpu_time": "cpu_time_total", "device_time": "device_time_total"}
FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
WIDTH, LONGEST_SHAPES, LONGEST_FRAME = 12, 80, 75  # characters of columns
Row = dict[str, Any]
Column = tuple[str, int, Callable[[Row], str]]  # title, width (negative: left-aligned), text


class Grouping(NamedTuple):
    """The keys of a table's rows, besides the name: input shapes, N innermost frames, rank."""

    by_shapes: bool = False
    frames: int = 0
    by_rank: bool = False


def sort_key(name: str) -> str | None:
    """Return torch's name of a sum or mean, with `device` for `cuda` or `xpu`, or None."""
    key = name.replace("cuda", "device").replace("xpu", "device")
    return key if key in SUMS or key in MEANS else None


def query(
    run_id: str, grouping: Grouping, step: int | None, sort_by: str
) -> tuple[str, list[object]]:
    """Return the query of the table's rows, and its parameters.

    Rows are in descending order of `sort_by`. Times are in ns, sizes in bytes.
    """
    keys = ["rank"] if grouping.by_rank else []
    keys += ["name", "is_on_device", "is_annotation"]
    params: list[object] = [run_id]
    source = "key_averages WHERE run_id = $1"
    if grouping.by_shapes:
        source = "key_averages_by_shape($1) WHERE TRUE"
        keys.append("input_shapes")
    elif grouping.frames:
        source = "key_averages_by_stack($1, $2) WHERE TRUE"
        keys.append("stack")
        params.append(grouping.frames)
    if step is not None:
        params.append(step)
        source += f" AND step = ${len(params)}"
    sums = [f"sum({column})::BIGINT AS {name}" for name, column in SUMS.items()]
    means = [f"{total} / count AS {name}" for name, total in MEANS.items()]
    order = ["rank"] if grouping.by_rank else []
    order += [f"{sort_by} DESC NULLS LAST", "name", *keys[-1:]]
    return (
        f"WITH summed AS (SELECT {', '.join([*keys, *sums])} FROM {source} GROUP BY ALL) "
        f"SELECT *, {', '.join(means)} FROM summed ORDER BY {', '.join(order)}"
    ), params


def lines(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    params: Sequence[object],
    limit: int | None,
    longest_name: int,
) -> Iterator[str]:
    """Yield the lines of torch's table, one table per rank if the rows have ranks.

    `limit` None prints all rows.
    """
    found = connection.execute(rows, params)
    names = [column[0] for column in found.description or ()]
    by_rank: dict[int | None, list[Row]] = {}
    for values in found.fetchall():
        row = dict(zip(names, values, strict=True))
        by_rank.setdefault(row.get("rank"), []).append(row)
    for rank, ranked in by_rank.items():
        if rank is not None:
            yield f"rank {rank}"
        yield from _lines(ranked, limit, longest_name)


def _lines(rows: Sequence[Row], limit: int | None, longest_name: int) -> Iterator[str]:
    on_cpu = sum(row["self_cpu_time_total"] or 0 for row in rows)
    on_device = sum(
        row["self_device_time_total"] or 0
        for row in rows
        if row["is_on_device"] and not row["is_annotation"]
    )
    columns = _columns(rows, on_cpu, on_device, longest_name)
    ruler = "  ".join("-" * abs(width) for _, width, _ in columns) + "  "
    yield ruler
    yield "".join(f"{title:>{abs(width)}}  " for title, width, _ in columns)
    yield ruler
    for row in rows[:limit]:
        yield "".join(
            f"{text(row):<{-width}}  " if width < 0 else f"{text(row):>{width}}  "
            for _, width, text in columns
        )
        for frame in (row.get("stack") or [])[1:]:
            blank = "".join(" " * (abs(width) + 2) for _, width, _ in columns[:-1])
            yield blank + _end(frame)
    yield ruler
    yield f"Self CPU time total: {time_text(on_cpu)}"
    if any(row["self_device_time_total"] for row in rows):
        yield f"Self device time total: {time_text(on_device)}"


def _columns(rows: Sequence[Row], on_cpu: int, on_device: int, longest_name: int) -> list[Column]:
    def has(key: str) -> bool:
        return any(row[key] for row in rows)

    def column(title: str, key: str, text: Callable[[Any], str]) -> Column:
        return title, WIDTH, lambda row: text(row[key] or 0)

    def share(title: str, key: str, whole: int) -> Column:
        return title, WIDTH, lambda row: share_text(row[key] or 0, whole)

    width = min(max((len(row["name"]) for row in rows), default=0) + 4, longest_name)
    columns: list[Column] = [
        ("Name", width, lambda row: _beginning(row["name"], longest_name - 3)),
        share("Self CPU %", "self_cpu_time_total", on_cpu),
        column("Self CPU", "self_cpu_time_total", time_text),
        share("CPU total %", "cpu_time_total", on_cpu),
        column("CPU total", "cpu_time_total", time_text),
        column("CPU time avg", "cpu_time", time_text),
    ]
    if has("self_device_time_total"):
        columns += [
            column("Self device", "self_device_time_total", time_text),
            share("Self device %", "self_device_time_total", on_device),
            column("Device total", "device_time_total", time_text),
            column("Device avg", "device_time", time_text),
        ]
    if any(row["cpu_memory_usage"] is not None for row in rows):
        columns += [
            column("CPU Mem", "cpu_memory_usage", size_text),
            column("Self CPU Mem", "self_cpu_memory_usage", size_text),
        ]
    if has("self_device_memory_usage"):
        columns += [
            column("Device Mem", "device_memory_usage", size_text),
            column("Self Dev Mem", "self_device_memory_usage", size_text),
        ]
    columns.append(column("# of Calls", "count", str))
    if rows and "input_shapes" in rows[0]:
        longest = max(len(row["input_shapes"]) for row in rows) + 4
        widest = min(longest, LONGEST_SHAPES)
        columns.append(("Input Shapes", widest, lambda row: row["input_shapes"][:widest]))
    if counted := [row["flops"] for row in rows if row["flops"]]:
        columns.append(_flops_column(min(counted)))
    if rows and "stack" in rows[0]:
        frames = [len(frame) for row in rows for frame in row["stack"]]
        widest = min(max(frames, default=11) + 4, LONGEST_FRAME)
        columns.append(
            ("Source Location", -widest, lambda row: _end(row["stack"][0]) if row["stack"] else "")
        )
    return columns


def _flops_column(least: int) -> Column:
    thousands = min((len(str(least)) - 1) // 3, len(FLOPS) - 1)

    def text(row: Row) -> str:
        return f"{row['flops'] / 1000**thousands:8.3f}" if row["flops"] else "--"

    return f"Total {FLOPS[thousands]}", WIDTH, text


def _beginning(name: str, longest: int) -> str:
    return name if len(name) < longest else f"{name[:longest]}..."


def _end(frame: str) -> str:
    return frame if len(frame) <= LONGEST_FRAME else f"...{frame[3 - LONGEST_FRAME :]}"


def time_text(ns: float) -> str:
    """Format a time as torch's tables do."""
    if ns >= 1e9:
        return f"{ns / 1e9:.3f}s"
    return f"{ns / 1e6:.3f}ms" if ns >= 1e6 else f"{ns / 1e3:.3f}us"


def share_text(part: float, whole: float) -> str:
    """Format a share as torch's tables do."""
    return f"{100 * part / whole:.2f}%" if whole else "NaN"


def size_text(count: int) -> str:
    """Format a size as torch's tables do."""
    for power, unit in ((3, "GB"), (2, "MB"), (1, "KB")):
        if abs(count) >= 1024**power:
            return f"{count / 1024**power:.2f} {unit}"
    return f"{count} B"
