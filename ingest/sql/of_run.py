"""Views of the catalog over the scratch database of a run.

The store keeps the rows of some views. The schema `of_run` has these views, and the views that they
read, over the run's tables with an empty `run_id`.
"""

from collections.abc import Container, Iterable, Iterator, Mapping

from ingest.sql.loader import SqlFile, files

SCHEMA = "of_run"


def rows_of(relation: SqlFile) -> str:
    """Return the view with the rows of a table that SQL fills."""
    return f"{SCHEMA}.rows_of_{relation.name}" if relation.stored else f"rows_of_{relation.name}"


def read_by(
    wanted: Iterable[str],
    reads: Mapping[str, Iterable[str]],
    computed: Container[str] = (),
) -> list[str]:
    """Return what relations of the catalog read, directly or not, without these, in order.

    `reads`: what each object of the catalog reads, in the catalog's order. What tables and stored
    views read is left out, except what the stored views `computed` read.
    """
    needed: set[str] = set()
    waiting = [read for name in wanted for read in reads[name]]
    while waiting:
        if (name := waiting.pop()) not in needed:
            needed.add(name)
            if name in computed or not files()[name].is_table:
                waiting += reads[name]
    return [name for name in reads if name in needed]


def definitions(reads: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield the statements that define the stored views in a scratch database, as empty tables.

    The database must have all other relations. `reads`: as for `read_by`.
    """
    stored = [name for name in reads if files()[name].stored]
    needed = {*stored, *read_by(stored, reads)}
    yield f"CREATE SCHEMA {SCHEMA}"
    yield f"SET search_path = '{SCHEMA},main'"
    for file in (files()[name] for name in reads if name in needed):
        if file.stored:
            rows = rows_of(file)
            yield f"CREATE VIEW {rows} AS SELECT * EXCLUDE (run_id) FROM (\n{file.query}\n)"
            yield f"CREATE TABLE main.{file.name} AS FROM {rows}"
        if file.is_table:
            table = f"main.{file.name}"
            yield f"CREATE VIEW {SCHEMA}.{file.name} AS SELECT '' AS run_id, * FROM {table}"
        elif file.kind != "macros":
            yield file.statement
    yield "RESET search_path"
