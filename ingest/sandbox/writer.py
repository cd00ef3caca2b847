"""Conversion of values to text, as DuckDB writes them, for tables, CSV and JSON."""

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
STRING_OR_NOT_FINITE = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN')
QUOTED_IN_CSV = re.compile(r'[",\r\n]|^$')
NOT_ASCII = re.compile(r"[^\x00-\x7e]")
# Types that Arrow lacks, or that DuckDB converts to Arrow with changed values.
NOT_IN_ARROW = re.compile(r"\b(UHUGEINT|BIT|TIME WITH TIME ZONE)\b")

Relation = duckdb.DuckDBPyRelation


def texts(relation: Relation) -> pa.Table:
    """Return the rows with every value as text. Lists, structs, maps and unions become JSON."""
    columns = [_text(position, kind) for position, _, kind in _columns(relation)]
    return _projected(relation, columns).to_arrow_table().rename_columns(relation.columns)


def csv_lines(relation: Relation, names: Sequence[str]) -> Iterator[str]:
    """Yield the rows as lines of CSV, after a header of these names.

    NULL is written as an empty field, and empty text as `""`. If there is only one column, both are
    `""`.
    """
    return _csv_lines(texts(relation), names)


def _csv_lines(rows: pa.Table, names: Sequence[str]) -> Iterator[str]:
    yield ",".join(map(_csv_field, names)) + "\n"
    for batch in rows.to_batches():
        for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            line = ",".join(map(_csv_field, values))
            yield (line or '""') + "\n"  # readers skip an empty line


def _csv_field(value: str | None) -> str:
    if value is None:
        return ""
    return _quoted(value) if QUOTED_IN_CSV.search(value) else value


def json_objects(relation: Relation) -> Iterator[str]:
    """Yield each row as a JSON object, in ASCII. NaN and infinities become null."""
    finite = "CASE WHEN isfinite(#{0}) THEN #{0} END"
    fields = [
        f"{literal(name)}, {(finite if kind.id in FLOATS else '#{0}').format(position)}"
        for position, name, kind in _columns(relation)
    ]
    texts = _projected(relation, [f"json_object({', '.join(fields)})::VARCHAR"])
    return map(_as_json, texts.to_arrow_table().column(0))


def _as_json(text: pa.Scalar) -> str:
    finite = STRING_OR_NOT_FINITE.sub(
        lambda found: found[0] if found[0].startswith('"') else "null", str(text)
    )
    return NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], finite)


def for_arrow(relation: Relation) -> Relation:
    """Return the relation with text instead of types that Arrow cannot represent."""
    if not any(NOT_IN_ARROW.search(str(kind)) for kind in relation.types):
        return relation
    columns = [
        (_text(position, kind) if NOT_IN_ARROW.search(str(kind)) else f"#{position}")
        + f" AS {_quoted(name)}"
        for position, name, kind in _columns(relation)
    ]
    return relation.project(", ".join(columns))


def _columns(relation: Relation) -> list[tuple[int, str, duckdb.sqltypes.DuckDBPyType]]:
    """Return position (from 1), name and type of each column."""
    named = zip(relation.columns, relation.types, strict=True)
    return [(position, name, kind) for position, (name, kind) in enumerate(named, 1)]


def _projected(relation: Relation, columns: list[str]) -> Relation:
    return relation.project(", ".join(f"{text} AS c{index}" for index, text in enumerate(columns)))


def _text(position: int, kind: duckdb.sqltypes.DuckDBPyType) -> str:
    return f"to_json(#{position})::VARCHAR" if kind.id in NESTED else f"#{position}::VARCHAR"


def _quoted(text: str) -> str:
    """Put a text in double quotes, as SQL does for names and CSV for fields."""
    return '"' + text.replace('"', '""') + '"'
