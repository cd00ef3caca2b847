"""Values as text, each as DuckDB writes it: for tables, CSV and JSON."""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence

import duckdb
import pyarrow as pa

from ingest.sql import literal

NESTED = frozenset({"list", "array", "struct", "map", "union"})
FLOATS = frozenset({"float", "double"})
INTEGERS = frozenset(
    f"{sign}{size}"
    for sign in ("", "u")
    for size in ("tinyint", "smallint", "integer", "bigint", "hugeint")
)
NUMBERS = FLOATS | INTEGERS | {"decimal"}
NOT_FINITE = re.compile(r"\b(NaN|Infinity)\b")
NOT_ASCII = re.compile(r"[^\x00-\x7e]")
NOT_IN_ARROW = re.compile(r"\b(UHUGEINT|BIT|TIME WITH TIME ZONE)\b")  # or there with other values

Relation = duckdb.DuckDBPyRelation


def texts(relation: Relation) -> pa.Table:
    """The rows with every value as text; lists, structs, maps and unions as JSON."""
    columns = [_text(place, kind) for place, _, kind in _columns(relation)]
    return _projected(relation, columns).to_arrow_table().rename_columns(relation.columns)


def as_csv(relation: Relation, names: Sequence[str]) -> str:
    """The rows as CSV, with a header of these names."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    for batch in texts(relation).to_batches():
        writer.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    return buffer.getvalue()


def json_objects(relation: Relation) -> Iterator[str]:
    """Each row as a JSON object, in ASCII. What JSON has no number for, such as NaN, is null."""
    finite = "CASE WHEN isfinite(#{0}) THEN #{0} END"
    fields = [
        f"{literal(name)}: {(finite if kind.id in FLOATS else '#{0}').format(place)}"
        for place, name, kind in _columns(relation)
    ]
    rows = _projected(relation, [f"to_json({{{', '.join(fields)}}})::VARCHAR"]).to_arrow_table()
    for row in rows.column(0):
        text = str(row)
        if NOT_FINITE.search(text):  # in a list, or in a text
            text = json.dumps(json.loads(text, parse_constant=lambda _: None))
        yield NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)


def for_arrow(relation: Relation) -> Relation:
    """The relation with text in place of what Arrow cannot hold."""
    if not any(NOT_IN_ARROW.search(str(kind)) for kind in relation.types):
        return relation
    columns = [
        (_text(place, kind) if NOT_IN_ARROW.search(str(kind)) else f"#{place}")
        + f" AS {_quoted(name)}"
        for place, name, kind in _columns(relation)
    ]
    return relation.project(", ".join(columns))


def _columns(relation: Relation) -> list[tuple[int, str, duckdb.sqltypes.DuckDBPyType]]:
    """Place, from 1, name and type of each column."""
    named = zip(relation.columns, relation.types, strict=True)
    return [(place, name, kind) for place, (name, kind) in enumerate(named, 1)]


def _projected(relation: Relation, columns: list[str]) -> Relation:
    return relation.project(", ".join(f"{text} AS c{place}" for place, text in enumerate(columns)))


def _text(place: int, kind: duckdb.sqltypes.DuckDBPyType) -> str:
    return f"to_json(#{place})::VARCHAR" if kind.id in NESTED else f"#{place}::VARCHAR"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
