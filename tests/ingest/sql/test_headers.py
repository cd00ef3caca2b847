"""What the headers of SQL files say of their columns."""

import duckdb
import pytest

from ingest import sql


@pytest.mark.parametrize("file", sql.of_kind("staged"), ids=lambda file: file.name)
def test_paths_are_named_by_columns_and_macros_that_exist(file: sql.SqlFile) -> None:
    macros = {macro.name for macro in sql.of_kind("macros")}
    with duckdb.connect() as connection:
        connection.execute(file.statement)
        columns = {name for name, *_ in connection.execute(f"DESCRIBE {file.name}").fetchall()}
    assert file.paths.keys() <= columns
    assert set(file.paths.values()) <= macros
