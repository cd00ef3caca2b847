"""A piece of advice as a card: what was found, what to try, and the way to the evidence."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import data
from dashboard.query import Query, select
from dashboard.widgets import formatting, show_sql, tables
from dashboard.widgets.run_picker import Device

MOST_ROWS = 200
NAME_WIDTH = 110


@dataclass(frozen=True)
class Kind:
    """How a kind of advice is called and coloured, and the view that holds its evidence.

    `evidence`: the view's columns, its name, whether it has a device, and its order.
    """

    title: str
    short: str
    colour: str
    evidence: tuple[str, str, bool, str] | None = None


KINDS = {
    "host_bound": Kind("Idle: the host launches late", "host", "host"),
    "small_kernels": Kind(
        "Kernels shorter than their launch",
        "small kernels",
        "launch",
        (
            "name, step_device_ns, step_launch_idle_ns, step_host_idle_ns, step_calls, calls",
            "short_kernels",
            True,
            "step_device_ns + step_launch_idle_ns DESC, device_ns DESC, name",
        ),
    ),
    "recompiled": Kind(
        "Compiled while measured",
        "compilation",
        "compile",
        (
            "compile_id, compiled_frame, is_recompile, dur_ns, reason, evidence",
            "compilations",
            False,
            "dur_ns DESC NULLS LAST, compile_id",
        ),
    ),
    "blocking": Kind(
        "Idle: the host waited for the device",
        "waits",
        "sync",
        (
            "step_bubble_ns, step_bubbles, bubble_ns, bubbles, wait, copy, wait_frame",
            "waits",
            True,
            "step_bubble_ns DESC, bubble_ns DESC, wait, wait_frame",
        ),
    ),
    "dataloader": Kind("Idle: loading data", "loading data", "dataloader"),
    "exposed_communication": Kind(
        "Communication that nothing hides", "communication", "exposed_communication"
    ),
    "exposed_copy": Kind("Copies that nothing hides", "copies", "exposed_copy"),
    "float_matmul": Kind(
        "float32 where tensor cores could work",
        "float32",
        "compute",
        (
            "op, step_device_ns, step_calls, device_ns, calls, kernels, kernel",
            "float_matmuls",
            True,
            "step_device_ns DESC, device_ns DESC, op",
        ),
    ),
}


def title(kind: str, on_host: bool) -> str:
    """What a kind of advice is about; of a run without a device, in words that suit it."""
    return "Between operators: Python" if on_host and kind == "host_bound" else KINDS[kind].title


def show(piece: Any, run: str, device: Device, on_host: bool) -> None:
    """The card of a row of view `advice`."""
    kind = KINDS[piece.kind]
    with st.container(border=True, key=f"advice-{piece.kind}"):
        figure, words = st.columns([1, 4], gap="medium")
        with figure:
            st.metric(
                "at most",
                formatting.duration(piece.bound_ns),
                formatting.percent(piece.percent),
                delta_color="off",
                delta_arrow="off",
            )
        with words:
            st.markdown(f"**{title(piece.kind, on_host)}**  \n{formatting.literal(piece.finding)}")
            if not formatting.missing(piece.kernel):
                short = formatting.short_name(piece.kernel, NAME_WIDTH)
                st.markdown(
                    f"Most of it: {formatting.literal(short)}",
                    help=None if short == piece.kernel else formatting.literal(piece.kernel),
                )
            st.caption(f"Try: {formatting.literal(piece.remedy)}")
            with st.container(horizontal=True):
                _links(piece, run, device)
            if kind.evidence:
                _evidence(piece, kind.evidence, run, device)


def _links(piece: Any, run: str, device: Device) -> None:
    """To the pages that show the evidence, at the place that it is about."""
    pages = st.session_state["pages"]
    here = {"run": run, **({} if device.device is None else {"device": device.label})}
    if not formatting.missing(piece.cause):
        st.page_link(
            pages["bubbles"],
            label=f"Its gaps, on page Bubbles: {piece.cause}",
            icon=":material/hourglass_empty:",
            query_params={**here, "cause": piece.cause},
        )
    for level, name in (("kernel", piece.kernel), ("leaf", piece.op)):
        if not formatting.missing(name):
            st.page_link(
                pages["operators"],
                label="Its calls, on page Operators",
                icon=":material/bar_chart:",
                query_params={**here, "level": level, "name": name},
            )
    if piece.kind == "host_bound" and formatting.missing(piece.cause):
        st.page_link(
            pages["operators"],
            label="The host's operators",
            icon=":material/bar_chart:",
            query_params=here,
        )


def _evidence(piece: Any, evidence: tuple[str, str, bool, str], run: str, device: Device) -> None:
    """The rows behind the figures, fetched when they are asked for."""
    columns, view, has_device, order = evidence
    where = {"run_id": run, **(device.where() if has_device else {"rank": device.rank})}
    if view == "compilations":
        where["is_in_measured_step"] = True
    query = select(columns, view, where, order_by=order)
    opened = st.expander(
        "The evidence",
        key=f"evidence-{piece.kind}-{run}-{device.label}",
        on_change="rerun",
        icon=":material/table_rows:",
    )
    if opened.open:
        with opened:
            _table(query, view, piece.kind)


def _table(query: Query, view: str, key: str) -> None:
    frame = data.rows(query)
    empty = [column for column in frame.columns if frame[column].isna().all()]
    tables.show(
        frame.head(MOST_ROWS),
        view,
        key=f"evidence-rows-{key}",
        hidden=empty,
        labels={
            "step_device_ns": "its time",
            "step_calls": "calls",
            "device_ns": "time, all steps",
            "calls": "calls, all steps",
            "step_launch_idle_ns": "idle before: launch",
            "step_host_idle_ns": "idle before: host",
            "step_bubble_ns": "idle after",
            "step_bubbles": "gaps",
            "bubble_ns": "idle, all steps",
            "bubbles": "gaps, all steps",
        },
        widths={"wait": 160, "copy": 200, "wait_frame": 430, "reason": 520, "kernel": 330},
    )
    with st.container(horizontal=True):
        show_sql.show(query, key)
        tables.downloads(query, view, f"evidence-{key}")
    if len(frame) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS} of {len(frame):,}.")
