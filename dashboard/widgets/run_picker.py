"""The pickers for runs, in the sidebar, and for their devices. The URL holds the choices."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets import zoom
from ingest.server import Scalar, select

RUN_KEY = "run"
SHORT_DEVICE = re.compile(r"(?:rank (?P<rank>\d+) )?(?:[a-z]+:)?(?P<device>\d{1,9})")
STEP_KEY = "step"  # its values in the URL: median, all, 3 or 3-7
KEPT_STEP = "kept_step"  # the chosen steps, which the next page shows too


@dataclass(frozen=True)
class Device:
    """A device of a rank, or the host of a rank without devices."""

    rank: int
    device: int | None
    is_host: bool = False

    @property
    def label(self) -> str:
        """The label in the picker and in the URL."""
        if self.is_host:
            return f"rank {self.rank} host"
        return f"rank {self.rank} device {'?' if self.device is None else self.device}"

    def where(self) -> dict[str, Scalar]:
        """Return the conditions for rows of a view about this device."""
        return {"rank": self.rank, "device": self.device}


def pick_runs(run_ids: Sequence[str], is_new_page: bool) -> list[str]:
    """Show the picker in the sidebar. Return the picked runs.

    Runs in the URL that the store does not have are kept for `warn_about_unknown`. On a new page,
    runs in the URL replace the picked runs, because a link may name other runs.
    """
    requested = list(st.query_params.get_all(RUN_KEY))
    if is_new_page and requested:
        st.session_state[RUN_KEY] = list(dict.fromkeys(run for run in requested if run in run_ids))
    if RUN_KEY in st.session_state:  # a run may have been removed since
        requested += st.session_state[RUN_KEY]
        st.session_state[RUN_KEY] = [run for run in st.session_state[RUN_KEY] if run in run_ids]
    elif len(run_ids) == 1 and not requested:
        st.session_state[RUN_KEY] = list(run_ids)
    unknown = dict.fromkeys(run for run in requested if run and run not in run_ids)
    if unknown:
        st.session_state["unknown_runs"] = list(unknown)
    picked = st.multiselect(
        "Runs",
        run_ids,
        key=RUN_KEY,
        bind="query-params",
        placeholder="Pick one or more",
        help="Newest first. The pages show these runs. The URL contains them.",
        on_change=_other_runs,
    )
    return [str(run) for run in picked]


def _other_runs() -> None:
    st.session_state.pop("unknown_runs", None)
    _forget_step()


def _forget_step() -> None:
    """Forget the selected steps and zoom, because they belong to another run."""
    zoom.forget()
    st.query_params.pop(STEP_KEY, None)
    st.session_state.pop(KEPT_STEP, None)


def warn_about_unknown() -> None:
    """Warn about runs in the URL that the store does not have."""
    for run in st.session_state.get("unknown_runs", []):
        if not data.is_left_out(run):  # each page already warns about these
            warn_about(run)


def warn_about(run: str) -> None:
    """Warn that the store does not have a run."""
    st.warning(
        f"There is no run **{formatting.literal(formatting.clipped(run, 120))}** in this store. It "
        "was removed, or the link belongs to another store.",
        icon=":material/search_off:",
    )


def ask_for_runs() -> None:
    """Show a notice on a page that needs a run if none is picked."""
    st.info(
        "Pick a run in the list on the left, or on the page Runs.", icon=":material/arrow_back:"
    )
    st.page_link(st.session_state["pages"]["runs"], label="Runs", icon=":material/list:")


def metrics_of(run: str) -> dict[Device, Any]:
    """Return the row of `run_metrics` of each measured device, the default one first.

    If the run has no devices, its hosts are measured.
    """
    query = select("*", "run_metrics", {"run_id": run}, order_by="is_default DESC, rank, device")
    return {
        Device(
            int(row.rank),
            None if formatting.missing(row.device) else int(row.device),
            is_host=row.measure == "host",
        ): row
        for row in data.rows(query).itertuples()
    }


def choose_by_short_url(key: str, options: Mapping[str, tuple[int, int | None]]) -> None:
    """Choose the option that a short form in the URL names.

    `options` are labels with their rank and device. Short forms are `0`, `cuda:0` and
    `rank 1 cuda:0`. Without a rank, choose the first device with that number.
    """
    short = SHORT_DEVICE.fullmatch(st.query_params.get(key, ""))
    if key in st.session_state or not short:
        return
    for label, (rank, device) in options.items():
        if device == int(short["device"]) and short["rank"] in (None, str(rank)):
            st.session_state[key] = label
            return


def choose(key: str) -> None:
    """Record that the user made this choice. A default is not kept for the next page."""
    st.session_state.setdefault("chosen", set()).add(key)
    if key == "device":
        zoom.forget()
    else:
        _forget_step()


def not_here(named: str, shown: str) -> None:
    """Say that the address names something that the run does not have, and what is shown."""
    short = formatting.literal(formatting.clipped(named, 60))
    st.toast(f"This run has no {short}. The page shows {shown}.", icon=":material/search_off:")


def pick_device(devices: Sequence[Device]) -> Device:
    """Return the picked device, by default the first. Show a picker only if there are several."""
    if len(devices) == 1:
        return devices[0]
    options = {device.label: device for device in devices}
    default = devices[0].label
    choose_by_short_url(
        "device", {device.label: (device.rank, device.device) for device in devices}
    )
    if "device" not in st.session_state and st.query_params.get("device", default) not in options:
        not_here(f"device {st.query_params['device']}", default)
    if st.session_state.get("device") not in options:
        st.session_state.pop("device", None)
    chosen = st.selectbox(
        "Rank and device",
        list(options),
        key="device",
        bind="query-params",
        on_change=choose,
        args=["device"],
        width=200,
        label_visibility="collapsed",
    )
    return options[str(chosen)]
