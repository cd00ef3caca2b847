"""The records of a MegEngine profile that `ingest profile-analyze` prints."""

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb

# Names that `--order-by` accepts, and the columns of `megengine_records` that they sort by.
ORDERS = {
    "time": "time_s",
    "computation": "computation_flo",
    "memory": "memory_bytes",
    "flops": "flo_per_s",
    "bandwidth": "bytes_per_s",
    "opr_id": "opr_id",
}
OPERATOR = "name, type, opr_id, NULL AS count, in_shapes, in_layouts, out_shapes"
GROUP = """NULL AS name, type, NULL AS opr_id, count, NULL AS in_shapes, NULL AS in_layouts,
    NULL AS out_shapes"""
COPIES = """
    SELECT sum(time_s), sum(time_s) / count(*)
    FROM megengine_records(
        time_key := $6, types := $2, opr_name := $3, input_dtype := $4
    )
    WHERE run_id = $1 AND source_id = $5 AND type = 'Copy'
"""


@dataclass(frozen=True)
class Order:
    """A sort order. `column` is a value of `ORDERS`."""

    column: str
    is_ascending: bool


@dataclass(frozen=True)
class Choice:
    """The selected records, and how they are grouped and sorted.

    Times are in seconds. `top` is the number of records; 0 selects all.
    """

    top: int
    types: list[str] | None
    opr_name: str | None
    input_dtype: str | None
    time_key: str
    aggregate: str | None
    by_type: bool
    order: Order
    min_time: float | None
    max_time: float | None


@dataclass(frozen=True)
class Record:
    """An operator, or a group of `count` operators.

    Time is in s, computation in FLO, memory in bytes. `ratio` and `cumulative_ratio` are shares of
    the total time; None if the total is 0 or unknown.
    """

    name: str | None
    type: str | None
    opr_id: int | None
    count: int | None
    in_shapes: Any
    in_layouts: Any
    out_shapes: Any
    time: float
    computation: float | None
    memory: float | None
    flops: float | None
    bandwidth: float | None
    ratio: float | None
    cumulative: float
    cumulative_ratio: float | None


@dataclass
class Analysis:
    """The total times and the selected records of a file. Times are in seconds.

    `records` maps a side, device or host, to its records. A total is None if no operator has a
    time on that side. `copies` maps a time key, end or kern, to the sum and the mean of the times
    of copies.
    """

    path: str
    total_device: float | None
    total_host: float | None
    copies: dict[str, tuple[float | None, float | None]]
    records: dict[str, list[Record]] = field(default_factory=dict)


def order_of(text: str) -> Order | None:
    """Return the order that `[+]column` describes, or None if there is no such column."""
    name = text.removeprefix("+").lower()
    return Order(ORDERS[name], text.startswith("+")) if name in ORDERS else None


def sources(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[int]:
    """Return the ids of a run's files that are MegEngine profiles."""
    rows = connection.execute(
        "SELECT DISTINCT source_id FROM megengine_oprs WHERE run_id = $1 ORDER BY source_id",
        [run_id],
    ).fetchall()
    return [source_id for (source_id,) in rows]


def warnings(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[str]:
    """Return the warnings about a run's MegEngine files, each with the file's name."""
    rows = connection.execute(
        """
        SELECT parse_filename(path), unnest(warnings)
        FROM sources
        WHERE run_id = $1 AND kind IN (
            SELECT kind FROM sources INNER JOIN megengine_oprs USING (run_id, source_id)
            WHERE run_id = $1
        )
        ORDER BY source_id
        """,
        [run_id],
    ).fetchall()
    return [f"{name}: {warning}" for name, warning in rows]


def analysis(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    source_id: int,
    choice: Choice,
    sides: Sequence[str],
) -> Analysis:
    """Return the total times of a file and its selected records, for each of `sides`."""
    [(path, device, host)] = connection.execute(
        """
        SELECT any_value(path), sum(device_time_by_end_s), sum(host_time_by_end_s)
        FROM sources
        LEFT JOIN (FROM megengine_oprs WHERE operator_ordinal IS NOT NULL)
            USING (run_id, source_id)
        WHERE run_id = $1 AND source_id = $2
        """,
        [run_id, source_id],
    ).fetchall()
    filters = [choice.types, choice.opr_name, choice.input_dtype]
    copies = {
        key: connection.execute(COPIES, [run_id, *filters, source_id, key]).fetchall()[0]
        for key in ("end", "kern")
    }
    records = {}
    for side in sides:
        rows = _rows(connection, run_id, source_id, choice, side)
        records[side] = list(_records(_ordered(rows, choice.order)[: choice.top or None]))
    return Analysis(path, device, host, copies, records)


def _rows(
    connection: duckdb.DuckDBPyConnection, run_id: str, source_id: int, choice: Choice, side: str
) -> list[dict[str, Any]]:
    """Return rows of `megengine_records` or `megengine_record_groups`, in the file's order."""
    macro, columns, ordinal = "megengine_records", OPERATOR, "operator_ordinal"
    grouping: list[tuple[str, Any]] = []
    if choice.aggregate:
        macro, columns, ordinal = "megengine_record_groups", GROUP, "first_ordinal"
        grouping = [("aggregate", choice.aggregate), ("by_type", choice.by_type)]
    arguments = [
        *grouping,
        ("side", side),
        ("time_key", choice.time_key),
        ("types", choice.types),
        ("opr_name", choice.opr_name),
        ("input_dtype", choice.input_dtype),
        ("min_time", choice.min_time),
        ("max_time", choice.max_time),
    ]
    named_arguments = ", ".join(f"{name} := ${name}" for name, _ in arguments)
    found = connection.execute(
        f"SELECT {columns}, total_s, time_s, computation_flo, memory_bytes, flo_per_s, bytes_per_s "
        f"FROM {macro}({named_arguments}) WHERE run_id = $run_id AND source_id = $source_id "
        f"ORDER BY {ordinal}",
        {"run_id": run_id, "source_id": source_id, **dict(arguments)},
    )
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def _ordered(rows: list[dict[str, Any]], order: Order) -> list[dict[str, Any]]:
    """Sort the rows. Rows without the sort value come last.

    Python sorts instead of DuckDB, because it puts NaN in the same position as profile_analyze.
    """
    known = [row for row in rows if row[order.column] is not None]
    unknown = [row for row in rows if row[order.column] is None]
    sign = 1 if order.is_ascending else -1
    return sorted(known, key=lambda row: sign * row[order.column]) + unknown


def _records(rows: list[dict[str, Any]]) -> Iterator[Record]:
    cumulative = 0.0
    for row in rows:
        time, total = row["time_s"], row["total_s"]
        cumulative += time
        yield Record(
            name=row["name"],
            type=row["type"],
            opr_id=row["opr_id"],
            count=row["count"],
            in_shapes=_parsed(row["in_shapes"]),
            in_layouts=_parsed(row["in_layouts"]),
            out_shapes=_parsed(row["out_shapes"]),
            time=time,
            computation=row["computation_flo"],
            memory=row["memory_bytes"],
            flops=row["flo_per_s"],
            bandwidth=row["bytes_per_s"],
            ratio=time / total if total else None,
            cumulative=cumulative,
            cumulative_ratio=cumulative / total if total else None,
        )


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def as_dict(analysis: Analysis) -> dict[str, Any]:
    """Return the analysis for JSON. Infinities and NaN become text, as in MegEngine's files."""
    return {
        "path": analysis.path,
        "total_device_time": _written(analysis.total_device),
        "total_host_time": _written(analysis.total_host),
        "copy_time": [_written(time) for time in analysis.copies["end"]],
        "copy_wait_time": [_written(time) for time in analysis.copies["kern"]],
        **{
            side: [
                {name: _written(value) for name, value in vars(record).items()}
                for record in records
            ]
            for side, records in analysis.records.items()
        },
    }


def csv_lines(analyses: Sequence[Analysis]) -> Iterator[str]:
    """Yield all records as lines of CSV, with the file and the side of each record."""
    names = ["path", "side", *Record.__dataclass_fields__]
    for row in (names, *_csv_rows(analyses)):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        yield line.getvalue()


def _csv_rows(analyses: Sequence[Analysis]) -> Iterator[list[Any]]:
    for analysis in analyses:
        for side, records in analysis.records.items():
            for record in records:
                values = vars(record).values()
                texts = [json.dumps(v) if isinstance(v, list) else v for v in values]
                yield [analysis.path, side, *texts]


def _written(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
