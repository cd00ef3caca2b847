"""The documentation of columns in the headers of SQL files."""

import re

import duckdb
import pytest

import ingest
from ingest import connect, server, sql
from ingest.sql import headers
from ingest.sql.columns import SUFFIXES
from tests.helpers.samples import COMPILED, SNAPSHOTS, Samples


def test_paths_name_existing_columns_and_macros() -> None:
    macros = {macro.name for macro in sql.of_kind("macros")}
    with duckdb.connect() as connection:
        for file in sql.of_kind("staged"):
            connection.execute(file.statement)
            columns = {name for name, *_ in connection.execute(f"DESCRIBE {file.name}").fetchall()}
            assert file.paths.keys() <= columns, file.name
            assert set(file.paths.values()) <= macros, file.name


Columns = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory) -> Columns:
    """Table or view → column → type."""
    store = ingest.Store(tmp_path_factory.mktemp("columns") / "store")
    found: Columns = {}
    with connect(store.path) as connection:
        for name, column, kind in connection.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal"
        ).fetchall():
            found.setdefault(name, {})[column] = kind
    return found


def test_each_topic_has_a_title() -> None:
    folders = {file.topic for file in sql.relations()}
    assert sorted(topic.name for topic in sql.TOPICS) == sorted(folders)


def test_the_glossary_describes_the_columns_that_relations_share() -> None:
    described = [file.documentation.columns for file in sql.files().values()]
    for column, meaning in headers.glossary().items():
        assert sum(columns.get(column) == meaning for columns in described) > 1, column


def test_counts_are_columns_without_another_unit() -> None:
    columns = {name for file in sql.files().values() for name in file.documentation.columns}
    assert headers.counts() <= columns
    assert {name for name in headers.counts() if name.endswith(tuple(SUFFIXES))} == set()


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        ("idle_ns", "ns"),
        ("added_at", "moment"),
        ("bytes", "bytes"),
        ("bytes_per_s", "bytes/s"),
        ("gb_per_s", "GB/s"),
        ("computation_flo", "FLO"),
        ("flo_per_s", "FLO/s"),
        ("idle_percent", "percent"),
        ("kernels", "count"),
        ("peak_ordinal", "count"),
        ("rank", None),
        ("event_id", None),
    ],
)
def test_a_column_has_the_unit_of_its_name(column: str, unit: str | None) -> None:
    assert server.column_unit(column) == unit


def test_columns_with_a_unit_are_numbers_or_times(types: Columns) -> None:
    others = {
        f"{relation}.{column}": kind
        for relation, columns in types.items()
        for column, kind in columns.items()
        if server.column_unit(column)
        and not kind.startswith(("BIGINT", "INTEGER", "DOUBLE", "HUGEINT", "SMALLINT", "TIMESTAMP"))
    }
    assert others == {}


def test_columns_of_a_macro_have_meanings() -> None:
    assert "in launch order" in server.column_meanings("kernel_sequences")["sequence"]


def test_a_header_does_not_repeat_the_glossary() -> None:
    repeated = []
    for path in headers.GLOSSARY.parent.glob("*/*/*.sql"):
        text = re.sub(r"\n--  +", " ", path.read_text(encoding="utf-8"))  # a column in a line
        for column, meaning in re.findall(r"^-- (\w+)  +(.*)$", text, re.MULTILINE):
            if headers.glossary().get(column) == meaning:
                repeated.append(f"{path.stem}.{column}")
    assert repeated == []


def test_users_start_from_few_relations() -> None:
    assert 10 <= len(sql.start_here()) <= 18
    assert all(question.endswith("?") for question in sql.start_here().values())


def test_part_of_names_existing_relations() -> None:
    names = {file.name for file in sql.relations()}
    for file in sql.relations():
        assert set(file.documentation.part_of) <= names, file.name
        assert bool(file.documentation.part_of) == file.documentation.summary.startswith("Part of")


def test_a_column_name_has_one_type(types: Columns) -> None:
    """`value` is an exception: it holds a setting, a condition or a metric."""
    found: dict[str, set[str]] = {}
    for columns in types.values():
        for column, kind in columns.items():
            found.setdefault(column, set()).add(kind)
    assert [column for column, kinds in found.items() if len(kinds) > 1] == ["value"]


def test_exactly_the_boolean_columns_begin_with_is(types: Columns) -> None:
    for name, columns in types.items():
        for column, kind in columns.items():
            assert (kind == "BOOLEAN") == column.startswith("is_"), f"{name}.{column}"


RECORDED_NUMBERS = {"external_id", "graph_id", "rf_id"}  # these refer to no row


def test_headers_document_what_each_key_refers_to(types: Columns) -> None:
    references = sql.key_references()
    known = {(found.relation, found.column) for found in references}
    known |= {(found.target, found.target_column) for found in references}
    for name, columns in types.items():
        for column in columns:
            if column.endswith("_id") and column not in {"run_id", "source_id"} | RECORDED_NUMBERS:
                assert (name, column) in known, f"{name}.{column}"


def test_a_key_has_the_type_of_the_column_that_it_refers_to(types: Columns) -> None:
    for found in sql.key_references():
        if found.relation in types and found.target in types:
            kind = types[found.relation][found.column].removesuffix("[]")
            assert kind == types[found.target][found.target_column], found


def test_keys_refer_to_existing_rows(sampled: Samples, types: Columns) -> None:
    """Ordinals for the time before the first action and after the last are exceptions."""
    store = sampled.store("h100_owlv2", "v100_resnet50_workers0", COMPILED, *SNAPSHOTS)
    with connect(store) as connection:
        for found in sql.key_references():
            if not {found.relation, found.target} <= types.keys():
                continue
            is_list = types[found.relation][found.column].endswith("[]")
            key = f"unnest({found.column})" if is_list else found.column
            beyond = "AND key NOT IN (-1, 9223372036854775807)" if "ordinal" in found.column else ""
            lost = connection.execute(
                f"""
                FROM (SELECT run_id, {key} AS key FROM {found.relation})
                ANTI JOIN (SELECT run_id, {found.target_column} AS key FROM {found.target})
                    USING (run_id, key)
                WHERE key IS NOT NULL {beyond}
                LIMIT 3
                """
            ).fetchall()
            assert not lost, f"{found}: {lost}"
