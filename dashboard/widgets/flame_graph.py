"""A flame graph with a search, and a table of the names with the most time or memory."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import streamlit as st

import ingest
from dashboard import data
from dashboard.drawing import charts, colours, formatting, icicle, tables
from dashboard.drawing.icicle import ALL
from dashboard.widgets import menu
from ingest.server import Query, select

BOX, METRIC = "box", "flame"  # URL parameters
SEARCH = "find"
MAX_BOXES = 499  # with the root and a box of others below each box, this is fewer than 1,000 boxes
MAX_ROWS = 200
# If more calls than this contain nearly everything, the graph starts at the innermost.
MAX_OUTER_CALLS = 5
NEARLY_ALL = 0.99  # fraction of the width that counts as nearly everything


class Metric(NamedTuple):
    """A column of `call_stacks`, and its label."""

    column: str
    label: str


def pick(metrics: Mapping[str, Metric]) -> Metric:
    """Return the picked metric, by default the first. `metrics` are by label."""
    first = next(iter(metrics))
    if st.session_state.get(METRIC) not in metrics:
        st.session_state.pop(METRIC, None)
    chosen = st.segmented_control(
        "By",
        list(metrics),
        default=first,
        required=True,
        key=METRIC,
        bind="query-params",
        label_visibility="collapsed",
    )
    return metrics.get(str(chosen)) or metrics[first]


def show(
    calls: Query,
    column: str,
    search: str,
    heading: Any,
    *,
    name: str,
    files: str,
    runs: tuple[str, str] | None = None,
) -> None:
    """Show the flame graph of calls, and the names in it that took the most.

    `calls` is the input of the macro `flame_graph`. The ending of `column` is the unit of the
    values. `runs` are the names of two runs whose difference the graph shows.
    """
    written = formatting.size if column.endswith("_bytes") else formatting.duration
    box = _box(calls)
    query = _select("*", calls, box, order_by="height DESC NULLS LAST, id")
    boxes = data.rows(query)
    if boxes.empty:
        st.caption("Nothing was recorded here.")
        return
    if runs:
        first, second = (f"**{formatting.literal(run)}**" for run in runs)
        st.caption(
            f"Red boxes took more in {second} than in {first}, blue boxes less. The width counts "
            "the larger value of each call, so the total may exceed the total of each run."
        )
    else:
        known = set(boxes["category"])
        charts.legend({b.label: b.colour for kind, b in colours.BOXES.items() if kind in known})
    _callers(calls, box)
    icicle.draw(
        boxes,
        written,
        _open,
        search=search,
        is_compared=runs is not None,
        key=f"{name}-{files}-{column}",
    )
    names = _names(calls, box, column, search, runs is not None)
    with heading:
        menu.show({"boxes": query, "names": names}, name, files)
    frame = data.rows(names)
    inside = "" if box is None else " inside the box"
    if frame.empty:
        st.caption(f"No name{inside} contains **{formatting.literal(search)}**.")
        return
    tables.show(
        frame,
        "flame_graph",
        key=f"{name}-names-{box}-{search}",
        labels={
            "self_ns": "self",
            "self_bytes": "self",
            "base_ns": "before",
            "base_bytes": "before",
        },
        bars=[f"change_{column.rpartition('_')[2]}" if runs else "percent"],
        colours=[colours.NEUTRAL] * len(frame) if runs else (),
    )
    caption = f"The names with the largest self values{inside}."
    if len(frame) == MAX_ROWS:
        caption += f" The first {MAX_ROWS} are shown. Search to find others."
    if boxes["id"].isna().any():
        caption += f" The graph shows the {boxes['id'].count():,} largest boxes."
    st.caption(caption)


def _open(box: str) -> None:
    """Put a box into the URL. The graph then shows the calls in it."""
    st.query_params[BOX] = box


def _box(calls: Query) -> str | None:
    """Return the box in the URL, else the default box, or None for the root.

    If many boxes contain nearly everything, the default is the innermost of them.
    """
    chosen = st.query_params.get(BOX)
    if chosen == ALL:
        return None
    if chosen and not data.rows(_select("id", calls, chosen, most=1)).empty:
        return chosen
    boxes = data.rows(_select("id, caller_id, width", calls, None))
    whole = boxes["width"][boxes["caller_id"].isna()].sum()
    wide = boxes[boxes["id"].notna() & (boxes["width"] >= NEARLY_ALL * whole)]
    below = dict(zip(wide["caller_id"].fillna(ALL), wide["id"], strict=True))
    around = [ALL]
    while around[-1] in below:
        around.append(str(below[around[-1]]))
    return around[-1] if len(around) > MAX_OUTER_CALLS else None


def _callers(calls: Query, box: str | None) -> None:
    """Show buttons that lead from the current box to its caller and to the root."""
    if box is None:
        return
    (row,) = data.rows(select("caller_id, name", "calls", {"id": box}, given={"calls": calls}))[
        ["caller_id", "name"]
    ].itertuples()

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("All", on_click=_open, args=[ALL], type="tertiary", icon=":material/fit_width:")
        out = ALL if formatting.missing(row.caller_id) else str(row.caller_id)
        st.button(
            "Caller", on_click=_open, args=[out], type="tertiary", icon=":material/arrow_upward:"
        )
        st.markdown(f"**{formatting.literal(formatting.short_name(str(row.name)))}**")


def _names(calls: Query, box: str | None, column: str, search: str, is_compared: bool) -> Query:
    unit = column.rpartition("_")[2]
    own, base = f"sum(self_value)::BIGINT AS self_{unit}", f"sum(self_base)::BIGINT AS base_{unit}"
    columns = f"name, 100.0 * sum(self_value) / sum(sum(self_value)) OVER () AS percent, {own}"
    if is_compared:
        change = "sum(self_value - self_base)::BIGINT"
        columns = f"name, {base}, {own}, {change} AS change_{unit}"
    every = _select(
        f"{columns}, count(*) AS boxes",
        calls,
        box,
        most=None,
        where={"greatest(self_value, self_base) >": 0},
        group_by="name",
    )
    return select(
        "*",
        "names",
        given={"names": every},
        containing=("name", search),
        order_by=f"abs({'change' if is_compared else 'self'}_{unit}) DESC, name",
        limit=MAX_ROWS,
    )


def _select(
    columns: str, calls: Query, box: str | None, most: int | None = MAX_BOXES, **options: Any
) -> Query:
    source = (
        f"flame_graph('calls', from_id := {ingest.literal(box)}, most := {ingest.literal(most)})"
    )
    return select(columns, source, given={"calls": calls}, **options)
