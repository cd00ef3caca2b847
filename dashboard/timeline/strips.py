"""The strips of a recording: how busy device and host were, launch queues, and memory."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from dashboard import data
from dashboard.drawing import charts, colours, formatting, lanes
from dashboard.widgets import menu, timeline, timeline_chart, zoom
from dashboard.widgets.view import View
from ingest.server import call, select, units

BINS = 300
TICKS = 6
COLUMNS = "start_ns, end_ns, part, part_ns, percent"
# Strips of values: the column, and the tooltip of a value.
VALUES: dict[str, tuple[str, Callable[[Any], str]]] = {
    "queue": ("length", lambda length: f"longest queue: {formatting.count(length)} launches"),
    "memory": ("used_bytes", lambda used: f"memory in use: {formatting.size(used)}"),
}
NO_BOXES = ["lane", "start", "end", "colour", "text"]


def show(view: View, start_ns: int, length_ns: int, shown: tuple[int, int], *, zooms: bool) -> None:
    """Draw the chart, with the time range `shown` highlighted.

    `start_ns` is the Unix time at the start of the recording, and `length_ns` is its length. If
    `zooms` is true, a drag selects another range.
    """
    assert view.device
    bins = [start_ns, start_ns + length_ns, BINS]
    of_rank = [view.run, view.device.rank]
    queries = {"host": call(COLUMNS, "host_occupancy", [*of_rank, *bins], "start_ns, part")}
    if not view.is_host:
        of_device = [*of_rank, view.device.device, *bins]
        device = call(COLUMNS, "device_occupancy", of_device, "start_ns, part")
        queries = {"device": device, **queries}
        queries["queue"] = select(
            "start_ns, end_ns, max(length) AS length",
            "queue_length_over_time",
            arguments=of_device,
            group_by="start_ns, end_ns",
            order_by="start_ns",
        )
    of_memory = [*of_rank, view.device.device, *bins]
    queries["memory"] = call("start_ns, end_ns, used_bytes", "memory_over_time", of_memory, "bin")
    heading = menu.heading_line("Recording")
    with heading:
        menu.show(queries, "recording", str(view.run))
    frames = {
        what: timeline.since_start(data.rows(query), start_ns) for what, query in queries.items()
    }
    values = {what: frames.pop(what) for what in ("queue", "memory") if what in frames}
    parts = {part for frame in frames.values() for part in frame["part"]}
    strips = {what: timeline_chart.strip(frame) for what, frame in frames.items()}
    for what, frame in values.items():
        if len(frame):
            column, format_value = VALUES[what]
            texts = [format_value(value) for value in frame[column]]
            strips[what] = timeline_chart.value_strip(frame, column, texts, colours.NEUTRAL)
    with heading:
        timeline_chart.legend(parts)
    ticks = [(at, units.position(round(at), length_ns)) for at in charts.ticks(0, length_ns, TICKS)]
    steps = timeline.since_start(timeline.steps_between(view, *bins[:2]), start_ns)
    lanes.draw(
        pd.DataFrame(columns=NO_BOXES),
        [],
        lanes.Axis(0, length_ns, ticks),
        key=f"recording-{view.run}-{view.device.label}",
        alt=f"The recording of {view.run}: how busy it was, its launch queues, and its memory",
        file=f"{view.run}-recording",
        legend=timeline_chart.meanings(parts),
        strips=strips,
        shown=shown,
        marks=timeline_chart.step_marks(steps, 0, length_ns),
        on_zoom=zoom.TRACE.to if zooms else None,
        is_flat=True,
    )
