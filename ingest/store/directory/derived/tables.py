"""The tables of runs of any version, with the columns of this version."""

from collections.abc import Mapping
from pathlib import Path

import duckdb

from ingest import sql
from ingest.store.directory.files.places import empty_directory

Columns = Mapping[str, Mapping[str, str]]  # table → column → its expression over the files


def our_columns() -> Columns:
    """Return the columns of the tables of this version."""
    return {table: {name: name for name in kinds} for table, kinds in sql.table_columns().items()}


def columns_of(store: Path, version: str) -> Columns | None:
    """Return the columns of each table that this version of tracehouse can read in runs of another.

    A renamed column is found by its earlier name (`sql.EARLIER_NAMES`), and a missing one may be
    computed from the others (`sql.added_columns`). A stored view that lacks other columns is left
    out, because it can be computed. Return None if it cannot read those runs: a column has another
    type, or a column or table seems to have been renamed, because one is unknown while another is
    missing, or that version's empty tables cannot be read.
    """
    ours = sql.table_columns()
    if version == sql.schema_version():
        return our_columns()
    try:
        in_files = _columns(empty_directory(store, version))
    except duckdb.Error:
        return None
    sources = {table: _sources(table, kinds) for table, kinds in in_files.items()}
    theirs = {
        table: {name: in_files[table][source] for name, source in named.items()}
        for table, named in sources.items()
    }
    if not theirs or _renamed(ours, theirs):
        return None
    for table in ours.keys() & theirs.keys():
        shared = ours[table].keys() & theirs[table].keys()
        changed = any(ours[table][name] != theirs[table][name] for name in shared)
        if changed or _renamed(ours[table], theirs[table]):
            return None
    found = {
        table: sql.added_columns(table, theirs[table]) | sources[table]
        for table in ours
        if table in theirs
    }
    return {
        table: {name: columns[name] for name in ours[table] if name in columns}
        for table, columns in found.items()
        if not sql.files()[table].stored or ours[table].keys() <= columns.keys()
    }


def table_rows(table: str, version: str, columns: Columns, files: str) -> str:
    """Return the query for a table's rows, with `run_id`, from Parquet files of a version.

    `files` is a SQL expression: a pattern, or a list of patterns. Columns that the version lacks
    are left out.
    """
    listed = "* EXCLUDE (run_id)"
    if version != sql.schema_version():
        listed = ", ".join(
            name if name == source else f"{source} AS {name}"
            for name, source in columns[table].items()
        )
    return (
        f"SELECT run_id, {listed} FROM read_parquet({files}, hive_partitioning = true, "
        "hive_types = {'run_id': VARCHAR})"
    )


def _sources(table: str, in_files: Mapping[str, str]) -> dict[str, str]:
    """Return the current name of each column of a table, with its name in the files."""
    current = {earlier: name for name, earlier in sql.EARLIER_NAMES.get(table, {}).items()}
    return {current.get(name, name): name for name in in_files}


def _renamed(ours: Mapping[str, object], theirs: Mapping[str, object]) -> bool:
    return bool(ours.keys() - theirs.keys() and theirs.keys() - ours.keys())


def _columns(directory: Path) -> dict[str, dict[str, str]]:
    """Return the names and types of the columns in each Parquet file of a directory."""
    if not any(directory.glob("*.parquet")):
        return {}
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT file_name, name, num_children, duckdb_type FROM parquet_schema($1)",
            [f"{directory}/*.parquet"],
        ).fetchall()
    found: dict[str, dict[str, str]] = {}
    left: list[int] = []  # the number of remaining children of each enclosing element
    for file, name, children, kind in rows:
        while left and not left[-1]:
            left.pop()
        if not left:  # the root element of a file
            found[Path(file).stem] = {}
        elif len(left) == 1:
            found[Path(file).stem][name] = kind
        if left:
            left[-1] -= 1
        if children:
            left.append(children)
    return found
