"""What is behind a row of the ranking: kernels, shapes and calls."""

import streamlit as st

from dashboard import data
from dashboard.query import Query, Scalar, select
from dashboard.widgets import formatting, show_sql, tables
from dashboard.widgets.run_picker import Device

MOST_CALLS = 500
SHOWN_NAME = 4_000


def show(run: str, device: Device | None, level: str, name: str) -> None:
    """The row that was ticked, of one device or of all."""
    where: dict[str, Scalar] = {"run_id": run, **(device.where() if device else {})}
    _heading(name)
    if name == "bubble":
        _bubble(where)
    elif level == "kernel":
        _kernel(where, name)
    else:
        _operator(where, level, name)


def _heading(name: str) -> None:
    st.subheader(formatting.literal(formatting.short_name(name)), anchor=False)
    if formatting.short_name(name) != name:
        st.code(name[:SHOWN_NAME], language=None, wrap_lines=True, height=120)
        if len(name) > SHOWN_NAME:
            st.caption(f"The name's first {SHOWN_NAME:,} of {len(name):,} characters.")


def _bubble(where: dict[str, Scalar]) -> None:
    st.markdown("Time in which the device was idle, by its cause:")
    query = select(
        "rank, device, cause, bubble_ns, percent, bubbles",
        "bubble_causes",
        where,
        order_by="bubble_ns DESC",
    )
    _table(query, "bubble_causes", "causes")
    st.page_link(
        st.session_state["pages"]["bubbles"],
        label="When it was idle, and what the host did",
        icon=":material/hourglass_empty:",
    )


def _operator(where: dict[str, Scalar], level: str, name: str) -> None:
    where = {**where, "level": level, "name": name}
    kernels, shapes, calls = st.tabs(["Kernels", "Shapes", "Calls"])
    with kernels:
        _table(
            select(
                "rank, device, kernel, class, device_ns, percent, calls, mean_ns, min_ns, max_ns",
                "op_kernels",
                where,
                order_by="device_ns DESC, kernel",
            ),
            "op_kernels",
            "kernels",
        )
    without = "The trace holds no operator for these activities: their launch was not recorded."
    with shapes:
        _table(
            select(
                "rank, device, input_dims, input_types, device_ns, percent, calls, mean_ns",
                "op_shapes",
                where,
                order_by="device_ns DESC",
            ),
            "op_shapes",
            "shapes",
            without,
        )
    with calls:
        _table(
            select(
                "rank, device, step, dur_ns, device_ns, activities, module, input_dims, "
                "concrete_inputs, event_id",
                "op_calls",
                where,
                order_by="device_ns DESC, start_ns",
                limit=MOST_CALLS,
            ),
            "op_calls",
            "calls",
            without,
        )


def _kernel(where: dict[str, Scalar], name: str) -> None:
    operators, shapes, calls = st.tabs(["Operators", "Launch shapes", "Calls"])
    with operators:
        _table(
            select(
                "rank, device, name, device_ns, calls, mean_ns, min_ns, max_ns",
                "op_kernels",
                {**where, "level": "op", "kernel": name},
                order_by="device_ns DESC, name",
            ),
            "op_kernels",
            "operators",
        )
    with shapes:
        _table(
            select(
                "rank, device, grid, block, registers, shared_bytes, bytes, device_ns, percent, "
                "calls, mean_ns",
                "kernel_shapes",
                {**where, "name": name},
                order_by="device_ns DESC",
            ),
            "kernel_shapes",
            "launches",
        )
    with calls:
        _table(
            select(
                "rank, device, stream, step, dur_ns, op, top_op, grid, block, bytes, event_id",
                "kernels",
                {**where, "name": name},
                order_by="dur_ns DESC, start_ns",
                limit=MOST_CALLS,
            ),
            "kernels",
            "kernel-calls",
        )


def show_host(run: str, rank: int, op: str) -> None:
    """An operator of a run without a device."""
    _heading(op)
    shapes, calls = st.tabs(["Shapes", "Calls"])
    with shapes:
        _table(
            select(
                "input_dims, input_types, self_ns, percent, total_ns, calls",
                "host_op_shapes",
                {"run_id": run, "rank": rank, "name": op},
                order_by="self_ns DESC",
            ),
            "host_op_shapes",
            "host-shapes",
        )
    with calls:
        _table(
            select(
                "step, tid, self_ns, dur_ns, module, input_dims, concrete_inputs, event_id",
                "ops",
                {"run_id": run, "rank": rank, "name": op},
                order_by="self_ns DESC, start_ns",
                limit=MOST_CALLS,
            ),
            "ops",
            "host-calls",
        )


def _table(query: Query, view: str, key: str, nothing: str = "Nothing was recorded.") -> None:
    """A table without the columns that are the same, or empty, in all rows."""
    frame = data.rows(query)
    if frame.empty:
        st.caption(nothing)
        return
    always = {"rank", "device"}
    dull = [
        column
        for column in frame.columns
        if (column in always and frame[column].nunique(dropna=False) == 1)
        or frame[column].isna().all()
    ]
    tables.show(frame, view, key=f"detail-{key}", hidden=dull)
    with st.container(horizontal=True):
        show_sql.show(query, key)
        tables.downloads(query, key, f"detail-{key}")
    if len(frame) == MOST_CALLS:
        st.caption(f"The {MOST_CALLS} longest.")
