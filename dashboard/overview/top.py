"""What takes most of some steps: the first kernels, operators and pieces of advice."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.query import Query, select
from dashboard.widgets import advice_kinds, colours, formatting, short_table
from dashboard.widgets.run_picker import Device
from dashboard.widgets.step_picker import Steps

MOST = 5
MOST_ADVICE = 2


def kernels(run: str, device: Device, steps: Steps) -> Query:
    """The first kernels by device time."""
    return _of_device("kernel", "Kernels", run, device, steps)


def operators(run: str, device: Device, steps: Steps) -> Query:
    """The first operators by the device time of what they launched."""
    return _of_device("op", "Operators", run, device, steps)


def host_operators(run: str, device: Device, steps: Steps) -> Query:
    """The first operators by their own time on the host."""
    query = select(
        "name, self_ns, calls",
        "host_ranking_of_steps",
        {"rank": device.rank},
        arguments=(run, *steps.bounds),
        order_by="self_ns DESC, name",
        limit=MOST,
    )
    _table("Operators", data.rows(query), "self_ns")
    return query


def advice(run: str, device: Device) -> Query:
    """The best pieces of advice, each with the most that it can save."""
    query = select(
        "kind, bound_ns, percent, finding, remedy",
        "advice",
        {"run_id": run, **device.where()},
        order_by=advice_kinds.ORDER,
        limit=MOST_ADVICE,
    )
    st.markdown("**Advice**")
    frame = data.rows(query)
    for piece in frame.itertuples():
        title = advice_kinds.title(piece.kind, device.device is None)
        st.markdown(
            f"**{formatting.duration(piece.bound_ns)}** ({formatting.percent(piece.percent)}) at "
            f"most: {title}  \n:small[{formatting.literal(piece.finding)}]"
        )
    if frame.empty:
        st.caption("Nothing stands out.")
    st.page_link(
        st.session_state["pages"]["advice"],
        label="All that was looked at",
        icon=":material/lightbulb:",
    )
    return query


def _of_device(level: str, title: str, run: str, device: Device, steps: Steps) -> Query:
    query = select(
        "name, device_ns, calls",
        "ranking_of_steps",
        {"level": level, "name <>": "bubble", **device.where()},
        arguments=(run, *steps.bounds),
        order_by="device_ns DESC, name",
        limit=MOST,
    )
    _table(title, data.rows(query), "device_ns")
    return query


def _table(title: str, frame: pd.DataFrame, time: str) -> None:
    st.markdown(f"**{title}**")
    short_table.show(list(frame["name"]), list(frame[time]), list(frame["calls"]), colours.HOST)
