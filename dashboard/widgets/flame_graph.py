"""A flame graph with a search, and below it the names that took the most."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import streamlit as st

import ingest
from dashboard import data
from dashboard.drawing import charts, colours, formatting, icicle, tables
from dashboard.drawing.icicle import ALL
from dashboard.query import Query, select
from dashboard.widgets import menu

BOX, METRIC = "box", "flame"  # in the address
REDRAWN = "flame_graphs_redrawn"
SEARCH = "find"
MOST_BOXES = 499  # with as many for others, and the whole, fewer than 1,000 in all
MOST_ROWS = 200
FEW = 5  # with more calls around everything, the graph starts at the innermost of them
NEARLY = 0.99  # of the whole counts as everything


class Metric(NamedTuple):
    """A column of `call_stacks`, and the label of the choice."""

    column: str
    label: str


def pick(metrics: Mapping[str, Metric]) -> Metric:
    """What the graph counts, of these by label; at first the first."""
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
    """The graph of calls, which `flame_graph` reads, and the names in it that took most.

    `column` tells the unit of values by its ending. `runs` are what two runs are called, of
    which the graph shows the difference.
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
            f"Red took more in {second} than in {first}, blue less. A box is as wide as the larger "
            "value of each call in it, so that the whole may be more than either run."
        )
    else:
        known = set(boxes["category"])
        charts.legend({b.label: b.colour for kind, b in colours.BOXES.items() if kind in known})
    _way_up(calls, box)
    clicked = icicle.draw(
        boxes,
        written,
        search=search,
        is_compared=runs is not None,
        key=f"{name}-{files}-{column}-{box}-{st.session_state.get(REDRAWN, 0)}",
    )
    if clicked:
        st.query_params[BOX] = clicked
        # Plotly has zoomed by itself: the graph is drawn anew though it may show the same box.
        st.session_state[REDRAWN] = st.session_state.get(REDRAWN, 0) + 1
        st.rerun(scope="fragment")
    names = _names(calls, box, column, search, runs is not None)
    with heading:
        menu.show({"boxes": query, "names": names}, name, files)
    frame = data.rows(names)
    inside = "" if box is None else " inside the box"
    if frame.empty:
        st.caption(f"Nothing{inside} has **{formatting.literal(search)}** in its name.")
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
    said = f"What took the most itself{inside}, by name."
    if len(frame) == MOST_ROWS:
        said += f" The first {MOST_ROWS}; a search finds others."
    if boxes["id"].isna().any():
        said += f" The graph shows the {boxes['id'].count():,} largest boxes."
    st.caption(said)


def _box(calls: Query) -> str | None:
    """The box in the address; else the innermost one that is around nearly all, if many are."""
    asked = st.query_params.get(BOX)
    if asked == ALL:
        return None
    if asked and not data.rows(_select("id", calls, asked, most=1)).empty:
        return asked
    boxes = data.rows(_select("id, caller_id, width", calls, None))
    whole = boxes["width"][boxes["caller_id"].isna()].sum()
    wide = boxes[boxes["id"].notna() & (boxes["width"] >= NEARLY * whole)]
    below = dict(zip(wide["caller_id"].fillna(ALL), wide["id"], strict=True))
    around = [ALL]
    while around[-1] in below:
        around.append(str(below[around[-1]]))
    return around[-1] if len(around) > FEW else None


def _way_up(calls: Query, box: str | None) -> None:
    """Buttons that lead out of the box that is looked at."""
    if box is None:
        return
    (row,) = data.rows(select("caller_id, name", "calls", {"id": box}, given={"calls": calls}))[
        ["caller_id", "name"]
    ].itertuples()

    def go(to: str) -> None:
        st.query_params[BOX] = to

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("All", on_click=go, args=[ALL], type="tertiary", icon=":material/fit_width:")
        out = ALL if formatting.missing(row.caller_id) else str(row.caller_id)
        st.button(
            "Caller", on_click=go, args=[out], type="tertiary", icon=":material/arrow_upward:"
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
        limit=MOST_ROWS,
    )


def _select(
    columns: str, calls: Query, box: str | None, most: int | None = MOST_BOXES, **options: Any
) -> Query:
    source = (
        f"flame_graph('calls', from_id := {ingest.literal(box)}, most := {ingest.literal(most)})"
    )
    return select(columns, source, given={"calls": calls}, **options)
