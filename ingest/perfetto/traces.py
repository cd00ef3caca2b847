"""The traces that a browser asks for: parts of runs of a store."""

import duckdb
from starlette.datastructures import QueryParams

from ingest.errors import QueryError
from ingest.export.chrome import ChromeTrace, chrome_trace
from ingest.export.stretches import EVER, steps_of_two, stretches
from ingest.perfetto.server import ShownTrace
from ingest.store.connection import read
from ingest.store.store import Store


def trace_of(store: Store, connection: duckdb.DuckDBPyConnection, asked: QueryParams) -> ShownTrace:
    """The trace that a query asks for, as `ingest export --chrome` writes it.

    `run`, and of it `rank` (repeatable) and `step`, or `from` and `to` in Unix ns; with a `step`
    also `beside`, a second run, and `beside_step`. Raises IngestError where there is no such trace.
    """
    run_id = store.find(asked.get("run", ""))
    ranks = [_number("rank", text) for text in asked.getlist("rank")]
    step, since_ns, until_ns, other_step = (
        _number(key, asked[key]) if key in asked else None
        for key in ("step", "from", "to", "beside_step")
    )
    if "beside" in asked and step is None:
        raise QueryError("beside needs a step")
    other = store.find(asked["beside"]) if "beside" in asked else None

    def trace() -> ChromeTrace:
        if other and step is not None:
            both = steps_of_two(connection, (run_id, other), ranks, step, other_step)
            return chrome_trace(connection, both)
        return chrome_trace(
            connection, stretches(connection, run_id, ranks, step, since_ns, until_ns)
        )

    title = run_id if step is None else f"{run_id}, step {step}"
    return ShownTrace(f"{title} and {other}" if other else title, read(connection, trace))


def _number(key: str, text: str) -> int:
    try:
        number = int(text)
    except ValueError as error:
        raise QueryError(f"{key} is no number: {text}") from error
    if abs(number) > EVER:
        raise QueryError(f"{key} is too large: {text}")
    return number
