"""The variants of a sweep, tested against eager, and the command `ingest sweep`."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import duckdb
import typer

from ingest.comparison.rank_test import rank_test
from ingest.errors import MissingError
from ingest.store.connection import connect, read
from ingest.terminal import StoreOption, open_store, plain, results, table
from ingest.units import UNKNOWN, count, difference, duration, printable, size, times

if TYPE_CHECKING:
    from rich.console import RenderableType

MAX_NAMED = 5
LONGEST_REASON = 200
COLUMNS = (
    *("variant", "time", "±", "speed", "p", "max diff", "mean diff", "PSNR"),
    *("compile cold", "warm", "pays after", "peak", "recompiled", "breaks"),
)
Row = dict[str, Any]


def sweep_rows(connection: duckdb.DuckDBPyConnection, tag: str) -> list[Row]:
    """Return a sweep's rows of view `sweep_results`, in order, each with a p-value `p`.

    `p` comes from a rank test of the processes' times against those of the base. It is None for a
    base and if times are missing. Raise MissingError if the store has no such sweep.
    """
    found = connection.execute(
        "SELECT * FROM sweep_results WHERE sweep = $1 ORDER BY ordinal, variant", [tag]
    )
    names = [column[0] for column in found.description]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    if not rows:
        raise MissingError(_no_sweep(connection, tag))
    for row in rows:
        base_ns, own_ns = row["base_image_ns"], row["process_image_ns"]
        tested = base_ns and own_ns and not row["is_base"]
        row["p"] = rank_test(base_ns, own_ns) if tested else None
    return rows


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


def _no_sweep(connection: duckdb.DuckDBPyConnection, tag: str) -> str:
    known = connection.execute(
        "SELECT sweep FROM sweep_results GROUP BY sweep ORDER BY max(ingested_at) DESC, sweep"
    ).fetchall()
    if not known:
        return f"{tag}: no such sweep; the store has no sweeps (`capture sweep` makes one)"
    listed = ", ".join(name for (name,) in known[:MAX_NAMED])
    more = f" and {len(known) - MAX_NAMED:,} more" if len(known) > MAX_NAMED else ""
    return f"{tag}: no such sweep; the store has {listed}{more}"
