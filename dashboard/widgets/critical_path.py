"""The critical path of a step, over time and summed by kind and name."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting, lanes, tables
from dashboard.widgets import menu, timeline_chart
from dashboard.widgets.view import View
from ingest import server
from ingest.server import Query, Scalar, select, units

BINS = 300
TICKS = 6
MAX_NAMES = 8
# Kinds that take the colour of a part with another name.
LIKE = {"queue": "fill", "thread": "overlap", "unexplained": "unknown"}
HELP = (
    "The work that determined the step's wall time. Only changes to this work can make the step "
    "shorter."
)
GAIN = (
    "Gain: how much earlier the step's work would end if this took no time. It can be less than "
    "the time on the path, because another path then becomes the longest."
)
NO_BOXES = ["lane", "start", "end", "colour", "text"]


def _of(view: View) -> dict[str, Scalar]:
    """Return the conditions for rows of the view's path, or nothing if it has no single path.

    The view has a path if it is about one step, or a recording without steps, in one file.
    """
    is_one = not view.steps.is_whole and view.steps.first == view.steps.last
    if view.device is None or not (is_one or formatting.missing(view.measured.step)):
        return {}
    step: dict[str, Scalar] = {
        "run_id": view.run,
        "rank": view.device.rank,
        "step": view.steps.first,
    }
    files = data.rows(select("DISTINCT source_id", "critical_paths", step))["source_id"]
    return {**step, "source_id": int(files[0])} if len(files) == 1 else {}


def over_time(view: View) -> None:
    """Draw the path as a strip: what the step waited for over time."""
    if not (path := _of(view)):
        return
    query = select(
        "start_ns, end_ns, kind, dur_ns, percent",
        "critical_path_over_time",
        arguments=(*path.values(), BINS),
        order_by="start_ns, kind",
    )
    frame = data.rows(query)
    menu.heading("Critical path", {"path": query}, "critical-path", HELP, files=view.files)
    order = _kinds()
    meanings = {kind: _colour(kind) for kind in order if kind in set(frame["kind"])}
    since = int(frame["start_ns"].min())
    whole = int(frame["end_ns"].max()) - since
    frame = frame.assign(
        start_ns=frame["start_ns"] - since,
        end_ns=frame["end_ns"] - since,
        order=frame["kind"].map(order.index),
    ).sort_values(["start_ns", "order"])
    strip = frame.assign(
        start=frame["start_ns"],
        end=frame["end_ns"],
        colour=frame["kind"].map(meanings),
        when=timeline_chart.when(frame),
        text=[
            f"{kind}: {formatting.duration(taken)}, {formatting.percent(percent)}"
            for kind, taken, percent in zip(
                frame["kind"], frame["dur_ns"], frame["percent"], strict=True
            )
        ],
    )
    charts.legend(meanings)
    ticks = [(at, units.position(round(at), whole)) for at in charts.ticks(0, whole, TICKS)]
    lanes.draw(
        pd.DataFrame(columns=NO_BOXES),
        [],
        lanes.Axis(
            0,
            whole,
            ticks,
            f"since the start of the step; the path takes {formatting.duration(whole)}",
        ),
        key=f"critical-path-{view.key}",
        alt=f"The critical path of {view.steps.label}, over time",
        file=f"{view.files}-critical-path",
        legend=meanings,
        strips={"": strip},
    )


def summary(view: View) -> None:
    """Show the time on the path by kind and by name, with the gain of each."""
    if not (path := _of(view)):
        return
    kinds, names = _of_levels(path, ["kind"]), _of_levels(path, ["call", "kernel"])
    frame = data.rows(kinds)
    menu.heading(
        "On the critical path",
        {"kinds": kinds, "names": names},
        "critical-path",
        HELP,
        files=view.files,
    )
    left, right = st.container(key="roomy-path").columns(2, gap="medium")
    labels = {"on_path_ns": "on the path", "gain_ns": "gain"}
    with left:
        tables.show(
            frame.drop(columns="level"),
            "critical_path_summary",
            key="critical-path-kinds",
            labels={**labels, "name": "kind"},
            bars=["on_path_ns"],
            colours=[_colour(kind) for kind in frame["name"]],
        )
    with right:
        found = data.rows(names)
        tables.show(
            found.assign(level=found["level"].replace({"call": "host"})),
            "critical_path_summary",
            key="critical-path-names",
            labels={**labels, "level": "type"},
            bars=["gain_ns"],
        )
    st.caption(GAIN)


def _of_levels(path: dict[str, Scalar], levels: list[str]) -> Query:
    is_known = {} if levels == ["kind"] else {"gain_ns >": 0}
    return select(
        "level, name, on_path_ns, gain_ns",
        "critical_path_summary",
        {**path, "level": levels, "name <>": "", **is_known},
        order_by="gain_ns DESC NULLS LAST, on_path_ns DESC, name",
        limit=MAX_NAMES if is_known else None,
    )


def _kinds() -> list[str]:
    query = select("kind", "critical_path_kinds", arguments=(), order_by="ordinal")
    return list(data.rows(query)["kind"])


def _colour(kind: str) -> str:
    parts = {part.name for part in server.parts()}
    return colours.of(kind if kind in parts else LIKE[kind])
