"""A query's rows, and the forms that they can be had in."""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from ingest.console import writer

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Result:
    """A query's rows, as far as the console's limits go."""

    table: pa.Table
    seconds: float = 0.0
    cut_at: str = ""  # the limit that cut the rows off, "64 MiB" for instance

    @property
    def complete(self) -> bool:
        """Whether these are all rows."""
        return not self.cut_at

    def part(self, rows: int, columns: int) -> "Result":
        """The first rows of the first columns."""
        places = range(min(columns, self.table.num_columns))
        return replace(self, table=self.table.select(list(places)).slice(0, rows))

    @property
    def numeric_columns(self) -> set[str]:
        """The columns of numbers, moments and intervals."""
        return {field.name for field in self.table.schema if _is_numeric(field.type)}

    def frame(self) -> "pd.DataFrame":
        """The rows as a pandas DataFrame; whole, as text, where pandas has no such type.

        Integers stay integers where some are null.
        """
        import pandas as pd

        table = _with_text(self.table, _has_no_pandas_type)
        integers = {
            pa.type_for_alias(name.lower()): pd.api.types.pandas_dtype(name)
            for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
        }
        return table.to_pandas(types_mapper=integers.get)

    def csv(self) -> bytes:
        """The rows as CSV; lists, structs and maps as JSON."""
        with duckdb.connect() as connection:
            rows = connection.from_arrow(_numbered(self.table))
            return "".join(writer.csv_lines(rows, self.table.column_names)).encode()

    def parquet(self) -> bytes:
        """The rows as Parquet; what it has no type for, such as intervals, as text."""
        buffer = io.BytesIO()
        table = _with_text(self.table, lambda kind: not _fits_parquet(kind))
        pq.write_table(table, buffer, compression="zstd")
        return buffer.getvalue()


def narrow(table: pa.Table) -> pa.Table:
    """Sums of BIGINT are HUGEINT in DuckDB and decimals in Arrow: integers again where they fit."""
    for index, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type) and field.type.scale == 0:
            try:
                values = table.column(index).cast(pa.int64())
            except pa.ArrowInvalid:
                continue
            table = table.set_column(index, field.name, values)
    return table


def _has_no_pandas_type(kind: pa.DataType) -> bool:
    """Whether pandas has no type for it, or one of fewer digits or of fewer moments."""
    return bool(
        pa.types.is_nested(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_temporal(kind)
        or _is_interval(kind)
    )


def _is_numeric(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_temporal(kind)
        or _is_interval(kind)
    )


def _is_interval(kind: pa.DataType) -> bool:
    return bool(pa.types.is_interval(kind))


def _is_plain(kind: pa.DataType) -> bool:
    """A number, a text, a truth or a moment."""
    kind = getattr(kind, "storage_type", kind)  # of JSON, UUID and the like
    return bool(
        pa.types.is_primitive(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_string(kind)
        or pa.types.is_dictionary(kind)
        or pa.types.is_null(kind)
    ) and not _is_interval(kind)


def _fits_parquet(kind: pa.DataType) -> bool:
    if pa.types.is_nested(kind) and not pa.types.is_union(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return bool(fields) and all(_fits_parquet(field.type) for field in fields)
    return _is_plain(kind) or bool(pa.types.is_binary(kind))


def _with_text(table: pa.Table, is_meant: Callable[[pa.DataType], bool]) -> pa.Table:
    """The table with some columns as text."""
    places = [place for place, field in enumerate(table.schema) if is_meant(field.type)]
    if not places:
        return table
    with duckdb.connect() as connection:
        texts = writer.texts(connection.from_arrow(_numbered(table.select(places))))
    for place, text in zip(places, texts.columns, strict=True):
        table = table.set_column(place, table.column_names[place], text)
    return table


def _numbered(table: pa.Table) -> pa.Table:
    """With other names: two columns may have the same."""
    return table.rename_columns([f"c{place}" for place in range(table.num_columns)])
