"""The pickers for the two sides of page Compare. They follow the URL and the sidebar."""

from collections.abc import Sequence

import streamlit as st

import ingest
from dashboard import data
from dashboard.compare import default_pair, run_groups, steps
from dashboard.compare.pair import BASE, OTHER, Pair
from dashboard.drawing import formatting
from dashboard.widgets.view import View
from ingest.server import select

RANK = "rank"
DEFAULT = "default_pair"  # the default pair that is shown, and the picked runs it belongs to
SWAP = "swap"
DEFAULT_RANK = "straggler or median rank of each"
RUN_PIXELS = 340


def pick(view: View) -> Pair | None:
    """Draw the two pickers in the header bar. Return the pair.

    Until the user chooses, `default_pair` chooses the pair. If the pickers do not name two sides,
    show what to do and return None.
    """
    listed = select("run_id", "run_overview", order_by=data.LATEST_FIRST)
    runs = [str(run) for run in data.rows(listed)["run_id"]]
    if len(runs) < 2:
        st.info("The store has fewer than two runs. Add another run to compare.")
        st.code(f"ingest add other_run/ --store {data.place()}", language="bash")
        return None
    choices = [*runs, *run_groups.offered()]
    choices += _other_choices(choices)
    reason = _begin_with([run for run in runs if run in view.runs])
    with view.bar:
        base = _picker("From", BASE, choices)
        st.button(
            "Swap",
            key=SWAP,
            icon=":material/swap_horiz:",
            on_click=_swap,
            disabled=base is None and st.session_state.get(OTHER) is None,
        )
        other = _picker("To", OTHER, choices)
        others_of_bar = st.container(horizontal=True, width="content")
    if reason:
        st.caption(reason)
    if base is None or other is None:
        missing = "two runs" if base is None and other is None else "the second run"
        st.info(
            f"Pick {missing} above, or tick two on the page Runs. The end of the list has groups: "
            "models and tags of several runs.",
            icon=":material/arrow_upward:",
        )
        return None
    bases, others = data.runs_of(base), data.runs_of(other)
    if not run_groups.are_apart(bases, others):
        return None
    descriptions = [run_groups.describe(base, bases), run_groups.describe(other, others)]
    if any(descriptions):
        st.caption(" · ".join(filter(None, descriptions)))
    with others_of_bar:
        rank = _rank(bases, others)
        if len(bases) == len(others) == 1:
            return steps.of_pair(Pair(bases[0], others[0], rank))
    return _groups({BASE: base, OTHER: other}, bases, others, rank)


def _groups(
    names: dict[str, str], bases: list[str], others: list[str], rank: int | None
) -> Pair | None:
    """Return each group's median run, with the comparison of the groups."""
    try:
        comparison = data.compared(bases, others, rank, (names[BASE], names[OTHER]))
    except ingest.IngestError as error:
        st.info(formatting.literal(str(error)), icon=":material/timer_off:")
        return None
    return Pair(
        comparison.base.run,
        comparison.other.run,
        rank,
        groups=comparison,
        group_names=(names[BASE], names[OTHER]),
    )


def _picker(label: str, key: str, runs: Sequence[str]) -> str | None:
    chosen = st.selectbox(
        label,
        runs,
        index=None,
        key=key,
        bind="query-params",
        placeholder=f"{label}: a run or a group of runs",
        width=RUN_PIXELS,
        label_visibility="collapsed",
    )
    return str(chosen) if chosen else None


def _begin_with(latest_first: Sequence[str]) -> str:
    """Put the default pair into the pickers if nothing is chosen. Return the reason for it.

    The pair follows the picked runs. If only one side is chosen, the other is the earliest picked
    run.
    """
    keys = (BASE, OTHER)
    in_url = [st.query_params.get(key) for key in keys]
    in_state = [st.session_state.get(key) for key in keys]
    # When a user leaves the page, Streamlit forgets the state of Swap, but not of the pickers.
    # Without that state, the user has just arrived, and runs in the URL win.
    is_here = SWAP in st.session_state
    chosen = (
        in_state if is_here else [url or state for url, state in zip(in_url, in_state, strict=True)]
    )
    shown: tuple[default_pair.DefaultPair, list[str]] | None = st.session_state.pop(DEFAULT, None)
    if shown is not None and (chosen != list(shown[0][:2]) or (any(in_url) and not is_here)):
        if is_here:  # The user chose one side, so put both into the URL.
            st.session_state[BASE], st.session_state[OTHER] = in_state
        shown = None
    if any(chosen) and shown is None:
        rest = [run for run in reversed(latest_first) if run not in chosen]
        for key, run in zip(keys, chosen, strict=True):
            if run is None and rest:
                st.session_state[key] = rest.pop(0)
        return ""
    if shown is not None and shown[1] == list(latest_first):
        st.session_state[DEFAULT] = shown
        return shown[0].reason
    found = default_pair.of(latest_first)
    st.session_state[BASE], st.session_state[OTHER] = found.base, found.other
    st.session_state[DEFAULT] = found, list(latest_first)
    return found.reason


def _other_choices(choices: Sequence[str]) -> list[str]:
    """Return selectors in the URL or of an earlier choice that are not in `choices`.

    Warn about selectors that match no run, and remove them.
    """
    others: dict[str, None] = {}
    for key in (BASE, OTHER):
        for selector in (st.query_params.get(key), st.session_state.get(key)):
            if not selector or selector in choices:
                continue
            if selector in others or run_groups.is_known(selector):
                others[selector] = None
                continue
            if st.query_params.get(key) == selector:
                del st.query_params[key]
            if st.session_state.get(key) == selector:
                del st.session_state[key]
    return list(others)


def _swap() -> None:
    base, other = st.session_state.get(BASE), st.session_state.get(OTHER)
    st.session_state[BASE], st.session_state[OTHER] = other, base


def _rank(bases: Sequence[str], others: Sequence[str]) -> int | None:
    """Return the picked rank of all runs. Show a picker only if there are several ranks."""
    query = select("DISTINCT run_id, rank", "run_metrics", {"run_id": [*bases, *others]})
    ranks = [set(of_run) for _, of_run in data.rows(query).groupby("run_id")["rank"]]
    if max(map(len, ranks), default=0) < 2:
        return None
    common = [str(rank) for rank in sorted(set.intersection(*ranks))]
    chosen = st.selectbox(
        "Rank",
        [DEFAULT_RANK, *common],
        key=RANK,
        bind="query-params",
        width=200,
        label_visibility="collapsed",
    )
    return None if chosen == DEFAULT_RANK else int(str(chosen))
