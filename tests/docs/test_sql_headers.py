"""The headers of the SQL files, from which the data dictionary comes."""

import re
from collections.abc import Iterator

import pytest
from duckdb import DuckDBPyConnection as Connection

import ingest
from docs.generate.pages import REPOSITORY
from ingest import connect, server, sql


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A connection to an empty store, with views as arguments for macros that take a table name."""
    store = ingest.Store(tmp_path_factory.mktemp("documented") / "store")
    with connect(store.path) as opened:
        opened.execute("CREATE TEMP VIEW asked AS FROM memory_timeline")
        opened.execute(
            "CREATE TEMP VIEW compared AS SELECT *, 1 AS steps, TRUE AS is_coarse, "
            "FALSE AS is_fused FROM compared_work_items('1', '1')"
        )
        for view, source in {
            "executed": "compiled_programs('compared', '1', '1')",
            "slotted": "program_slots('compared', 'executed')",
            "listed": "fused_kernel_ops('compared')",
        }.items():
            opened.execute(f"CREATE TEMP VIEW {view} AS FROM {source}")
        opened.execute("CREATE TEMP VIEW stacked AS FROM memory_stacks_at('asked')")
        opened.execute("CREATE TEMP VIEW called AS FROM calls_of_stacks('stacked')")
        opened.execute("CREATE TEMP VIEW named AS SELECT *, '' AS steps_name FROM run_metrics")
        yield opened


def test_every_column_is_documented(connection: Connection) -> None:
    columns: dict[str, list[str]] = {}
    uncommented = set()
    described = (
        "SELECT table_name, column_name, comment FROM duckdb_columns() ORDER BY column_index"
    )
    for relation, column, comment in connection.sql(described).fetchall():
        columns.setdefault(relation, []).append(column)
        if comment is None:
            uncommented.add(relation)
    wrong = [
        file.name
        for file in (*sql.tables(), *sql.views())
        if list(file.documentation.columns) != columns[file.name]
        or not file.documentation.summary
        or not file.documentation.row
        or file.name in uncommented
    ]
    assert wrong == []


def test_every_column_of_a_macro_is_documented(connection: Connection) -> None:
    wrong = {}
    for macro in sql.macros():
        columns = columns_of(macro, connection)
        if list(macro.documentation.columns) != columns:
            wrong[macro.name] = columns
    assert wrong == {}


def columns_of(macro: sql.SqlFile, connection: Connection) -> list[str]:
    """Return the columns of a macro's result for any arguments."""
    signature = re.search(rf"CREATE MACRO {macro.name}\(([^)]*)\)", macro.body)
    assert signature, macro.name
    known = {"moments": "'asked'", "work_items": "'compared'", "programs": "'executed'"}
    known |= {"facts": "'advice_facts'", "sums": "'median_advice_sums'", "measured": "'named'"}
    known |= {"work": "'shape_work'"}
    known |= {"calls": "'called'", "stacks": "'stacked'"}
    known |= {"slots": "'slotted'", "ops_in_names": "'listed'"}
    known |= {"base": "'1'", "other": "'1'", "bases": "['1']", "others": "['1']"}
    needed = [name.strip() for name in signature[1].split(",") if name and ":=" not in name]
    arguments = ", ".join(known.get(name, "1") for name in needed)
    described = connection.sql(f"DESCRIBE FROM {macro.name}({arguments})").fetchall()
    return [column for column, *_ in described]


def test_every_sql_file_begins_with_a_header() -> None:
    files = list((REPOSITORY / "ingest" / "sql").rglob("*.sql"))
    assert files
    assert [
        str(file) for file in files if not file.read_text(encoding="utf-8").startswith("-- ")
    ] == []


def test_the_sql_uses_the_shared_placeholder_names() -> None:
    """A literal in brackets is a placeholder for a missing name. It must be in `server.names`."""
    names = {name for name in vars(server.names).values() if isinstance(name, str)}
    for path in (REPOSITORY / "ingest" / "sql").rglob("*.sql"):
        lines = path.read_text(encoding="utf-8").splitlines()
        statement = "\n".join(line for line in lines if not line.startswith("--"))
        for written in re.findall(r"'(\((?:no|not|before) [a-z ]+\))'", statement):
            assert written in names, f"{path}: {written}"
