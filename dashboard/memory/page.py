"""Page Memory: what held device memory, and when."""

from collections.abc import Sequence

import streamlit as st

from dashboard.drawing import formatting
from dashboard.memory import (
    advice,
    allocations,
    chosen_moment,
    chunks,
    comparison,
    curve,
    device_memory,
    errors,
    flames,
    report_tabs,
    state,
)
from dashboard.widgets.step_picker import Steps
from dashboard.widgets.view import View
from ingest.server import DeviceMemory

SHOWN_BELOW = {"memory_without_history", "memory_without_addresses"}
MAX_WARNINGS = 5
CAPTURE = """capture run --profile-activities CPU GPU MEM --out run_dir -- script.py
ingest add run_dir/"""


def page(view: View) -> None:
    """Draw the page."""
    runs = [view.run] if view.run else view.runs
    devices = device_memory.devices_of(runs)
    has_chunks = chunks.show(view) if view.run else chunks.compare(runs)
    if not devices:
        if not has_chunks:
            _nothing(runs)
    elif view.run is None:
        comparison.show(runs, devices)
    else:
        rank = view.device.rank if view.device else None
        of_rank = [device for device in devices if device.rank == rank]
        with view.bar:
            device = device_memory.pick(of_rank or devices)
        _run(device, chosen_moment.recorded_steps(device, view.steps))


def _run(device: DeviceMemory, steps: Steps) -> None:
    device_memory.metrics(device)
    _warnings(device)
    errors.show(device)
    advice.show(device)
    levels = curve.levels_of(device)
    _limits(device, levels)
    axis, level = curve.controls(device, levels)
    moment = chosen_moment.moment_of(device, steps)
    if device.has_history:
        curve.show(device, axis, level, moment, steps)
    state.show(device, level if levels else None, moment)
    flames.show(device, moment)
    report_tabs.show(device)


def _warnings(device: DeviceMemory) -> None:
    messages = [text for code, text in device_memory.warnings(device) if code not in SHOWN_BELOW]
    for message in messages[:MAX_WARNINGS]:
        text = formatting.literal(formatting.clipped(message, 400))
        st.warning(text, icon=":material/running_with_errors:")
    if len(messages) > MAX_WARNINGS:
        st.caption(f"{len(messages) - MAX_WARNINGS:,} more warnings are on the page Runs.")


def _limits(device: DeviceMemory, levels: Sequence[str]) -> None:
    """Show the data that the file lacks, and that the page therefore cannot show."""
    if not device.has_history:
        st.info(
            "The snapshot has no history, only the state at one moment. To record a history, call "
            "`torch.cuda.memory._record_memory_history()` before the code that you measure.",
            icon=":material/history_toggle_off:",
        )
    elif device.origin == "timeline":
        st.info(
            "A memory timeline has only categories, without lines of code or addresses.",
            icon=":material/category:",
        )
    elif not device.allocations:
        st.info(
            "No addresses were recorded, so allocations cannot be tracked. The page shows how much "
            "memory was in use, but not what held it. Profiles of PyTorch 2 have addresses.",
            icon=":material/location_off:",
        )
    elif device.device_type == "cpu" and device.origin == "trace":
        st.caption("CPU memory, as the profiler recorded it.")
    if device.has_history and levels == [allocations.LEVEL]:
        st.caption("No stacks, operators, modules or categories were recorded for allocations.")


def _nothing(picked: Sequence[str]) -> None:
    """Show how to record memory, for runs without memory data."""
    subject = "This run has" if len(picked) == 1 else "These runs have"
    st.info(f"{subject} no memory data.", icon=":material/memory_alt:")
    st.markdown(
        "To record the history of the CUDA allocator with the trace, add the activity `MEM`. "
        "`capture flux` and the other capture commands accept it too."
    )
    st.code(CAPTURE, language="bash", wrap_lines=True)
    st.markdown(
        "In your own code, use `torch.profiler.profile(profile_memory=True, with_stack=True)`, "
        "which also works on a CPU. Or take a snapshot, which has the segments and the stack of "
        "each allocation:"
    )
    st.code(
        "torch.cuda.memory._record_memory_history()\n"
        "...  # the code that you measure\n"
        'torch.cuda.memory._dump_snapshot("run_dir/memory.pickle")',
        language="python",
        wrap_lines=True,
    )
