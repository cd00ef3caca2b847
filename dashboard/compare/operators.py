"""The aligned operators and kernels of two runs: faster, slower, fused, or in one run only."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from dashboard.compare import detail, modules, op_rows, sections
from dashboard.compare.op_rows import Filter, Overview, Sums
from dashboard.compare.pair import Pair
from dashboard.drawing import colours, formatting, tables
from dashboard.widgets import menu, url

MAX_ROWS = 500
HELP = (
    "**fused**: one compiled kernel replaces several operators. **more** or **fewer calls**: a "
    "change of more than 5%. **same**: within 5%. "
    "**only in the first** or **second**: no match in the other run."
)
MIN_CHANGES = ("0", "0.1", "1", "5")  # percent of the first run's wall time
SEARCH_PIXELS, MIN_CHANGE_PIXELS = 330, 190
MIN_CHANGE_HELP = (
    "In percent of the first run's wall time. The sums of modules include all changes."
)
HEADINGS = {
    "base_ns": "from",
    "other_ns": "to",
    "change_ns": "change",
    "change_percent": "change, %",
}
COUNTED = ("calls", "kernels", "launches")
COLUMNS = [
    "status",
    "name",
    "shapes",
    *HEADINGS,
    *(f"{what}_from_to" for what in COUNTED),
    "evidence",
    "module",
    "host_frame",
]


def show(pair: Pair, wall_ns: float) -> None:
    """Show modules, the table of operators, and the details of the selected row.

    `wall_ns` is the first run's wall time.
    """
    heading = menu.heading_line(sections.TITLES[sections.OPERATORS], sections.OPERATORS)
    every = op_rows.overview(pair)
    if not every.total.rows:
        st.info(
            "The measured steps of both runs have no operators and no device activities, so there "
            "is nothing to align. The timelines below show what was recorded.",
            icon=":material/search_off:",
        )
        return
    wanted = _controls(pair, every, wall_ns)
    shown = op_rows.rows(pair, op_rows.query_of(pair, wanted, MAX_ROWS))
    if shown.empty:
        _sums(pair, wanted, every.total, op_rows.sums(shown))
        st.info("No rows match. Clear the search or the filters.", icon=":material/search_off:")
        return
    modules.show(pair, every, replace(wanted, least_ns=0))
    row = _table(pair, shown, wanted)
    with heading:
        menu.show({"operators": op_rows.query_of(pair, wanted)}, "op-diff")
    _sums(pair, wanted, every.total, op_rows.sums(shown))
    if row is not None:
        detail.show(pair, row)


def _controls(pair: Pair, every: Overview, wall_ns: float) -> Filter:
    """Show search, statuses and least change. Return the filter, with the module in the URL."""
    names = {op_rows.STATUSES[status]: status for status in every.statuses}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=SEARCH_PIXELS):
            search = url.search("name, module or source")
        least = st.selectbox(
            "Hide changes under, %",
            MIN_CHANGES,
            key="min",
            bind="query-params",
            width=MIN_CHANGE_PIXELS,
            help=MIN_CHANGE_HELP,
        )
        chosen = st.pills(
            "Status",
            list(names),
            selection_mode="multi",
            key="status",
            bind="query-params",
            width="content",
            help=HELP,
        )
    statuses = tuple(names[name] for name in chosen if name in names)
    return Filter(search, statuses, modules.selected(pair), float(least) / 100 * wall_ns)


def _table(pair: Pair, frame: pd.DataFrame, wanted: Filter) -> pd.Series | None:
    """Show the rows. Return the selected one, which is also in the URL."""
    ids = list(frame["row_id"])
    selected = st.query_params.get("row")
    rows = tables.show(
        _written(frame),
        "op_diff",
        key=f"op-diff-{pair.key}-{wanted}",
        labels=HEADINGS | {f"{what}_from_to": what for what in COUNTED},
        bars=["change_ns"],
        colours=[colours.CHANGES[status] for status in frame["status"]],
        select="single-row",
        selected=[ids.index(selected)] if selected in ids else [],
    )
    chosen = frame.iloc[rows[0]] if rows else None
    url.remember("row", None if chosen is None else str(chosen["row_id"]))
    return chosen


def _written(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns with values, and counts that changed as `from → to`.

    Shapes tell rows of the same name apart.
    """
    shown = frame.assign(
        status=frame["status"].map(op_rows.STATUSES),
        shapes=frame["shapes"].where(frame["name"].duplicated(keep=False)),
    )
    for what in COUNTED:
        sides = [frame[f"base_{what}"], frame[f"other_{what}"]]
        if all(side.isna().all() for side in sides):
            continue
        if what != "calls" and sides[0].equals(sides[1]):
            continue
        base, other = (side.map(formatting.mean_count) for side in sides)
        shown[f"{what}_from_to"] = op_rows.from_to(base, other)
    return shown[
        [column for column in COLUMNS if column in shown and not shown[column].isna().all()]
    ]


def _sums(pair: Pair, wanted: Filter, total: Sums, shown: Sums) -> None:
    """Show the sums of the rows that are shown, of those that are not, and of all rows."""
    hidden = total.without(shown)
    text = f"All {total.rows:,} rows: {_times(total)}."
    if hidden.rows:
        text = f"Shown: {formatting.counted(shown.rows, 'row')}, {_times(shown)}. "
        text += f"Not shown: {formatting.counted(hidden.rows, 'row')}, {_times(hidden)}. "
        if wanted.least_ns and (smaller := op_rows.smaller(pair, wanted)):
            text += f"Of these, {smaller:,} changed by less than "
            text += f"{formatting.duration(wanted.least_ns)}. "
        text += f"All {total.rows:,}: {_times(total)}."
    st.caption(text + " Click a row to see the operators of both sides." * bool(shown.rows))


def _times(sums: Sums) -> str:
    times = f"{formatting.duration(sums.base_ns)} → {formatting.duration(sums.other_ns)}"
    return f"{times} ({formatting.change(sums.other_ns - sums.base_ns)})"
