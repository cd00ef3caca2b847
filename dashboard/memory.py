"""Page Memory: what held the device's memory, and when."""

import re
from collections.abc import Sequence

import streamlit as st

from dashboard import (
    damage,
    formatting,
    memory_compare,
    memory_device,
    memory_errors,
    memory_moment,
    memory_reports,
    memory_state,
    memory_timeline,
    recompiled,
    selection,
)
from dashboard.memory_device import MemoryDevice

SAID_BELOW = re.compile(r": (the snapshot has no history|no addresses were recorded)")
MOST_WARNINGS = 5
CAPTURE = """capture run --profile-activities CPU GPU MEM --out run_dir -- script.py
ingest add run_dir/"""


def page() -> None:
    """The page."""
    st.title("Memory")
    picked: list[str] = st.session_state["runs"]
    selection.question("What held the device's memory, and when?", picked)
    if not picked:
        selection.ask_for_runs()
        return
    damage.warn(picked)
    recompiled.warn(picked)
    devices = memory_device.devices_of(picked)
    if not devices:
        _nothing(picked)
    elif len(picked) > 1:
        memory_compare.show(picked, devices)
    else:
        _run(memory_device.pick(devices))


def _run(device: MemoryDevice) -> None:
    memory_device.figures(device)
    _warnings(device)
    memory_errors.show(device)
    levels = memory_timeline.levels_of(device)
    _limits(device, levels)
    axis, level = memory_timeline.controls(device, levels)
    moment = memory_moment.moment_of(device)
    if device.has_history:
        memory_timeline.show(device, axis, level, moment)
    memory_state.show(device, level if levels else None, moment)
    memory_reports.show(device)


def _warnings(device: MemoryDevice) -> None:
    said = [text for text in memory_device.warnings(device) if not SAID_BELOW.search(text)]
    for warning in said[:MOST_WARNINGS]:
        text = formatting.literal(formatting.clipped(warning, 400))
        st.warning(text, icon=":material/running_with_errors:")
    if len(said) > MOST_WARNINGS:
        st.caption(f"And {len(said) - MOST_WARNINGS:,} more warnings: see the page Runs.")


def _limits(device: MemoryDevice, levels: Sequence[str]) -> None:
    """What the file does not say, so that what is missing below is no surprise."""
    if not device.has_history:
        st.info(
            "The snapshot has no history: only its state is known. Call "
            "`torch.cuda.memory._record_memory_history()` before the code in question to have one.",
            icon=":material/history_toggle_off:",
        )
    elif device.origin == "timeline":
        st.info(
            "A memory timeline has categories only: neither lines of code nor addresses.",
            icon=":material/category:",
        )
    elif not device.elements:
        st.info(
            "No addresses were recorded, so that allocations cannot be followed: the curve is "
            "known, but not what held the memory. Profiles of PyTorch 2 have addresses.",
            icon=":material/location_off:",
        )
    elif device.device == "cpu" and device.origin == "trace":
        st.caption("The memory of the CPU, as the profiler recorded it.")
    if device.has_history and device.elements and not levels:
        st.caption("No stacks, operators, modules or categories were recorded for allocations.")


def _nothing(picked: Sequence[str]) -> None:
    """How to record memory, for runs that have none."""
    those = "This run has" if len(picked) == 1 else "These runs have"
    st.info(f"{those} no memory data.", icon=":material/memory_alt:")
    st.markdown(
        "Record the history of the CUDA allocator beside the trace: the activity `MEM`, which "
        "`capture flux`, `capture sd3` and `capture diffusers` take too."
    )
    st.code(CAPTURE, language="bash")
    st.markdown(
        "In your own code: `torch.profiler.profile(profile_memory=True, with_stack=True)`, which "
        "works on a CPU too, or a snapshot, which knows each allocation's stack and the segments:"
    )
    st.code(
        "torch.cuda.memory._record_memory_history()\n"
        "...  # the code in question\n"
        'torch.cuda.memory._dump_snapshot("run_dir/memory.pickle")',
        language="python",
    )
