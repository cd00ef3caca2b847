"""The traces that a browser asks for: parts of runs of a store."""

import duckdb
from starlette.datastructures import QueryParams

from ingest.errors import QueryError
from ingest.export.chrome import ChromeTrace, chrome_trace, stretches
from ingest.perfetto.server import ShownTrace
from ingest.store.connection import read
from ingest.store.store import Store


def trace_of(store: Store, connection: duckdb.DuckDBPyConnection, asked: QueryParams) -> ShownTrace:
    """The trace that a query asks for, as `ingest export --chrome` writes it.

    `run`, and of it `rank` (repeatable) and `step`, or `from` and `to` in Unix ns; `beside`, a
    second run, with `beside_step`. Raises IngestError where there is no such trace.
    """
    run_id = store.find(asked.get("run", ""))
    ranks = [_number("rank", text) for text in asked.getlist("rank")]
    step, since_ns, until_ns, beside_step = (
        _number(key, asked[key]) if key in asked else None
        for key in ("step", "from", "to", "beside_step")
    )
    beside = store.find(asked["beside"]) if "beside" in asked else None

    def trace() -> ChromeTrace:
        parts = stretches(connection, run_id, ranks, step, since_ns, until_ns)
        if beside:
            other_step = step if beside_step is None else beside_step
            parts += stretches(connection, beside, ranks, other_step)
        return chrome_trace(connection, parts)

    title = run_id if step is None else f"{run_id}, step {step}"
    return ShownTrace(f"{title} and {beside}" if beside else title, read(connection, trace))


def _number(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise QueryError(f"{key} is no number: {text}") from error
