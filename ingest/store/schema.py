"""Which tables and views a store has, and whether this version of tracehouse can work with them."""

import tempfile
from pathlib import Path

import duckdb

from ingest import sql
from ingest.errors import StoreError
from ingest.inputs import RunInput
from ingest.pipeline import AddOptions, write_run
from ingest.store.catalog import digest

EMPTY_PARTITION = "run_id=~empty"  # sorts last: DuckDB guesses a table's size from its first file
MOST_DIFFERENCES = 3
TABLE_SQL = ("staged", "macros", "load", "tables", "queries")


def tables_digest() -> str:
    """Of all SQL that the tables come from: where it is the same, so are their columns."""
    return digest(file.statement for file in sql.of_kind(*TABLE_SQL))


def write_empty_run(directory: Path) -> None:
    """Writes every table, without rows, into the new `directory`: the schema of an empty store."""
    directory.mkdir()
    write_run(RunInput(directory, []), AddOptions(), directory)


def check_tables(runs: Path) -> None:
    """Raises StoreError where the store's tables are not those that this version writes."""
    with tempfile.TemporaryDirectory() as scratch:
        write_empty_run(Path(scratch) / "empty")
        ours = _columns(Path(scratch) / "empty")
    theirs = _columns(runs / EMPTY_PARTITION)
    lacking = [f"has no {column}" for column in ours.keys() - theirs.keys()]
    unknown = [f"has {column}" for column in theirs.keys() - ours.keys()]
    changed = [
        f"has {column} as {theirs[column]}, not {ours[column]}"
        for column in ours.keys() & theirs.keys()
        if ours[column] != theirs[column]
    ]
    differences = [*sorted(lacking), *sorted(unknown), *sorted(changed)]
    if not differences:
        return
    told = differences[:MOST_DIFFERENCES]
    if more := len(differences) - len(told):
        told.append(f"and {more} more")
    version = "another"
    if not changed and not (lacking and unknown):
        version = "an older" if lacking else "a newer"
    raise StoreError(
        f"{runs.parent}: written by {version} version of tracehouse: it {', '.join(told)}. Add the "
        f"runs to a new store; SELECT path FROM '{runs}/*/sources.parquet' in DuckDB lists their "
        "files"
    )


def _columns(directory: Path) -> dict[str, str]:
    """The type of each column of each table, as `events.start_ns` and BIGINT."""
    columns: dict[str, str] = {}
    with duckdb.connect() as connection:
        for file in sorted(directory.glob("*.parquet")):
            read = f"read_parquet({sql.literal(file)}, hive_partitioning = false)"
            for name, kind, *_ in connection.execute(f"DESCRIBE FROM {read}").fetchall():
                columns[f"{file.stem}.{name}"] = kind
    return columns
