"""The strip of a whole recording: how busy the device and the host were, and the memory."""

import pandas as pd

from dashboard import data
from dashboard.drawing import charts, colours, formatting, lanes
from dashboard.query import call
from dashboard.widgets import menu, timeline, timeline_chart, zoom
from dashboard.widgets.view import View
from ingest import units

BINS = 300
TICKS = 6
COLUMNS = "start_ns, end_ns, part, part_ns, percent"
NO_BOXES = ["lane", "start", "end", "colour", "text"]


def show(view: View, start_ns: int, whole: int, shown: tuple[int, int], *, zooms: bool) -> None:
    """Draws the chart and highlights the stretch `shown`. If it `zooms`, a drag selects another.

    `start_ns` is the Unix time at which the recording begins, `whole` its length, ns.
    """
    assert view.device
    stretch = [start_ns, start_ns + whole, BINS]
    of_rank = [view.run, view.device.rank]
    queries = {"host": call(COLUMNS, "host_occupancy", [*of_rank, *stretch], "start_ns, part")}
    if not view.is_host:
        of_device = [*of_rank, view.device.device, *stretch]
        device = call(COLUMNS, "device_occupancy", of_device, "start_ns, part")
        queries = {"device": device, **queries}
    of_memory = [*of_rank, view.device.device, *stretch]
    queries["memory"] = call("start_ns, end_ns, used_bytes", "memory_over_time", of_memory, "bin")
    menu.heading("Recording", queries, "recording", files=str(view.run))
    frames = {
        what: timeline.since_start(data.rows(query), start_ns) for what, query in queries.items()
    }
    memory = frames.pop("memory")
    parts = {part for frame in frames.values() for part in frame["part"]}
    strips = {what: timeline_chart.strip(frame) for what, frame in frames.items()}
    if len(memory):
        strips["memory"] = _memory_strip(memory)
    timeline_chart.legend(parts)
    ticks = [(at, units.position(round(at), whole)) for at in charts.ticks(0, whole, TICKS)]
    steps = timeline.since_start(timeline.steps_between(view, *stretch[:2]), start_ns)
    lanes.draw(
        pd.DataFrame(columns=NO_BOXES),
        [],
        lanes.Axis(0, whole, ticks, "since the first event"),
        key=f"recording-{view.run}-{view.device.label}",
        alt=f"The recording of {view.run}: how busy it was, and its memory",
        file=f"{view.run}-recording",
        legend=timeline_chart.meanings(parts),
        strips=strips,
        shown=shown,
        marks=timeline_chart.step_marks(steps, 0, whole),
        on_zoom=zoom.TRACE.to if zooms else None,
    )


def _memory_strip(memory: pd.DataFrame) -> pd.DataFrame:
    """The memory of each stretch, of the most that there was."""
    most = memory["used_bytes"].max()
    return memory.assign(
        start=memory["start_ns"],
        end=memory["end_ns"],
        colour=colours.NEUTRAL,
        percent=100 * memory["used_bytes"] / (most or 1),
        when=timeline_chart.when(memory),
        text=[f"memory in use: {formatting.size(used)}" for used in memory["used_bytes"]],
    )
