"""The memory curve of a device, divided by owners. It can be zoomed, and a click picks a moment."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import colours, formatting
from dashboard.memory import allocations, chart, chosen_moment
from dashboard.memory.chosen_moment import Moment
from dashboard.memory.stretch import Stretch
from dashboard.widgets import menu, zoom
from dashboard.widgets.step_picker import Steps
from ingest import server
from ingest.server import DeviceMemory, reports, select

BINS = 240
MAX_OWNERS = len(colours.OWNERS)
MAX_MARKS = 400
LEVELS = {
    "frame": "the innermost line of your code",
    "module": "the innermost nn.Module",
    "op": "the innermost operator",
    "category": "its purpose: parameters, activations, gradients, …",
    allocations.LEVEL: f"the {allocations.MAX_ALLOCATIONS} largest allocations, each over its life",
}
PREFERRED = ("frame", "op", "category", "module")
AXES = ("time", "order")


def levels_of(device: DeviceMemory) -> list[str]:
    """Return the levels with known owners on this device.

    The best default comes first, and single allocations come last.
    """
    frame = _at_the_peak(device)
    known = set(frame["level"][frame["is_known"]])
    levels = [level for level in PREFERRED if level in known]
    return [*levels, allocations.LEVEL] if device.allocations else levels


def _at_the_peak(device: DeviceMemory) -> pd.DataFrame:
    """Return the owners at every level at the peak.

    These are the rows of view `memory_by_owner`, which is slower for a single device.
    """
    query = select(
        "level, name, is_known, bytes",
        "memory_by_owner_at('moment')",
        given=device.at(device.peak_ordinal),
        order_by="bytes DESC, name",
    )
    return data.rows(query)


def controls(device: DeviceMemory, levels: Sequence[str]) -> tuple[str, str]:
    """Return the axis and level, which are in the URL. Show controls for those with a choice."""
    axes = list(AXES) if device.span_ns else ["order"]
    axis, level = axes[0], (levels[0] if levels else PREFERRED[0])
    with st.container(horizontal=True):
        if len(axes) > 1 and device.has_history:
            axis = st.segmented_control(
                "Over",
                axes,
                default=axis,
                required=True,
                key="axis",
                bind="query-params",
                on_change=zoom.MEMORY.reset,
                help="**order**: every allocation and free has the same width.",
            )
        if len(levels) > 1:
            level = st.segmented_control(
                "Divided by",
                levels,
                default=level,
                required=True,
                key="by",
                bind="query-params",
                help="  \n".join(f"**{name}**: {LEVELS[name]}" for name in levels),
            )
    return str(axis), str(level)


@st.fragment
def show(device: DeviceMemory, axis: str, level: str, moment: Moment, steps: Steps) -> None:
    """Draw the range in the URL, by default the steps. A drag zooms, and a click picks a moment."""
    if st.session_state.pop("moment_picked", False):
        st.rerun()  # the whole page, because other sections show the moment too
    whole = device.span_ns if axis == "time" else max(device.actions - 1, 1)
    since, until = zoom.MEMORY.visible_range(whole, _of_steps(device, axis, whole, steps))
    stretch = Stretch(axis, since, until)
    is_single = level == allocations.LEVEL
    bins = allocations.BINS if is_single else BINS
    curve = select(
        "position, bin, ordinal, time_ns, action, used_bytes, reserved_bytes",
        "memory_curve",
        arguments=[*device.arguments, axis, since, until, bins],
        order_by="ordinal",
    )
    if is_single:
        bands = allocations.query(device, axis, since, until, bins)
    else:
        bands = select(
            "position, ordinal, time_ns, name, is_known, owner_ordinal, bytes",
            "memory_by_owner_over_time",
            arguments=[*device.arguments, level, axis, since, until, bins, MAX_OWNERS],
            order_by="ordinal, owner_ordinal",
        )
    marks = select(
        "kind, name, start_position, end_position, ordinal",
        "memory_marks",
        arguments=[*device.arguments, axis, since, until],
        order_by="end_position - start_position DESC, start_position",
        limit=MAX_MARKS,
    )
    held = data.rows(bands)
    queries = {"curve": curve, "bands": bands, "marks": marks}
    menu.heading("Memory in use", queries, f"{device.run_id}-memory")
    key = f"memory-{device.key}"
    zoom.MEMORY.controls(key, since, until, whole, stretch.described(whole))
    if held.empty:
        st.info("Nothing was allocated or freed in this range.", icon=":material/search_off:")
        return
    divided = _of_allocations(device, held) if is_single else _of_owners(device, level, held)
    chart.draw(
        device,
        stretch,
        data.rows(curve),
        divided,
        data.rows(marks),
        moment,
        key=f"memory-{device.key}-{axis}-{level}-{since}-{until}-{moment.ordinal}",
        on_zoom=zoom.MEMORY.to,
        on_pick=_pick,
    )
    st.caption(_caption(device, divided))


def _of_owners(device: DeviceMemory, level: str, held: pd.DataFrame) -> chart.Bands:
    colour_of = _colours(device, level, _largest(held))
    return chart.Bands(held, colour_of, colours.OTHERS if colour_of else colours.OWNERS[0])


def _of_allocations(device: DeviceMemory, held: pd.DataFrame) -> chart.Bands:
    """Return bands of single allocations, coloured by their owners at the best known level."""
    level = next((one for one in levels_of(device) if one != allocations.LEVEL), PREFERRED[0])
    found = allocations.details(device, level, held)
    colour_of = _colours(device, level, allocations.owners(found))
    return allocations.bands(
        device, reports.memory.LEVELS.get(level, level), held, found, colour_of
    )


def _of_steps(device: DeviceMemory, axis: str, whole: int, steps: Steps) -> tuple[int, int]:
    """Return the range of the steps on the axis, or the full axis if it lacks the steps."""
    if steps.is_whole:
        return 0, whole
    query = select(
        "min(start_ns) AS start_ns, max(end_ns) AS end_ns, min(start_ordinal) AS start_ordinal, "
        "max(end_ordinal) AS end_ordinal",
        "memory_steps",
        {**device.where(), **steps.where()},
    )
    (row,) = data.rows(query).itertuples()
    if axis == "time":
        first_ns = device.first_ns or 0
        ends = (row.start_ns - first_ns, row.end_ns - first_ns)
    else:
        ends = (row.start_ordinal, row.end_ordinal)
    since, until = (
        at_end if formatting.missing(end) else min(max(0, int(end)), whole)
        for end, at_end in zip(ends, (0, whole), strict=True)
    )
    return since, until


def _caption(device: DeviceMemory, bands: chart.Bands) -> str:
    used = "Allocated memory"
    if device.origin == "snapshot":
        used += ", including memory that waits to be freed"
    largest = "."
    if bands.singles is not None:
        count = formatting.counted(len(bands.singles.about), "largest allocation")
        largest = f". Bands show the {count} over their lives, the oldest at the bottom."
    elif len(bands.colour_of) > 1:
        largest = f", by its {len(bands.colour_of)} largest owners."
    return f"{used}{largest} Drag to zoom in. Click to see below what held the memory at a moment."


def _pick(ordinal: int) -> None:
    chosen_moment.choose(ordinal)
    st.session_state["moment_picked"] = True


def _largest(bands: pd.DataFrame) -> dict[str, bool]:
    """Return the owners with a band, largest first, and whether each is known."""
    named = bands.dropna(subset="name").sort_values("owner_ordinal").drop_duplicates("name")
    return dict(zip(named["name"], named["is_known"].astype(bool), strict=True))


def _colours(device: DeviceMemory, level: str, owners: Mapping[str, bool]) -> dict[str, str]:
    """Return a colour for each owner.

    Colours are assigned by size at the peak, so that they stay the same at every zoom. `owners`
    maps each owner to whether it is known.
    """
    peak = _at_the_peak(device)
    known = list(peak["name"][(peak["level"] == level) & peak["is_known"]].unique())
    ranking = {name: known.index(name) if name in known else len(known) for name in owners}
    colour_of: dict[str, str] = {}
    for name in sorted(owners, key=lambda name: (ranking[name], name)):
        if not owners[name]:
            colour_of[name] = colours.UNKNOWN_OWNERS[name == server.names.BEFORE_TRACE]
            continue
        free = [colour for colour in colours.OWNERS if colour not in colour_of.values()]
        preferred = colours.OWNERS[ranking[name] % MAX_OWNERS]
        colour_of[name] = preferred if preferred in free else free[0]
    return {name: colour_of[name] for name in owners}
