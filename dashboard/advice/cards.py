"""The card of a piece of advice: what was found, what to try, and links to the evidence."""

from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.widgets import advice_kinds, menu, timeline_link
from dashboard.widgets.view import View
from ingest.server import Query, select

MAX_ROWS = 200
NAME_WIDTH = 110
SHORT_NS = 10_000  # kernels with a mean time below this are short


def show(piece: Any, view: View) -> None:
    """Draw the card of a row of macro `advice_of_steps`."""
    kind = advice_kinds.kinds()[piece.kind]
    with st.container(border=True, key=f"advice-{piece.kind}"):
        left, right = st.columns([1, 4], gap="medium")
        with left:
            st.metric(
                "at most",
                formatting.duration(piece.bound_ns),
                formatting.percent(piece.percent),
                delta_color="off",
                delta_arrow="off",
            )
        with right:
            gain = (
                ""
                if formatting.missing(piece.gain_ns) or piece.gain_ns == piece.bound_ns
                else f" The gain on the critical path is {formatting.duration(piece.gain_ns)}."
            )
            st.markdown(
                f"**{advice_kinds.title(kind, view.is_host)}**  \n"
                f"{formatting.literal(piece.finding)}{gain}"
            )
            if not formatting.missing(piece.kernel):
                short = formatting.short_name(piece.kernel, NAME_WIDTH)
                st.markdown(
                    f"Mostly: {formatting.literal(short)}",
                    help=None if short == piece.kernel else formatting.literal(piece.kernel),
                )
            st.caption(f"Try: {formatting.literal(piece.remedy)}")
            in_row = _most_in_a_row(view) if piece.kind == "small_kernels" else None
            with st.container(horizontal=True):
                _links(piece, view)
                if in_row:
                    st.page_link(
                        st.session_state["pages"]["operators"],
                        label="Kernel sequences",
                        icon=":material/bar_chart:",
                        query_params={**view.address(), "level": "op", "name": in_row},
                    )
            if not formatting.missing(kind.evidence):
                _evidence(kind, view)


def _links(piece: Any, view: View) -> None:
    """Draw links to the pages that show the evidence, with its rows selected."""
    pages = st.session_state["pages"]
    here = view.address()
    if not formatting.missing(piece.cause):
        st.page_link(
            pages["bubbles"],
            label=f"Gaps, on page Bubbles: {piece.cause}",
            icon=":material/hourglass_empty:",
            query_params={**here, "cause": piece.cause},
        )
    for level, name in (("kernel", piece.kernel), ("leaf", piece.op)):
        if not formatting.missing(name):
            st.page_link(
                pages["operators"],
                label="Calls, on page Operators",
                icon=":material/bar_chart:",
                query_params={**here, "level": level, "name": name},
            )
    _in_timeline(piece, view)
    if piece.kind == "straggler":
        st.page_link(
            pages["ranks"],
            label="What takes it longer, on page Ranks",
            icon=":material/groups:",
            query_params={"run": here["run"]},
        )
    if piece.kind == "below_limits":
        st.page_link(
            pages["roofline"],
            label="All operators, on page Roofline",
            icon=":material/speed:",
            query_params=here,
        )
    if piece.kind == "host_bound" and formatting.missing(piece.cause):
        st.page_link(
            pages["operators"],
            label="The host's operators",
            icon=":material/bar_chart:",
            query_params=here,
        )


def _most_in_a_row(view: View) -> str | None:
    """Show the operator with the most short kernels in a row. Return its name, or None."""
    is_short = f"device_ns < {SHORT_NS} * calls * length"
    query = select(
        f"name, length, calls, device_ns, {is_short} AS is_short",
        "kernel_sequences",
        {**view.of_device(), "level": "op", "length >": 1},
        arguments=(view.run, *view.steps.bounds),
        order_by="is_short DESC, length * calls DESC, name, sequence",
        limit=1,
    )
    row = next(data.rows(query).itertuples(), None)
    if row is None or not row.is_short:
        return None
    times = formatting.counted(int(row.calls), "time")
    st.markdown(
        f"**{formatting.literal(row.name)}** launches {row.length:,} short kernels in a row, "
        f"{times}, for a total of {formatting.duration(row.device_ns)}. Can they be fused?"
    )
    return str(row.name)


def _in_timeline(piece: Any, view: View) -> None:
    """Draw a link to the longest gap or call of a piece of advice, in the steps of the view."""
    if view.device is None or view.is_host:
        return
    if not formatting.missing(piece.cause):
        table, where, label = "bubbles", {"cause": piece.cause}, "Longest gap"
    elif not formatting.missing(piece.kernel):
        table, where, label = "kernels", {"name": piece.kernel}, "Longest call"
    else:
        return
    query = select(
        "start_ns, dur_ns",
        table,
        {**view.of_steps(), **where},
        order_by="dur_ns DESC, start_ns",
        limit=1,
    )
    for longest in data.rows(query).itertuples():
        times = (int(longest.start_ns), int(longest.dur_ns))
        label = f"{label}, in the timeline"
        timeline_link.show(view.address(), view.device.rank, *times, label=label)


def _evidence(kind: Any, view: View) -> None:
    """Show the rows behind the numbers, once the user opens the section."""
    source, names, order = kind.evidence, kind.evidence_of, kind.evidence_order
    if not formatting.missing(kind.evidence_sums):
        columns = f"{names}, {kind.evidence_sums}"
        query = select(columns, source, view.of_steps(), group_by=names, order_by=order)
    else:  # compilations, which belong to a rank
        rank = view.device.rank if view.device else None
        where = {"run_id": view.run, "rank": rank, "is_in_measured_step": True}
        query = select(names, source, where, order_by=order)
    opened = st.expander(
        "Evidence",
        key=f"evidence-{kind.kind}-{view.key}",
        on_change="rerun",
        icon=":material/table_rows:",
    )
    if opened.open:
        with opened:
            _table(query, source, kind.kind)


def _table(query: Query, view: str, key: str) -> None:
    frame = data.rows(query)
    tables.show(
        frame.head(MAX_ROWS),
        view,
        key=f"evidence-rows-{key}",
        labels={
            "launch_idle_ns": "idle before: launch",
            "host_idle_ns": "idle before: host",
            "idle_ns": "idle after",
        },
    )
    menu.show({key: query}, view)
    if len(frame) > MAX_ROWS:
        st.caption(f"The first {MAX_ROWS} of {len(frame):,} rows. The menu has all of them.")
