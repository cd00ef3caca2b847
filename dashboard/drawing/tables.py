"""Tables of view rows: figures with units, right-aligned; names short, whole on hover."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import component, formatting

COUNTS = {
    *("calls", "activities", "bubbles", "events", "complete_events", "sources", "problems"),
    *("ranks", "devices", "registers", "allocations", "segments", "actions", "alloc_ordinal"),
    *("gaps", "launches", "short_launches", "long_calls", "long_delays", "max_length", "copies"),
    *("graph_breaks", "break_even_images", "operators", "occurrences"),
    *("boxes", "oprs", "recompiles", "free_ordinal", "base_allocations", "other_allocations"),
}
RATES = {"calls_per_step", "base_calls", "other_calls", "base_kernels", "other_kernels"}
RATES |= {"kernels_saved", "base_launches", "other_launches", "launches_saved", "mean_length"}
CHANGES: dict[str, Callable[[Any], str]] = {
    "change_ns": formatting.change,
    "change_percent": formatting.percent_change,
    "change_bytes": partial(formatting.change, written=formatting.size),
}
UNITS = {
    "computation_flo": formatting.operations,
    "flo_per_s": formatting.operations_per_second,
    "bytes_per_s": formatting.size_per_second,
}
NAMES = {"name", "op", "kernel", "before_kernel", "after_kernel", "host_op", "host_frame", "module"}
LONGEST = 4_000  # characters of a cell that a browser gets; downloads have all of them
TALL = "470px"  # of a table that scrolls: about 15 rows
FILLING = f"max({TALL}, 100vh - 330px)"
WHOLE_NAME = 400  # characters of a name, of which the browser shows what fits
HERE = Path(__file__).parent
FOR_SQL = re.compile(
    r" \(`[^`]*`\)|, as (?:in|there)(?: `\w+`)?|, (?:ns|bytes|0 to 100)\b|; (?:always )?null [^;]*"
)
LABELS = {
    "device_ns": "device time",
    "self_ns": "self",
    "total_ns": "total",
    "dur_ns": "duration",
    "bubble_ns": "idle",
    "bubbles": "gaps",
    "busy_ns": "busy",
    "span_ns": "span",
    "percent": "%",
    "op": "operator",
    "bubble_percent": "idle",
    "device_name": "device",
    "shared_bytes": "shared memory",
    "peak_bytes": "peak memory",
    "computation_flo": "computation",
    "memory_bytes": "memory",
    "flo_per_s": "FLOPS",
    "bytes_per_s": "bandwidth",
}


def unit_of(column: str) -> Callable[[Any], str] | None:
    """How a column's values are written, by its name; None: as they are."""
    if column.endswith("_at"):
        return formatting.moment
    if column in CHANGES:
        return CHANGES[column]
    if column.endswith("_ns"):
        return formatting.duration
    if column == "bytes" or column.endswith("_bytes"):
        return formatting.size
    if column.endswith("percent"):
        return formatting.percent
    if column.endswith("gb_per_s"):
        return formatting.rate
    if column in UNITS:
        return UNITS[column]
    if column in COUNTS:
        return formatting.count
    if column in RATES:
        return formatting.per_step
    if column.endswith("_from_to"):
        return str
    return None


def label(column: str) -> str:
    """The heading of a column."""
    return LABELS.get(column, column.removesuffix("_ns").replace("_", " "))


def clipped(frame: pd.DataFrame, longest: int = LONGEST) -> pd.DataFrame:
    """The frame with the beginning of long texts."""
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
    view: str,
    *,
    key: str,
    hidden: Sequence[str] = (),
    labels: dict[str, str] | None = None,
    bars: Sequence[str] = (),
    colours: Sequence[str] = (),
    stacks: Sequence[str] = (),
    sparklines: Sequence[str] = (),
    ages: Sequence[str] = (),
    figures: Sequence[str] = (),
    ids: Sequence[str] | None = None,
    select: Literal["single-row", "multi-row"] | None = None,
    selected: Sequence[int] = (),
    on_select: Callable[[list[int]], None] | None = None,
    fills_window: bool = False,
) -> list[int]:
    """A table of a view's rows; the positions of those ticked. Empty columns are left out.

    Headings explain themselves on hover with the view's own comments. `bars` are columns with a bar
    in each cell, long ones in the rows' `colours` where these are given; of negative values they
    lead to the left. `stacks` are lists of parts of a whole: their percent, colour and text.
    `sparklines` are lists of times, `ages` moments written as how long ago they were, `figures`
    texts that are aligned as figures. `selected` rows are ticked at first. With `on_select`, they
    are ticked each time, and `on_select` gets the rows that a user ticks before the page is drawn
    again; `ids` tell the rows apart where their order can change. A table that fills the window is
    as tall as that, less the room that a page needs above it.
    """
    frame = clipped(frame.drop(columns=list(hidden)))
    full = [column for column in frame if not frame[column].map(formatting.missing).all()]
    frame = frame[full or list(frame.columns)]
    comments = data.column_comments(view)
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
            help=_in_words(_comment(comments, str(column))),
            is_figure=column in figures,
            colours=colours if column in bars else (),
        )
        for column in frame.columns
    ]
    kept: Any = st.session_state.get(key)
    ticked = list(selected)
    if kept is not None and on_select is None:
        ticked = [row for row in kept["rows"] if row < len(frame)]

    names = list(ids) if ids is not None else list(map(str, range(len(frame))))
    count_key = f"{key}-ticks"  # of the user's ticks, how many the rows below have heard of

    def ticked_others() -> None:
        if on_select and (told := st.session_state[key]["ticked"]) is not None:
            st.session_state[count_key] = told["count"]
            on_select([names.index(name) for name in told["ids"] if name in names])

    component.load(HERE, "table", "grid")(
        key=key,
        data={
            "columns": columns,
            "select": select,
            "ids": names,
            "selected": [names[row] for row in ticked],
            "ticks": st.session_state.get(count_key, 0),
            "height": FILLING if fills_window else TALL,
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
    is_figure: bool,
    colours: Sequence[str],
) -> dict[str, Any]:
    """What the component gets of a column: texts to show and to hover, and values to sort by."""
    unit = unit_of(str(values.name))
    known = [None if formatting.missing(value) else value for value in values]
    write = _WRITTEN.get(kind) or unit or _text
    texts = [formatting.NONE if value is None else write(value) for value in known]
    if kind == "name":
        texts = _apart(texts, known)
    said = _HOVERED.get(kind)
    return {
        "name": str(values.name),
        "heading": heading,
        "help": help,
        "kind": kind,
        "sorts": kind != "stack" and not is_figure and unit is not str,
        "isShare": unit is formatting.percent,
        "colours": list(colours),
        "isFigure": kind != "spark"
        and (is_figure or unit is not None or pd.api.types.is_numeric_dtype(values)),
        "texts": texts,
        "titles": said and ["" if value is None else said(value) for value in known],
        "values": [_plain(value) for value in known],
    }


def _apart(texts: list[str], names: list[Any]) -> list[str]:
    """Short names, but whole ones where different names have the same short one."""
    several = pd.DataFrame({"text": texts, "name": names}).groupby("text")["name"].nunique()
    return [
        str(name)[:WHOLE_NAME] if several[text] > 1 else text
        for text, name in zip(texts, names, strict=True)
    ]


def _comment(comments: dict[str, str], column: str) -> str:
    """The view's comment on a column, which may have another name there: `change` or `percent`."""
    names = (column, column.removesuffix("_ns"), column.removeprefix("change_"))
    return next((comments[name] for name in names if name in comments), "")


def _in_words(comment: str) -> str:
    """A column's comment as its heading says it: cells have the unit, and empty ones a dash."""
    return FOR_SQL.sub("", comment).replace("`", "").strip()


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | np.ndarray) else str(value)


def _times(values: Any) -> str:
    """The shortest and the longest of some times."""
    return " to ".join(dict.fromkeys(map(formatting.duration, (min(values), max(values)))))


_WRITTEN: dict[str, Callable[[Any], str]] = {
    "name": partial(formatting.short_name, width=WHOLE_NAME),
    "age": formatting.age,
    "stack": lambda parts: ", ".join(text for _, _, text in parts),
    "spark": _times,
}


_HOVERED: dict[str, Callable[[Any], str]] = {"name": str, "age": formatting.moment}


def _plain(value: Any) -> Any:
    """A cell as JSON has it."""
    if isinstance(value, list | np.ndarray):
        return [_plain(each) for each in value]
    if isinstance(value, pd.Timestamp):
        return value.isoformat()
    return value.item() if isinstance(value, np.generic) else value
