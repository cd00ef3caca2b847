"""The scratch database of a run, copied from a template.

To define its macros, views and tables takes longer than adding a small trace. The template also has
views for the statements that fill the tables, so that DuckDB need not parse these again.
"""

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from ingest import sql
from ingest.cache import cached
from ingest.conversion.build import constants
from ingest.temporary import temporary_directory

TEMPLATE = "scratch.duckdb"
INDEX_ROW = "index_row"  # the view of the run's row of the store's index


def open_scratch(file: Path, **config: Any) -> duckdb.DuckDBPyConnection:
    """Return a connection to a new scratch database in `file`.

    It has all macros and views, and all tables. Only tables that read nothing have rows. `config`
    are DuckDB's settings.
    """
    try:
        with cached("scratch", template_version(), _write_template) as directory:
            return _copied(directory, file, config)
    except (duckdb.Error, FileNotFoundError):  # the cached template is damaged or was deleted
        with temporary_directory() as directory:
            _write_template(directory)
            return _copied(directory, file, config)


def _copied(directory: Path, file: Path, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    shutil.copyfile(directory / TEMPLATE, file)
    connection = duckdb.connect(str(file), config=config)
    connection.execute("SET enable_progress_bar = false")
    # Most runs need no checkpoint, which takes 5 % of the time to add one with 100,000 events.
    connection.execute("SET checkpoint_threshold = '64MB'")
    connection.execute("SET fsync_mode = 'NONE'")  # nobody reads the file after a crash
    connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    return connection


@cache
def template_version() -> str:
    """Return a digest of all that decides what the template contains."""
    return sql.digest([*_statements(), duckdb.__version__])


def _write_template(directory: Path) -> None:
    with duckdb.connect(str(directory / TEMPLATE)) as connection:
        connection.begin()  # otherwise each statement would be a transaction
        for statement in _statements():
            connection.execute(statement)
        connection.commit()


def _statements() -> Iterator[str]:
    for node in sql.nodes("scratch"):
        file = sql.files()[node.name]
        if file.materialised:
            yield node.ddl
            yield f"CREATE VIEW {sql.rows_of(file)} AS\n{file.body}"
            if file.name in constants():
                yield f"INSERT INTO {file.name} FROM {sql.rows_of(file)}"
        elif not file.stored:
            yield file.statement
            if file.materialised_if_small:
                yield f"CREATE VIEW {sql.rows_of(file)} AS\n{file.body}"
    yield from sql.definitions_of_run()
    row = sql.indexed_rows([""], lambda table: f"SELECT '' AS run_id, * FROM main.{table}")
    yield f"CREATE VIEW {INDEX_ROW} AS {row}"
