"""The allocator's segments on a device and their contents, drawn to scale."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting, lanes
from dashboard.memory import chosen_moment, curve_marks
from dashboard.memory.chosen_moment import Moment
from dashboard.widgets import menu
from ingest.server import DeviceMemory, select

MAX_SEGMENTS = 600
MAX_BLOCKS = 1_200
MAX_ROWS = 26  # the approximate number of rows in the drawing
GAP = 1 / 500  # the gap between two segments, as a fraction of a row's width
ROW_PIXELS = 18
TICKS = 6
MEANINGS = {
    "allocated": "allocated",
    "pending": "waiting to be freed",
    "stranded": "stranded: free, but cannot be released",
    "free": "free: can be released",
}


@st.fragment
def show(device: DeviceMemory, moment: Moment) -> None:
    """Show the segments, largest first, or a caption if there are none."""
    if device.origin != "snapshot":
        return
    query = select(
        "segment_ordinal, segment_address, segment_bytes, offset_bytes, bytes, state, blocks, "
        "user_frame, is_replayed",
        f"memory_map('moment', {MAX_SEGMENTS}, {MAX_BLOCKS})",
        given=device.at(moment.ordinal),
        order_by="segment_ordinal, offset_bytes",
    )
    menu.heading(
        f"Segments {chosen_moment.name(device, moment)}",
        {"segments": query},
        f"{device.run_id}-segments",
    )
    frame = data.rows(query)
    if frame.empty:
        st.caption("The allocator held no segments on the device at this moment.")
        return
    st.markdown(_summary(frame))
    rows = packed(frame)
    charts.legend(_meanings(frame))
    _draw(device, frame, rows)
    st.caption(_caption(frame))


def _meanings(frame: pd.DataFrame) -> dict[str, str]:
    """Return the colour of each state that occurs, by its label."""
    present = [state for state in MEANINGS if state in set(frame["state"])]
    return {MEANINGS[state]: colours.STATES[state] for state in present}


def packed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the row of each segment, and its offset in the row in bytes.

    Segments are placed largest first, each in the first row with enough space. A row is as wide as
    the largest segment, or wider so that all segments fit into about MAX_ROWS rows.
    """
    segments = frame.drop_duplicates("segment_ordinal")[["segment_ordinal", "segment_bytes"]]
    width = max(segments["segment_bytes"].max(), segments["segment_bytes"].sum() / MAX_ROWS)
    used: list[float] = []
    packing = []
    for segment in segments.itertuples():
        size = int(segment.segment_bytes)
        row = next((row for row, end in enumerate(used) if end + size <= width * 1.05), len(used))
        if row == len(used):
            used.append(0.0)
        packing.append((segment.segment_ordinal, size, row, used[row]))
        used[row] += size + width * GAP
    return pd.DataFrame(packing, columns=["segment_ordinal", "segment_bytes", "row", "offset"])


def _summary(frame: pd.DataFrame) -> str:
    segments = frame["segment_ordinal"].nunique()
    sums = frame.groupby("state")["bytes"].sum()
    parts = [f"**{formatting.counted(segments, 'segment')}**"]
    if "stranded" in sums:
        parts.append(f"**{formatting.size(sums['stranded'])}** stranded between allocations")
    if "free" in sums:
        parts.append(f"**{formatting.size(sums['free'])}** that can be released")
    return ", ".join(parts) + "."


def _caption(frame: pd.DataFrame) -> str:
    sentences = ["Segments are drawn to scale, largest first. A row holds as many as fit."]
    if frame["segment_ordinal"].nunique() == MAX_SEGMENTS:
        sentences.append(f"Only the {MAX_SEGMENTS} largest segments are shown.")
    if (frame["blocks"] > 1).any():
        sentences.append(
            f"The {MAX_BLOCKS:,} largest blocks are drawn separately. Smaller adjacent blocks with "
            "the same state are drawn as one."
        )
    if frame["is_replayed"].any():
        sentences.append(
            "The segments are replayed from the allocator's actions, so memory that rounding adds "
            "to an allocation counts as free."
        )
    return " ".join(sentences)


def _draw(device: DeviceMemory, frame: pd.DataFrame, packing: pd.DataFrame) -> None:
    drawn = frame.merge(packing[["segment_ordinal", "row", "offset"]], on="segment_ordinal")
    start = drawn["offset"] + drawn["offset_bytes"]
    address = drawn["segment_address"].map(int) + drawn["offset_bytes"].map(int)
    boxes = drawn.assign(
        lane=drawn["row"],
        start=start,
        end=start + drawn["bytes"],
        colour=drawn["state"].map(colours.STATES),
        text=[
            f"{formatting.size(row.bytes)} at {formatting.address(at)}: {MEANINGS[row.state]}"
            + (f", {row.blocks:,} blocks" if row.blocks > 1 else "")
            for row, at in zip(drawn.itertuples(), address, strict=True)
        ],
        segment=[
            f"{formatting.size(row.segment_bytes)} at {formatting.address(row.segment_address)}"
            for row in drawn.itertuples()
        ],
    )
    width = float((packing["offset"] + packing["segment_bytes"]).max())
    size, unit = charts.size_axis(width)
    found = charts.ticks(0, width / size, TICKS)
    ticks = [(at * size, charts.tick_text(at, unit)) for at in found]
    lanes.draw(
        boxes,
        [_label(row) for _, row in packing.groupby("row")],
        lanes.Axis(0, width, ticks),
        key=f"segments-{device.key}",
        file=f"{device.run_id}-segments",
        legend=_meanings(frame),
        alt="Segments of device memory and their contents, to scale",
        details={"user_frame": "line of code", "segment": "segment"},
        lane_pixels=ROW_PIXELS,
        side_pixels=curve_marks.SIDE_PIXELS,
    )


def _label(group: pd.DataFrame) -> str:
    """Return the number and sizes of the segments in a row."""
    largest, smallest = (
        formatting.size(value)
        for value in (group["segment_bytes"].max(), group["segment_bytes"].min())
    )
    if largest == smallest:
        return largest if len(group) == 1 else f"{len(group)} × {largest}"
    return f"{len(group)} × {smallest} to {largest}"
