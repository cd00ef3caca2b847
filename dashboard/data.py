"""Access to the store: its place, its connection, and cached query results."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from starlette.datastructures import QueryParams

import ingest
from dashboard import options
from dashboard.network import is_local
from ingest import server
from ingest.server import Query, Scalar, select

NEWEST_FIRST = "ingested_at DESC, run_id"
# The time of recording comes first, if it is known.
LATEST_FIRST = f"coalesce(started_at, ingested_at) DESC, {NEWEST_FIRST}"

T = TypeVar("T")


def place() -> str:
    """Return the place of the store, as the user gave it: a directory or a URL."""
    return options.store()


def absolute_place() -> str:
    """Return the absolute path of the store, or its URL."""
    return place() if server.is_url(place()) else str(Path(place()).absolute())


def run_to_open() -> str | None:
    """Return the newest run with the name in the option `-- --run NAME`, to open at the start.

    Return None if the option is absent or no run has that name.
    """
    name = options.run()
    if not name:
        return None
    named = select("run_id", "run_overview", {"name": name}, order_by=NEWEST_FIRST, limit=1)
    return next(map(str, rows(named)["run_id"]), None)


@st.cache_resource(show_spinner=False)
def _store(store: str) -> server.Storage:
    return server.opened(store)


def _connection(store: str) -> Any:
    return _connection_of(store, _store(store).connection_state)


def _sandbox(store: str) -> server.Sandbox:
    return _sandbox_of(store, _store(store).connection_state)


# A connection does not see every change of the store (`connection_state`).
@st.cache_resource(show_spinner=False, max_entries=2)
def _connection_of(store: str, catalog: str) -> Any:
    return ingest.connect(store)


@st.cache_resource(show_spinner=False, max_entries=2)
def _sandbox_of(store: str, catalog: str) -> server.Sandbox:
    return server.Sandbox(store)


@st.cache_data(show_spinner=False, max_entries=400)
def _cached(store: str, state: str, query: str, parameters: tuple[Any, ...]) -> pd.DataFrame:
    return _fetch(store, query, parameters)


def _fetch(store: str, query: str, parameters: tuple[Any, ...]) -> pd.DataFrame:
    # Pages run in separate threads, so each call needs a cursor.
    with _connection(store).cursor() as cursor:
        return ingest.read(cursor, lambda: cursor.execute(query, list(parameters)).df())


def refresh() -> list[str]:
    """Read the store's state, and return the ids of its runs, newest first.

    Called once per run of the script. Results cached for an earlier state are no longer used.
    Raise ingest.IngestError if there is no store.
    """
    try:
        store = _store(place())
        store.refresh()
    except Exception:
        _stop_if_gone()
        raise
    st.session_state["store_state"] = store.state
    listed = rows(select("run_id", "run_overview", order_by=NEWEST_FIRST))
    return [str(run_id) for run_id in listed["run_id"]]


def faults() -> list[str]:
    """Return a line of text for each run that cannot be read."""
    return server.fault_lines(_store(place()).faults())


def is_left_out(run: str) -> bool:
    """Return whether a run is in the store but cannot be read."""
    return run in _store(place()).faults()


def rows(query: Query) -> pd.DataFrame:
    """Return the rows of a query. They are cached until the store changes."""
    state = str(st.session_state["store_state"])
    return _or_stop(lambda: _cached(place(), state, query.text, query.parameters))


def rows_of_call(query: Query, macro: str, arguments: tuple[Scalar, ...]) -> pd.DataFrame:
    """Return the rows of a query that calls a slow table macro once.

    All rows of the call are cached. A temporary macro of the same name returns them to the query.
    """
    state = str(st.session_state["store_state"])
    cached = _or_stop(lambda: _macro_rows(place(), state, macro, arguments))
    with _connection(place()).cursor() as cursor:
        cursor.register("cached", cached)
        parameters = ", ".join(f"unused_{index}" for index in range(len(arguments)))
        cursor.execute(f"CREATE TEMP MACRO {macro}({parameters}) AS TABLE FROM cached")
        return cursor.execute(query.text, list(query.parameters)).df()


@st.cache_resource(show_spinner=False, max_entries=40)
def _macro_rows(store: str, state: str, macro: str, arguments: tuple[Scalar, ...]) -> Any:
    """Return all rows of a macro call, as an Arrow table."""
    query = select("*", macro, arguments=arguments)
    with _connection(store).cursor() as cursor:
        return ingest.read(
            cursor, lambda: cursor.sql(query.text, params=list(arguments)).to_arrow_table()
        )


def runs_of(selector: str) -> list[str]:
    """Return the runs that `selector` names, as in `ingest diff`. Cached until the store changes.

    Raise ingest.IngestError if it names no run.
    """
    state = str(st.session_state["store_state"])
    return _or_stop(lambda: _runs_of(place(), state, selector))


@st.cache_data(show_spinner=False, max_entries=100)
def _runs_of(store: str, state: str, selector: str) -> list[str]:
    with _connection(store).cursor() as cursor:
        return ingest.read(cursor, lambda: ingest.runs_of(cursor, _store(store), selector))


def sweep(tag: str) -> pd.DataFrame:
    """Return `ingest.sweep_rows` for a sweep. Cached until the store changes."""
    state = str(st.session_state["store_state"])
    return _or_stop(lambda: _sweep(place(), state, tag))


@st.cache_data(show_spinner=False, max_entries=40)
def _sweep(store: str, state: str, tag: str) -> pd.DataFrame:
    with _connection(store).cursor() as cursor:
        return pd.DataFrame(ingest.read(cursor, lambda: ingest.sweep_rows(cursor, tag)))


def compared(
    base: Sequence[str], other: Sequence[str], rank: int | None, names: tuple[str, str]
) -> ingest.Comparison:
    """Return `ingest.compare` for these runs. Cached until the store changes.

    Raise ingest.IngestError if a side has nothing to compare.
    """
    state = str(st.session_state["store_state"])
    return _or_stop(lambda: _compared(place(), state, tuple(base), tuple(other), rank, names))


@st.cache_data(show_spinner=False, max_entries=40)
def _compared(
    store: str,
    state: str,
    base: tuple[str, ...],
    other: tuple[str, ...],
    rank: int | None,
    names: tuple[str, str],
) -> ingest.Comparison:
    with _connection(store).cursor() as cursor:
        return ingest.read(cursor, lambda: ingest.compare(cursor, base, other, rank, names))


def _or_stop(read: Callable[[], T]) -> T:
    """Call `read` and return its result. Stop the page with a message if the store is gone."""
    try:
        return read()
    except Exception:
        _stop_if_gone()
        raise


def _stop_if_gone() -> None:
    """Stop the page with a message if the store's files no longer exist."""
    if not server.is_url(place()) and not Path(place(), "runs").is_dir():
        st.error(
            f"The store `{place()}` is gone: it was moved or removed. "
            "Put it back and reload this page, or start the dashboard with another store.",
            icon=":material/folder_off:",
        )
        st.stop()


def later(query: Query) -> Any:
    """Return a function without arguments that fetches the rows, for downloads."""
    return partial(_fetch, place(), query.text, query.parameters)


def why_read_only() -> str | None:
    """Return why labels cannot be edited in the dashboard. Return None if they can."""
    if options.is_read_only():
        return "This dashboard is read-only. Use `ingest edit`."
    if not is_local(st.get_option("server.address")):
        return "The network can reach this dashboard, so it is read-only. Use `ingest edit`."
    return None


def edit(runs: Sequence[str], changes: ingest.AddOptions) -> None:
    """Change the labels of runs. The dashboard writes nothing else to the store.

    Raise ingest.IngestError if the dashboard is read-only, or at the first run that cannot be
    changed. Earlier runs stay changed.
    """
    if reason := why_read_only():
        raise ingest.IngestError(reason)
    for run in runs:
        _store(place()).edit(run, changes)


def trace(parameters: QueryParams) -> server.ShownTrace:
    """Return the trace that a request selects. Raise ingest.IngestError if there is none."""
    store = _store(place())
    store.refresh()
    return server.trace_of(store, _connection(place()).cursor(), parameters)


def sandbox() -> server.Sandbox:
    """Return the read-only sandbox, which runs queries that users write."""
    return _sandbox(place())
