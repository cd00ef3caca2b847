"""The command `ingest sweep`."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ingest.cli.terminal import StoreOption, open_store, results, table
from ingest.json_values import plain
from ingest.reports.sweep import sweep_rows
from ingest.store.connection import connect, read
from ingest.units import UNKNOWN, count, difference, duration, printable, size, times

if TYPE_CHECKING:
    from rich.console import RenderableType

Row = dict[str, Any]

LONGEST_REASON = 200
COLUMNS = (
    *("variant", "time", "±", "speed", "p", "max diff", "mean diff", "PSNR"),
    *("compile cold", "warm", "pays after", "peak", "recompiled", "breaks"),
)


def sweep(
    tag: Annotated[str, typer.Argument(help="The sweep's tag.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything as a JSON array.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Print the variants of a sweep: time, memory, compilation, and distance to eager.

    "time" is the time per image: the median over the processes that timed it, with the spread
    around it, the speed relative to eager, and the p-value of a rank test against eager. "pays
    after" is the number of images after which compiling with a cold cache has paid off. "max diff",
    "mean diff" and "PSNR" compare the output with eager's at the same seed; for eager, they
    compare its processes with each other.
    """
    connection = connect(open_store(store))
    rows = read(connection, lambda: sweep_rows(connection, tag))
    if as_json:
        print(json.dumps(plain(rows)))
        return
    for part in _report(rows):
        results().print(part)


def _report(rows: list[Row]) -> "Iterator[RenderableType]":
    from rich.text import Text

    yield table(COLUMNS, map(_cells, rows), right=COLUMNS[1:])
    if any(row["peak_of"] == "host" for row in rows):
        yield Text("peak: memory of the host process, because there is no device")
    for row in rows:
        for line in _notes(row):
            yield Text(f"{row['variant']}: {printable(line, LONGEST_REASON)}")


def _cells(row: Row) -> tuple[str, ...]:
    if row["failure"] and row["image_ns"] is None:
        return row["variant"], "failed", *[""] * (len(COLUMNS) - 2)
    is_compiled = row["compile_cold_ns"] is not None
    pays = count(row["break_even_images"])
    if row["speedup"] is not None and row["speedup"] <= 1:
        pays = "never"
    return (
        row["variant"],
        duration(row["image_ns"]),
        duration(row["spread_ns"]),
        times(row["speedup"]),
        "" if row["is_base"] else difference(row["p"]),
        *_distance(row),
        duration(row["compile_cold_ns"]) if is_compiled else "",
        duration(row["compile_warm_ns"]) if is_compiled else "",
        pays if is_compiled else "",
        size(row["peak_bytes"]),
        count(row["recompiles"]),
        count(row["graph_breaks"]),
    )


def _distance(row: Row) -> tuple[str, str, str]:
    psnr = "equal" if row["max_distance"] == 0 else UNKNOWN
    if row["psnr_db"] is not None:
        psnr = f"{row['psnr_db']:.1f} dB"
    return difference(row["max_distance"]), difference(row["mean_distance"]), psnr


def _notes(row: Row) -> Iterator[str]:
    """Yield the failures and reasons of a row, which its cells do not show."""
    if row["failure"]:
        yield f"failed: {row['failure']}"
    if row["distance_reason"]:
        yield f"no distance: {row['distance_reason']}"
    for reason in row["compile_failures"] or []:
        yield f"compilation failed, ran eager: {' '.join(reason.split())}"
    for reason in row["recompile_reasons"] or []:
        yield f"recompiled: {' '.join(reason.split())}"
    for reason in row["graph_break_reasons"] or []:
        yield f"graph break: {' '.join(reason.split())}"
