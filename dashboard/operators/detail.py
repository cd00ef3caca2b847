"""The details of a row of the ranking: kernels, shapes and calls."""

from itertools import groupby
from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.widgets import menu, split, timeline_link
from dashboard.widgets.step_picker import Steps
from dashboard.widgets.view import View
from ingest.server import Query, Scalar, select

MAX_CALLS = 500
MAX_SEQUENCES = 200
IN_SEQUENCE = 40  # characters of a kernel's name in a sequence
SHOWN_NAME = 4_000
NOTHING = "Nothing was recorded."
SHAPES = "shapes_text(input_dims, input_types) AS shapes"
# How the operator of an activity in a CUDA graph is known, by `ranked_kernels.evidence`.
EVIDENCE = {
    "names": "the names of their kernels are those of the capture",
    "order": "the capture has as many activities, in the same order",
    "annotation": "the program named their nodes",
}


def show(view: View, level: str, name: str) -> None:
    """Show the details of the ticked row, in the steps of the view."""
    _heading(name)
    if name == "bubble":
        _bubble(view)
    elif level == "kernel":
        _kernel(view, name)
    else:
        _operator(view, level, name)


def _heading(name: str) -> None:
    st.subheader(formatting.literal(formatting.short_name(name)), anchor=False)
    if formatting.short_name(name) != name:
        st.code(name[:SHOWN_NAME], language=None, wrap_lines=True, height=120)
        if len(name) > SHOWN_NAME:
            st.caption(f"The first {SHOWN_NAME:,} of the name's {len(name):,} characters.")


def _bubble(view: View) -> None:
    st.markdown("Idle time of the device, by cause:")
    _table(split.causes(view), "bubble_causes", "causes", view.files)
    st.page_link(
        st.session_state["pages"]["bubbles"],
        label="The gaps, and what the host did",
        icon=":material/hourglass_empty:",
    )


def _operator(view: View, level: str, name: str) -> None:
    where = {**view.of_steps(), "level": level, "name": name}
    _in_graphs(where)
    kernels, sequences, shapes, calls = st.tabs(["Kernels", "Sequences", "Shapes", "Calls"])
    with kernels:
        _of_activities("kernel", where, "kernels", view.files)
    with sequences:
        _sequences(view, level, name)
    without = (
        "No call is known for these activities: their launch was not recorded, or they ran in a "
        "CUDA graph. Table graph_nodes has the shapes that graphs recorded."
    )
    with shapes:
        query = select(
            f"shapes, {share_of('device_ns')}, "
            "sum(device_ns)::BIGINT AS device_ns, count(*) AS calls, avg(device_ns) AS mean_ns",
            "op_calls",
            where,
            group_by="shapes",
            order_by="device_ns DESC, shapes",
        )
        _table(query, "op_shapes", "shapes", view.files, without)
    with calls:
        query = select(
            "step, device_ns, dur_ns, activities, module, shapes, concrete_inputs, event_id, "
            "start_ns",
            "op_calls",
            where,
            order_by="device_ns DESC, start_ns",
            limit=MAX_CALLS,
        )
        _calls(query, "op_calls", "calls", *_context(view), without)


def _in_graphs(where: dict[str, Scalar]) -> None:
    """Say how many of the activities ran in CUDA graphs, and how their operator is known."""
    query = select(
        "evidence, count(*) AS activities",
        "ranked_kernels",
        {**where, "evidence IS NOT NULL": True},
        group_by="evidence",
        order_by="evidence",
    )
    for row in data.rows(query).itertuples():
        calls = formatting.counted(row.activities, "call")
        st.caption(f"{calls} ran in CUDA graphs: {EVIDENCE[row.evidence]}.")


def _sequences(view: View, level: str, name: str) -> None:
    """Show the sequences of kernels that the operator launches."""
    query = select(
        "sequence, length, calls, device_ns",
        "kernel_sequences",
        {**view.of_device(), "level": level, "name": name},
        arguments=(view.run, *view.steps.bounds),
        order_by="calls * length DESC, sequence",
        limit=MAX_SEQUENCES,
    )
    frame = data.rows(query)
    if frame.empty:
        st.caption(NOTHING)
        return
    short = formatting.short_names({name for row in frame["sequence"] for name in row}, IN_SEQUENCE)
    names = [
        " → ".join(
            short[name] if (times := len(list(same))) == 1 else f"{times} × {short[name]}"
            for name, same in groupby(row)
        )
        for row in frame["sequence"]
    ]
    tables.show(
        frame.assign(sequence=names),
        "kernel_sequences",
        key="detail-sequences",
        labels={"sequence": "kernels in a row", "length": "kernels"},
        bars=["device_ns"],
    )
    menu.show({"sequences": query}, "sequences", view.files)
    st.caption("torch.compile can fuse short kernels that often run one after the other.")


def _kernel(view: View, name: str) -> None:
    where = {**view.of_steps(), "name": name}
    operators, shapes, calls = st.tabs(["Operators", "Launch shapes", "Calls"])
    with operators:
        ranked = {**view.of_steps(), "level": "op", "kernel": name}
        _of_activities("name", ranked, "operators", view.files)
    with shapes:
        shape = "grid, block, registers, shared_bytes, bytes"
        query = select(
            f"{shape}, {share_of('dur_ns')}, sum(dur_ns)::BIGINT AS device_ns, "
            "count(*) AS calls, avg(dur_ns) AS mean_ns",
            "kernels",
            where,
            group_by=shape,
            order_by="device_ns DESC, grid, block",
        )
        _table(query, "kernel_shapes", "launches", view.files)
    with calls:
        query = select(
            "step, dur_ns, stream, coalesce(graph_op, op) AS op, "
            "coalesce(graph_top_op, top_op, graph_label) AS top_op, grid, block, bytes, event_id, "
            "start_ns, launch_ns",
            "kernels",
            where,
            order_by="dur_ns DESC, start_ns",
            limit=MAX_CALLS,
        )
        _calls(query, "kernels", "kernel-calls", *_context(view))


def _of_activities(column: str, where: dict[str, Scalar], key: str, files: str) -> None:
    """Show device time by kernel name, or by the name of the operator that launched it."""
    query = select(
        f"{column}, {share_of('dur_ns')}, sum(dur_ns)::BIGINT AS device_ns, count(*) AS calls, "
        "avg(dur_ns) AS mean_ns, min(dur_ns) AS min_ns, max(dur_ns) AS max_ns",
        "ranked_kernels",
        where,
        group_by=column,
        order_by=f"device_ns DESC, {column}",
    )
    _table(query, "op_kernels", key, files)


def share_of(column: str) -> str:
    """Return an SQL expression: a group's share of the sum over all groups, in percent."""
    return f"100.0 * sum({column}) / nullif(sum(sum({column})) OVER (), 0) AS percent"


def show_host(run: str, rank: int, op: str, steps: Steps) -> None:
    """Show the details of an operator in a run without a device."""
    where = {
        **{"run_id": run, "rank": rank, "name": op, **steps.where()},
        "is_ranked_on_host(category, name)": True,
    }
    files = f"{run}-{steps.for_files}"
    _heading(op)
    shapes, calls = st.tabs(["Shapes", "Calls"])
    with shapes:
        query = select(
            f"{SHAPES}, {share_of('self_ns')}, sum(self_ns)::BIGINT AS self_ns, "
            "sum(dur_ns)::BIGINT AS total_ns, count(*) AS calls",
            "ops",
            where,
            group_by="shapes",
            order_by="self_ns DESC, shapes",
        )
        _table(query, "host_op_shapes", "host-shapes", files)
    with calls:
        query = select(
            f"step, self_ns, dur_ns, tid, module, {SHAPES}, concrete_inputs, event_id, start_ns",
            "ops",
            where,
            order_by="self_ns DESC, start_ns",
            limit=MAX_CALLS,
        )
        _calls(query, "ops", "host-calls", {"run": run}, rank, files)


def _table(query: Query, of: str, name: str, files: str, nothing: str = NOTHING) -> None:
    frame = data.rows(query)
    if frame.empty:
        st.caption(nothing)
        return
    tables.show(frame, of, key=f"detail-{name}", bars=["percent"])
    menu.show({name: query}, name, files)


def _context(view: View) -> tuple[dict[str, str], int, str]:
    """Return the run's address, the rank, and the prefix of file names, for `_calls`."""
    return view.address(), view.device.rank if view.device else 0, view.files


def _calls(
    query: Query,
    of: str,
    name: str,
    here: dict[str, str],
    rank: int,
    files: str,
    nothing: str = NOTHING,
) -> None:
    """Show calls. A click opens one in the timeline. `here` is the address of the run."""
    frame = data.rows(query)
    if frame.empty:
        st.caption(nothing)
        return

    def clicked(rows: list[int]) -> None:
        for call in frame.iloc[rows].itertuples():
            since_ns: Any = getattr(call, "launch_ns", call.start_ns)
            since_ns = call.start_ns if formatting.missing(since_ns) else since_ns
            times = (int(call.start_ns), int(call.dur_ns), int(since_ns))
            timeline_link.open_on_click(here, rank, *times)

    tables.show(
        frame,
        of,
        key=f"detail-{name}",
        hidden=[column for column in ("start_ns", "launch_ns") if column in frame],
        select="single-row",
        on_select=clicked,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        menu.show({name: query}, name, files)
        most = f"The {MAX_CALLS} longest calls. " if len(frame) == MAX_CALLS else ""
        st.caption(f"{most}Click a call to see it in the timeline.")
