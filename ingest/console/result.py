"""A query's rows, and the forms that they can be had in."""

import io
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

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
    def figures(self) -> set[str]:
        """The columns of numbers, moments and intervals."""
        return {field.name for field in self.table.schema if _is_figure(field.type)}

    def frame(self) -> "pd.DataFrame":
        """The rows as a pandas DataFrame; whole, as text, where pandas has no such type.

        Integers stay integers where some are null.
        """
        import pandas as pd

        table = _with_text(self.table, _has_no_pandas_type)
        return table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)

    def csv(self) -> bytes:
        """The rows as CSV; lists, structs and maps as JSON."""
        buffer = io.BytesIO()
        flat = _with_text(self.table, lambda kind: not _is_plain(kind))
        pa_csv.write_csv(flat, buffer, pa_csv.WriteOptions(quoting_style="needed"))
        return buffer.getvalue()

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


def _is_figure(kind: pa.DataType) -> bool:
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
    """The table with some columns as text: JSON, or what Python prints where JSON has no form."""
    for index, field in enumerate(table.schema):
        if is_meant(field.type):
            text = [None if not v.is_valid else _text(v) for v in table.column(index)]
            table = table.set_column(index, field.name, pa.array(text, pa.string()))
    return table


def _text(value: pa.Scalar) -> str:
    try:
        plain = _with_intervals_as_text(value.as_py(maps_as_pydicts="lossy"))
        return json.dumps(plain, default=str) if isinstance(plain, dict | list) else str(plain)
    except (ValueError, OverflowError, pa.ArrowException):  # a moment beyond Python's
        return _arrow_text(value)


def _with_intervals_as_text(value: Any) -> Any:
    """The value; intervals in it as 1 month 3 days 00:00:00.5, for JSON takes them for lists."""
    if isinstance(value, dict):
        return {key: _with_intervals_as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_intervals_as_text(item) for item in value]
    if not isinstance(value, pa.MonthDayNano):
        return value
    months, days, nanoseconds = value
    units = [
        f"{count} {unit}{'' if abs(count) == 1 else 's'}"
        for count, unit in ((months, "month"), (days, "day"))
        if count
    ]
    seconds, fraction = divmod(abs(nanoseconds), 10**9)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    clock += f".{fraction:09}".rstrip("0").rstrip(".")
    sign = "-" if nanoseconds < 0 else ""
    return " ".join([*units, sign + clock] if nanoseconds or not units else units)


def _arrow_text(value: pa.Scalar) -> str:
    """What Arrow makes of a value: it casts single ones, and prints most of the nested ones."""
    with suppress(pa.ArrowException):
        return str(value.cast(pa.string()))
    with suppress(pa.ArrowException):
        return " ".join(pa.array([value], value.type).to_string().split())
    return str(value.type)
