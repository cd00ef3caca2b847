"""A query's result, and its conversion to other formats."""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from ingest.sandbox import writer

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Result:
    """A query's rows, up to the sandbox's limits, and the query's time.

    `cut_at` is the limit that cut the rows off, such as `64 MiB`; empty if the result is complete.
    """

    table: pa.Table
    seconds: float = 0.0
    cut_at: str = ""

    @property
    def complete(self) -> bool:
        """Whether the result has all rows."""
        return not self.cut_at

    def part(self, rows: int, columns: int) -> "Result":
        """Return a result with only the first `rows` rows and the first `columns` columns."""
        indices = range(min(columns, self.table.num_columns))
        return replace(self, table=self.table.select(list(indices)).slice(0, rows))

    @property
    def numeric_columns(self) -> set[str]:
        """The names of the columns of numbers, dates, times and intervals."""
        return {field.name for field in self.table.schema if _is_numeric(field.type)}

    def frame(self) -> "pd.DataFrame":
        """Return the rows as a pandas DataFrame.

        Columns whose values pandas cannot represent exactly become text. Integer columns with nulls
        keep an integer type.
        """
        import pandas as pd

        table = _with_text(self.table, _has_no_pandas_type)
        integers = {
            pa.type_for_alias(name.lower()): pd.api.types.pandas_dtype(name)
            for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
        }
        return table.to_pandas(types_mapper=integers.get)

    def csv(self) -> bytes:
        """Return the rows as CSV. Lists, structs and maps are written as JSON."""
        with duckdb.connect() as connection:
            rows = connection.from_arrow(_numbered(self.table))
            return "".join(writer.csv_lines(rows, self.table.column_names)).encode()

    def parquet(self) -> bytes:
        """Return the rows as Parquet. Types that Parquet lacks, such as intervals, become text."""
        buffer = io.BytesIO()
        table = _with_text(self.table, lambda kind: not _fits_parquet(kind))
        pq.write_table(table, buffer, compression="zstd")
        return buffer.getvalue()


def narrow(table: pa.Table) -> pa.Table:
    """Convert decimal columns back to BIGINT if their values fit.

    DuckDB sums BIGINT to HUGEINT, and Arrow turns that into a decimal.
    """
    for index, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type) and field.type.scale == 0:
            try:
                values = table.column(index).cast(pa.int64())
            except pa.ArrowInvalid:
                continue
            table = table.set_column(index, field.name, values)
    return table


def _has_no_pandas_type(kind: pa.DataType) -> bool:
    """Return whether pandas lacks a type for `kind` with the same precision and range."""
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
    """Return whether `kind` is a type of numbers, text, booleans, dates or times."""
    kind = getattr(kind, "storage_type", kind)  # extension types such as JSON and UUID
    return bool(
        pa.types.is_primitive(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_string(kind)
        or pa.types.is_dictionary(kind)
        or pa.types.is_null(kind)
    ) and not _is_interval(kind)


def _fits_parquet(kind: pa.DataType) -> bool:
    if pa.types.is_map(kind) and pa.types.is_null(kind.key_type):  # the type of `MAP {}`
        return False
    if pa.types.is_nested(kind) and not pa.types.is_union(kind):
        fields = [kind.field(index) for index in range(kind.num_fields)]
        return bool(fields) and all(_fits_parquet(field.type) for field in fields)
    return _is_plain(kind) or bool(pa.types.is_binary(kind))


def _with_text(table: pa.Table, becomes_text: Callable[[pa.DataType], bool]) -> pa.Table:
    """Convert the columns whose type `becomes_text` selects to text."""
    indices = [index for index, field in enumerate(table.schema) if becomes_text(field.type)]
    if not indices:
        return table
    with duckdb.connect() as connection:
        texts = writer.texts(connection.from_arrow(_numbered(table.select(indices))))
    for index, text in zip(indices, texts.columns, strict=True):
        table = table.set_column(index, table.column_names[index], text)
    return table


def _numbered(table: pa.Table) -> pa.Table:
    """Rename the columns to `c0`, `c1`, …, because DuckDB needs unique names."""
    return table.rename_columns([f"c{index}" for index in range(table.num_columns)])
