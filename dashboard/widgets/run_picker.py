"""Which runs, and which device of them, the pages are about: in the sidebar and in the URL."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.query import Scalar, select
from dashboard.widgets import zoom

RUN_KEY = "run"
SHORT_DEVICE = re.compile(r"(?:rank (?P<rank>\d+) )?(?:[a-z]+:)?(?P<device>\d{1,9})")
STEP_KEY = "step"  # in the address: median, all, 3 or 3-7
KEPT_STEP = "kept_step"  # what was chosen, for the next page
LONGEST_VALUE = 1_000  # characters of a ticked name that the URL carries


@dataclass(frozen=True)
class Device:
    """A device of a rank, or in a run without devices its host."""

    rank: int
    device: int | None
    is_host: bool = False

    @property
    def label(self) -> str:
        """As in the picker and in the URL."""
        if self.is_host:
            return f"rank {self.rank} host"
        return f"rank {self.rank} device {'?' if self.device is None else self.device}"

    def where(self) -> dict[str, Scalar]:
        """The conditions that a view's row is about this device."""
        return {"rank": self.rank, "device": self.device}


def pick_runs(run_ids: Sequence[str], is_new_page: bool) -> list[str]:
    """The picker in the sidebar; says which runs of the URL are not in the store.

    A link to another page may be about other runs than those picked before.
    """
    asked = list(st.query_params.get_all(RUN_KEY))
    if is_new_page and asked:
        st.session_state[RUN_KEY] = list(dict.fromkeys(run for run in asked if run in run_ids))
    if RUN_KEY in st.session_state:  # a run may have been removed since
        asked += st.session_state[RUN_KEY]
        st.session_state[RUN_KEY] = [run for run in st.session_state[RUN_KEY] if run in run_ids]
    elif len(run_ids) == 1 and not asked:
        st.session_state[RUN_KEY] = list(run_ids)
    unknown = dict.fromkeys(run for run in asked if run and run not in run_ids)
    if unknown:
        st.session_state["unknown_runs"] = list(unknown)
    picked = st.multiselect(
        "Runs",
        run_ids,
        key=RUN_KEY,
        bind="query-params",
        placeholder="Pick one or several",
        help="Newest first. The pages are about these runs; the address carries them.",
        on_change=_other_runs,
    )
    return [str(run) for run in picked]


def _other_runs() -> None:
    st.session_state.pop("unknown_runs", None)
    _forget_step()


def _forget_step() -> None:
    """The step and stretch that were selected are those of another run."""
    zoom.forget()
    st.query_params.pop(STEP_KEY, None)
    st.session_state.pop(KEPT_STEP, None)


def search(placeholder: str, key: str = "q") -> str:
    """A box for text to look for; the URL carries it under `key`."""
    text = st.text_input(
        "Search",
        key=key,
        bind="query-params",
        placeholder=placeholder,
        icon=":material/search:",
        label_visibility="collapsed",
    )
    return text or ""


def remember(key: str, value: str | None) -> None:
    """Puts what was ticked into the URL, or takes it out; too long a value stays out."""
    if value is not None and len(value) <= LONGEST_VALUE:
        if st.query_params.get(key) != value:
            st.query_params[key] = value
    elif key in st.query_params:
        del st.query_params[key]


def say_unknown() -> None:
    """A warning about runs that the URL names and the store does not hold."""
    for run in st.session_state.get("unknown_runs", []):
        if data.is_left_out(run):  # which each page says already
            continue
        st.warning(
            f"There is no run **{formatting.literal(formatting.clipped(run, 120))}** in this "
            "store: it was removed, or the link is of another store.",
            icon=":material/search_off:",
        )


def ask_for_runs() -> None:
    """What to say on a page that needs a run and has none."""
    st.info(
        "Pick a run in the list on the left, or on the page Runs.", icon=":material/arrow_back:"
    )
    st.page_link(st.session_state["pages"]["runs"], label="Runs", icon=":material/list:")


def measured_devices(run: str) -> list[Device]:
    """The devices that a run's metrics are of, or the hosts in a run without; slowest first."""
    query = select(
        "rank, device, measure",
        "run_metrics",
        {"run_id": run},
        order_by="is_slowest DESC, rank, device",
    )
    return [
        Device(
            int(row.rank),
            None if formatting.missing(row.device) else int(row.device),
            is_host=row.measure == "host",
        )
        for row in data.rows(query).itertuples()
    ]


def choose_by_short_url(key: str, options: Mapping[str, tuple[int, int | None]]) -> None:
    """Chooses the option that a short form in the URL means.

    `options` are labels with their rank and device. Short forms: `0`, `cuda:0`, `rank 1 cuda:0`;
    without a rank, the first device of that number.
    """
    asked = st.query_params.get(key, "")
    short = SHORT_DEVICE.fullmatch(asked)
    if key in st.session_state or not short:
        return
    for label, (rank, device) in options.items():
        if device == int(short["device"]) and short["rank"] in (None, str(rank)):
            st.session_state[key] = label
            return


def choose(key: str) -> None:
    """Notes that someone chose here: a page's default is no choice for the next page."""
    st.session_state.setdefault("chosen", set()).add(key)
    if key == "device":
        zoom.forget()
    else:
        _forget_step()


def pick_device(devices: Sequence[Device]) -> Device:
    """One of the devices, at first the first. Asks only where there is a choice."""
    if len(devices) == 1:
        return devices[0]
    options = {device.label: device for device in devices}
    choose_by_short_url(
        "device", {device.label: (device.rank, device.device) for device in devices}
    )
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
