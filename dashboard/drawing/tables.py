"""Tables of view rows. Numbers have units, and names are shortened, with the full name on hover."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.drawing import component, formatting
from ingest import server

WRITTEN: dict[str, Callable[[Any], str]] = {
    "moment": formatting.moment,
    "ns": formatting.duration,
    "bytes": formatting.size,
    "percent": formatting.percent,
    "count": formatting.mean_count,
    "GB/s": formatting.rate,
    "bytes/s": formatting.size_per_second,
    "FLO": formatting.operations,
    "FLO/s": formatting.operations_per_second,
    "TFLO/s": formatting.operation_rate,
    "TB/s": formatting.bandwidth,
}
NAMES = {"name", "op", "kernel", "before_kernel", "after_kernel", "host_op", "host_frame", "module"}
MAX_CELL_LENGTH = 4_000  # maximum characters of a cell on the page; downloads have the full text
SCROLL_HEIGHT = "470px"  # the height of a table that scrolls, about 15 rows
# Maximum characters of a name that the browser gets; it cuts names that do not fit.
MAX_NAME_LENGTH = 400
HERE = Path(__file__).parent
FOR_SQL = re.compile(
    r" \(`[^`]*`\)|, as (?:in|there)(?: `\w+`)?|, (?:ns|bytes|0 to 100)\b|; (?:always )?null [^;]*"
)
LABELS = {
    "device_ns": "device time",
    "self_ns": "self",
    "total_ns": "total",
    "dur_ns": "duration",
    "bubbles": "gaps",
    "busy_ns": "busy",
    "span_ns": "span",
    "percent": "%",
    "op": "operator",
    "idle_percent": "idle",
    "device_name": "device",
    "shared_bytes": "shared memory",
    "peak_bytes": "peak memory",
    "computation_flo": "computation",
    "memory_bytes": "memory",
    "flo_per_s": "FLOPS",
    "bytes_per_s": "bandwidth",
    "mfu_percent": "MFU",
    "peak_percent": "% of peak",
    "bandwidth_percent": "% of bandwidth",
    "tflop_per_s": "rate",
    "tb_per_s": "memory traffic",
    "known_percent": "known work",
    "saved_ns": "could save",
}


def unit_of(column: str) -> Callable[[Any], str] | None:
    """Return the function that formats a column's values, by its name, or None."""
    if column.endswith("_from_to"):
        return str
    if column == "change_percent":
        return formatting.percent_change
    unit = server.column_unit(column)
    written = WRITTEN[unit] if unit else None
    if written and column.startswith("change_"):
        return partial(formatting.change, written=written)
    return written


def label(column: str) -> str:
    """Return the heading of a column."""
    return LABELS.get(column, column.removesuffix("_ns").replace("_", " "))


def clipped(frame: pd.DataFrame, longest: int = MAX_CELL_LENGTH) -> pd.DataFrame:
    """Return the frame with long texts cut."""
    texts = frame.select_dtypes(["object", "string"])
    return frame.assign(**{name: texts[name].map(partial(_clip, longest)) for name in texts})


def _clip(longest: int, value: Any) -> Any:
    if isinstance(value, str) and len(value) > longest:
        return value[:longest] + "…"
    if isinstance(value, list):
        return [_clip(longest, item) for item in value]
    return value


def show(
    frame: pd.DataFrame,
    relation: str | Sequence[str] | None,
    *,
    key: str,
    hidden: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    bars: Sequence[str] = (),
    colours: Sequence[str] = (),
    stacks: Sequence[str] = (),
    sparklines: Sequence[str] = (),
    ages: Sequence[str] = (),
    numbers: Sequence[str] = (),
    ids: Sequence[str] | None = None,
    select: Literal["single-row", "multi-row"] | None = None,
    selected: Sequence[int] = (),
    on_select: Callable[[list[int]], None] | None = None,
    depths: Sequence[int] | None = None,
    is_unfolded: bool = False,
    rest_px: int | None = None,
) -> list[int]:
    """Draw a table of rows without empty columns. Return the indices of selected rows.

    Headings show on hover what the columns of `relation`, or of several relations, mean.

    bars          columns with a bar in each cell; bars of negative values point to the left
    colours       the colours of the rows' bars, which are then longer
    stacks        columns with lists of parts: percent, colour and text
    sparklines    columns with lists of times
    ages          columns with times, shown as how long ago they were
    numbers       columns with texts that are aligned like numbers
    selected      rows that are selected at first; with `on_select`, on each run
    on_select     called with the rows that the user selects, before the page is redrawn
    ids           identify the rows if their order can change
    depths        the rows are a tree in this order, with these depths; the first column is a name
    is_unfolded   whether all rows of the tree show at first, and not only its upper levels
    rest_px       height of the page above and below the table, which fills the rest of the window
    """
    frame = clipped(frame.drop(columns=list(hidden)))
    full = [column for column in frame if not frame[column].map(formatting.missing).all()]
    frame = frame[full or list(frame.columns)]
    relations = [relation] if isinstance(relation, str) else relation or []
    comments = {
        column: meaning
        for each in relations
        for column, meaning in server.column_meanings(each).items()
    }
    kinds = {
        **dict.fromkeys(NAMES, "name"),
        **dict.fromkeys(bars, "bar"),
        **dict.fromkeys(stacks, "stack"),
        **dict.fromkeys(sparklines, "spark"),
        **dict.fromkeys(ages, "age"),
    }
    columns = [
        _column(
            frame[column],
            kind=kinds.get(str(column), "text"),
            heading=(labels or {}).get(column) or label(column),
            help=_without_sql(_comment(comments, str(column))),
            is_number=column in numbers,
            colours=colours if column in bars else (),
        )
        for column in frame.columns
    ]
    kept = component.state(key)
    ticked = list(selected)
    if kept is not None and on_select is None:
        ticked = [row for row in kept["rows"] if row < len(frame)]

    names = list(ids) if ids is not None else list(map(str, range(len(frame))))
    count_key = f"{key}-ticks"  # key of the number of the user's ticks that `ticked` includes

    def ticked_others() -> None:
        if on_select and (event := component.state(key)["ticked"]) is not None:
            st.session_state[count_key] = event["count"]
            on_select([names.index(name) for name in event["ids"] if name in names])

    component.load(HERE, "table", "grid").draw(
        key,
        data={
            "columns": columns,
            "select": select,
            "ids": names,
            "depths": None if depths is None else list(map(int, depths)),
            "isUnfolded": is_unfolded,
            "selected": [names[row] for row in ticked],
            "ticks": st.session_state.get(count_key, 0),
            "height": f"max({SCROLL_HEIGHT}, 100vh - {rest_px}px)" if rest_px else SCROLL_HEIGHT,
            "isControlled": on_select is not None,
        },
        default={"rows": ticked},
        on_rows_change=lambda: None,
        on_ticked_change=ticked_others,
    )
    return ticked


def _column(
    values: pd.Series,
    kind: str,
    heading: str,
    help: str,
    is_number: bool,
    colours: Sequence[str],
) -> dict[str, Any]:
    """Return a column for the component: its texts, tooltips, and values for sorting."""
    unit = unit_of(str(values.name))
    known = [None if formatting.missing(value) else value for value in values]
    write = _WRITTEN.get(kind) or unit or _text
    texts = [formatting.NONE if value is None else write(value) for value in known]
    if kind == "name":
        texts = _distinct(texts, known)
    tooltip = _TOOLTIPS.get(kind)
    return {
        "name": str(values.name),
        "heading": heading,
        "help": help,
        "kind": kind,
        "sorts": kind != "stack" and not is_number and unit is not str,
        "isShare": unit is formatting.percent,
        "colours": list(colours),
        "isNumber": kind != "spark"
        and (is_number or unit is not None or pd.api.types.is_numeric_dtype(values)),
        "texts": texts,
        "titles": tooltip and ["" if value is None else tooltip(value) for value in known],
        "values": [_plain(value) for value in known],
    }


def _distinct(texts: list[str], names: list[Any]) -> list[str]:
    """Return the short names, but full names if different names have the same short name."""
    several = pd.DataFrame({"text": texts, "name": names}).groupby("text")["name"].nunique()
    return [
        str(name)[:MAX_NAME_LENGTH] if several[text] > 1 else text
        for text, name in zip(texts, names, strict=True)
    ]


def _comment(comments: dict[str, str], column: str) -> str:
    """Return the view's comment on a column, which may be named `change` or `percent` there."""
    names = (column, column.removesuffix("_ns"), column.removeprefix("change_"))
    return next((comments[name] for name in names if name in comments), "")


def _without_sql(comment: str) -> str:
    """Return a column comment without the notes for SQL users, for example units and nulls."""
    return FOR_SQL.sub("", comment).replace("`", "").strip()


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | np.ndarray) else str(value)


def _times(values: Any) -> str:
    """Return the shortest and the longest of some times as a text."""
    return " to ".join(dict.fromkeys(map(formatting.duration, (min(values), max(values)))))


_WRITTEN: dict[str, Callable[[Any], str]] = {
    "name": partial(formatting.short_name, width=MAX_NAME_LENGTH),
    "age": formatting.age,
    "stack": lambda parts: ", ".join(text for _, _, text in parts),
    "spark": _times,
}


_TOOLTIPS: dict[str, Callable[[Any], str]] = {"name": str, "age": formatting.moment}


def _plain(value: Any) -> Any:
    """Return a cell as a JSON value."""
    if isinstance(value, list | np.ndarray):
        return [_plain(each) for each in value]
    if isinstance(value, pd.Timestamp):
        return value.isoformat()
    return value.item() if isinstance(value, np.generic) else value
