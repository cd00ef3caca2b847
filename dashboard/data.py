"""The store behind the pages: its path, connections to it, and cached results."""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from starlette.datastructures import QueryParams

import ingest
from dashboard.query import Query, Scalar, select

NEWEST_FIRST = "ingested_at DESC, run_id"
LATEST_FIRST = f"coalesce(started_at, ingested_at) DESC, {NEWEST_FIRST}"  # by when they ran

T = TypeVar("T")


def path() -> Path:
    """The store: `streamlit run dashboard/app.py -- --store DIR`, else ingest's default."""
    return Path(_arguments().store)


def run_to_open() -> str | None:
    """The newest run of the name in `-- --run NAME`, with which the dashboard opens."""
    name = _arguments().run
    if not name:
        return None
    named = select("run_id", "run_overview", {"name": name}, order_by=NEWEST_FIRST, limit=1)
    return next(map(str, rows(named)["run_id"]), None)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--store", type=Path, default=ingest.default_store())
    parser.add_argument("--run")
    return parser.parse_known_args(sys.argv[1:])[0]


@st.cache_resource(show_spinner=False)
def _store(store: str) -> ingest.Store:
    return ingest.Store(store)


@st.cache_resource(show_spinner=False)
def _connection(store: str) -> Any:
    return ingest.connect(store)


@st.cache_resource(show_spinner=False)
def _console(store: str) -> ingest.Console:
    return ingest.Console(store)


@st.cache_data(show_spinner=False, max_entries=400)
def _cached(store: str, state: str, query: str, parameters: tuple[Any, ...]) -> pd.DataFrame:
    return _fetch(store, query, parameters)


def _fetch(store: str, query: str, parameters: tuple[Any, ...]) -> pd.DataFrame:
    """A cursor for each call: pages run in threads of their own."""
    with _connection(store).cursor() as cursor:
        return ingest.read(cursor, lambda: cursor.execute(query, list(parameters)).df())


def look() -> list[str]:
    """Reads which runs there are, newest first; results cached for another state are left behind.

    Called once for each run of the script. Raises ingest.IngestError where there is no store.
    """
    try:
        store = _store(str(path()))
        store.refresh()
    except Exception:
        _stop_where_gone()
        raise
    st.session_state["store_state"] = store.state
    listed = rows(select("run_id", "run_overview", order_by=NEWEST_FIRST))
    return [str(run_id) for run_id in listed["run_id"]]


def faults() -> list[str]:
    """A line for each run that is left out."""
    return ingest.fault_lines(_store(str(path())).faults())


def is_left_out(run: str) -> bool:
    """Whether a run is in the store and cannot be read."""
    return run in _store(str(path())).faults()


def rows(query: Query) -> pd.DataFrame:
    """The rows of a query, from the cache while the store is as it was."""
    state = str(st.session_state["store_state"])
    return _asked(lambda: _cached(str(path()), state, query.text, query.parameters))


def rows_of_call(query: Query, macro: str, arguments: tuple[Scalar, ...]) -> pd.DataFrame:
    """The rows of a query over one call of a table macro that is slow; the cache keeps its rows.

    For this query, a temporary macro of that name returns the kept rows.
    """
    state = str(st.session_state["store_state"])
    kept = _asked(lambda: _kept(str(path()), state, macro, arguments))
    with _connection(str(path())).cursor() as cursor:
        cursor.register("kept", kept)
        parameters = ", ".join(f"unused_{place}" for place in range(len(arguments)))
        cursor.execute(f"CREATE TEMP MACRO {macro}({parameters}) AS TABLE FROM kept")
        return cursor.execute(query.text, list(query.parameters)).df()


@st.cache_resource(show_spinner=False, max_entries=40)
def _kept(store: str, state: str, macro: str, arguments: tuple[Scalar, ...]) -> Any:
    """All rows of a macro's call, as an Arrow table."""
    query = select("*", macro, arguments=arguments)
    with _connection(store).cursor() as cursor:
        return ingest.read(
            cursor, lambda: cursor.sql(query.text, params=list(arguments)).to_arrow_table()
        )


def runs_of(selector: str) -> list[str]:
    """The runs that `selector` names, as in `ingest diff`; cached while the store is as it was.

    Raises ingest.IngestError where there is none.
    """
    state = str(st.session_state["store_state"])
    return _asked(lambda: _runs_of(str(path()), state, selector))


@st.cache_data(show_spinner=False, max_entries=100)
def _runs_of(store: str, state: str, selector: str) -> list[str]:
    with _connection(store).cursor() as cursor:
        return ingest.read(cursor, lambda: ingest.runs_of(cursor, _store(store), selector))


def sweep(tag: str) -> pd.DataFrame:
    """`ingest.sweep_rows` of a sweep, from the cache while the store is as it was."""
    state = str(st.session_state["store_state"])
    return _asked(lambda: _sweep(str(path()), state, tag))


@st.cache_data(show_spinner=False, max_entries=40)
def _sweep(store: str, state: str, tag: str) -> pd.DataFrame:
    with _connection(store).cursor() as cursor:
        return pd.DataFrame(ingest.read(cursor, lambda: ingest.sweep_rows(cursor, tag)))


def compared(
    base: Sequence[str], other: Sequence[str], rank: int | None, names: tuple[str, str]
) -> ingest.Comparison:
    """`ingest.compare` of these runs, from the cache while the store is as it was.

    Raises ingest.IngestError where a side has nothing to compare.
    """
    state = str(st.session_state["store_state"])
    return _asked(lambda: _compared(str(path()), state, tuple(base), tuple(other), rank, names))


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


def _asked(ask: Callable[[], T]) -> T:
    """What `ask` reads; the page ends with a word where the store is gone."""
    try:
        return ask()
    except Exception:
        _stop_where_gone()
        raise


def _stop_where_gone() -> None:
    """Ends the page with a word where the store's files were taken away under it."""
    if not path().joinpath("runs").is_dir():
        st.error(
            f"The store `{path()}` is gone: it was moved or removed. "
            "Put it back and reload this page, or serve another one.",
            icon=":material/folder_off:",
        )
        st.stop()


def later(query: Query) -> Any:
    """A function without arguments that fetches the rows, for downloads."""
    return partial(_fetch, str(path()), query.text, query.parameters)


def edit(runs: Sequence[str], changes: ingest.AddOptions) -> None:
    """Changes the labels of runs, the one thing that the dashboard writes.

    Raises ingest.IngestError where that fails; the runs before that one are changed.
    """
    for run in runs:
        ingest.edit(_store(str(path())), run, changes)


def trace(asked: QueryParams) -> ingest.ShownTrace:
    """The trace for a request. Raises ingest.IngestError if there is none."""
    store = _store(str(path()))
    store.refresh()
    return ingest.trace_of(store, _connection(str(path())).cursor(), asked)


def console() -> ingest.Console:
    """The read-only console, for queries that people write."""
    return _console(str(path()))


@st.cache_data(show_spinner=False)
def column_comments(view: str) -> dict[str, str]:
    """What each column of a table or view means, from the database's own comments."""
    query = select("column_name, comment", "duckdb_columns()", {"table_name": view})
    frame = _fetch(str(path()), query.text, query.parameters)
    return dict(zip(frame["column_name"], frame["comment"].fillna(""), strict=True))
