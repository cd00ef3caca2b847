"""The traces that a browser requests: parts of runs of a store."""

import duckdb
from starlette.datastructures import QueryParams

from ingest.errors import QueryError
from ingest.export.chrome import ChromeTrace, chrome_trace
from ingest.export.stretches import EVER, intervals_of, steps_of_two
from ingest.perfetto.server import ShownTrace
from ingest.store.connection import read
from ingest.store.storage import Storage


def trace_of(
    store: Storage, connection: duckdb.DuckDBPyConnection, query: QueryParams
) -> ShownTrace:
    """Return the trace that a URL's query selects, as `ingest export --chrome` writes it.

    Parameters are `run`, `rank` (repeatable), and either `step` or `from` and `to` in Unix ns. With
    `step`, `beside` is a second run and `beside_step` its step. Raise IngestError if there is no
    such trace.
    """
    run_id = store.find(query.get("run", ""))
    ranks = [_number("rank", text) for text in query.getlist("rank")]
    step, since_ns, until_ns, other_step = (
        _number(key, query[key]) if key in query else None
        for key in ("step", "from", "to", "beside_step")
    )
    if "beside" in query and step is None:
        raise QueryError("beside requires step")
    other = store.find(query["beside"]) if "beside" in query else None

    def trace() -> ChromeTrace:
        if other and step is not None:
            both = steps_of_two(connection, (run_id, other), ranks, step, other_step)
            return chrome_trace(connection, both)
        return chrome_trace(
            connection, intervals_of(connection, run_id, ranks, step, since_ns, until_ns)
        )

    title = run_id if step is None else f"{run_id}, step {step}"
    return ShownTrace(f"{title} and {other}" if other else title, read(connection, trace))


def _number(key: str, text: str) -> int:
    try:
        number = int(text)
    except ValueError as error:
        raise QueryError(f"{key} is not an integer: {text}") from error
    if abs(number) > EVER:
        raise QueryError(f"{key} is too large: {text}")
    return number
