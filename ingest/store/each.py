"""One query for each run of a store, by this process or by the workers of a cluster."""

import warnings
from collections.abc import Callable, Generator, Iterator
from functools import lru_cache, partial

import duckdb
import pyarrow as pa

from ingest.errors import IngestError, QueryError, StoreError
from ingest.store.cluster import cluster_at
from ingest.store.connection import connect, read_statement
from ingest.store.faults import StoreWarning
from ingest.store.opening import existing
from ingest.store.storage import Storage

TABLE = "each"


def collect_each(
    connection: duckdb.DuckDBPyConnection,
    store: Storage,
    query: str,
    cluster: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[IngestError]:
    """Run a query once for each run, and collect the rows in the new table `each`.

    The query sees only that run. `run_id` becomes the first column, unless the query has it. Yield
    an error for each run for which the query fails. `progress` is called with the number of
    finished runs and the number of all runs. Raise QueryError if it is not a query.
    """
    try:
        relation = connection.sql(query)
        if relation is None:
            raise QueryError("the query for each run returns no rows")
        no_rows = _with_run(relation.limit(0).to_arrow_table(), "")
        connection.from_arrow(no_rows).create(TABLE)  # so it exists even if there is no run
    except duckdb.Error as error:
        raise QueryError(str(error).strip()) from error
    left_out = store.faults()
    run_ids = [run_id for run_id in store.run_ids() if run_id not in left_out]
    answer = partial(_answer, place=str(store.path), state=store.state, query=query)
    for done, (run_id, rows) in enumerate(_answers(run_ids, answer, cluster), 1):
        if progress:
            progress(done, len(run_ids))
        if isinstance(rows, IngestError):
            yield rows
            continue
        try:
            connection.execute(f"INSERT INTO {TABLE} BY NAME FROM rows")
        except duckdb.Error as error:  # its columns depend on the run
            yield QueryError(f"{run_id}: {str(error).strip()}")


def _answers(
    run_ids: list[str], answer: "partial[pa.Table]", cluster: str | None
) -> Generator[tuple[str, pa.Table | IngestError], None, None]:
    if cluster:
        with cluster_at(cluster) as workers:
            yield from workers.map(run_ids, answer)
        return
    for run_id in run_ids:
        try:
            yield run_id, answer(run_id)
        except IngestError as error:
            yield run_id, error


def _answer(run_id: str, *, place: str, state: str, query: str) -> pa.Table:
    """Return the rows of a query about a run. Workers of a cluster call this."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)  # the caller has warned of the store's faults
        connection = connect(_opened(place, state), [run_id], only=True)
    with connection:
        [(found,)] = connection.execute("SELECT count(*) FROM runs").fetchall()
        if not found:
            raise StoreError(f"{run_id}: no such run in {place}")
        try:
            rows = read_statement(connection, lambda: connection.sql(query).to_arrow_table())
        except duckdb.Error as error:
            raise QueryError(f"{run_id}: {str(error).strip()}") from error
    return _with_run(rows, run_id)


def _with_run(rows: pa.Table, run_id: str) -> pa.Table:
    if "run_id" in rows.column_names:
        return rows
    return rows.add_column(0, "run_id", pa.array([run_id] * len(rows), pa.string()))


@lru_cache(maxsize=4)
def _opened(place: str, state: str) -> Storage:
    """Return a store that was opened when this process first saw its state."""
    return existing(place)
