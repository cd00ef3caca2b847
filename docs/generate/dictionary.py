"""Generates the data dictionary from the headers of the SQL files."""

import tempfile
from pathlib import Path

import ingest
from docs.generate.markdown import anchor, cell, link
from ingest import sql

Types = dict[tuple[str, str], str]

KEY_DIAGRAMS = {
    "Keys of a trace": ("runs", "steps", "device", "host", "events"),
    "Keys of memory": ("memory",),
    "Keys of compilation": ("compilation",),
}
KEYS_TEXT = (
    "Every relation has `run_id`, which refers to `runs`. `source_id` refers to an input file of "
    "the run in `sources`. Other keys are unique within a run. Steps, segments and `ordinal`s are "
    "unique within an input file, and an `ordinal` of memory within a device of that file. Join by "
    "all of these columns. The meaning of a column names in brackets the column that it refers to. "
    "The diagrams show the stored tables. They draw `run_id` and `source_id` only if nothing else "
    "connects a table. A view has the keys of the tables that it reads."
)


def data_dictionary() -> str:
    """Return the text of `docs/data_dictionary.md`, from the comments in the SQL files."""
    with tempfile.TemporaryDirectory() as directory:
        types = _types(Path(directory) / "store")
    lines = [
        "# Data dictionary",
        "",
        "`make docs` generates this page from the comments in `ingest/sql`, and `ingest schema` "
        "prints the same texts. Times are integer nanoseconds, sizes are bytes, and percentages "
        "go from 0 to 100. [Worked questions](questions.md) shows queries with their results.",
        "",
        "## Start here",
        "",
        "| relation | question |",
        "| --- | --- |",
    ]
    lines += [f"| {link(name)} | {question} |" for name, question in sql.start_here().items()]
    lines += [
        "",
        "## All relations",
        "",
        "| topic | relations | parts of these |",
        "| --- | --- | --- |",
    ]
    lines += [_index(topic) for topic in sql.TOPICS]
    lines += ["", "## Keys", "", KEYS_TEXT]
    for title, topics in KEY_DIAGRAMS.items():
        lines += ["", f"### {title}", "", *_key_diagram(topics, types)]
    for topic in sql.TOPICS:
        lines += ["", f"## {topic.title}", "", topic.text]
        for file in sql.of_topic(topic):
            lines += ["", f"### {file.name}", "", *_described(file, types)]
    return "\n".join(lines) + "\n"


def _index(topic: sql.Topic) -> str:
    files = sql.of_topic(topic)
    parts = ", ".join(link(file.name) for file in files if file.documentation.part_of)
    asked = ", ".join(link(file.name) for file in files if not file.documentation.part_of)
    return f"| [{topic.title}](#{anchor(topic.title)}) | {asked} | {parts} |"


def _described(file: sql.SqlFile, types: Types) -> list[str]:
    documentation = file.documentation
    kind = "Macro" if file.macro else "Table" if file.is_table else "View"
    columns = [
        f"| {column} | {types.get((file.name, column), '')} | {cell(meaning)} |"
        for column, meaning in documentation.columns.items()
    ]
    head = ["| column | type | meaning |", "| --- | --- | --- |"]
    row = f"{kind}. One row: {documentation.row}"
    return [documentation.summary, "", row, "", *head, *columns]


def _key_diagram(topics: tuple[str, ...], types: Types) -> list[str]:
    """Return a Mermaid diagram of the references of the tables of these topics."""
    columns: dict[str, set[str]] = {}
    arrows: dict[tuple[str, str], list[str]] = {}
    tables = {table.name: table for table in sql.tables()}
    for table in tables.values():
        for column, target, target_column in _references(table) if table.topic in topics else ():
            columns.setdefault(target, set()).add(target_column)
            columns.setdefault(table.name, set()).add(column)
            arrows.setdefault((table.name, target), []).append(column)
    lines = ["```mermaid", "erDiagram"]
    for name, keys in columns.items():
        lines += [f"    {name} {{"]
        lines += [
            f"        {types[name, key].replace('[]', '_list')} {key}"
            for key in tables[name].documentation.columns
            if key in keys
        ]
        lines += ["    }"]
    lines += [
        f'    {name} }}o--o| {target} : "{", ".join(keys)}"'
        for (name, target), keys in arrows.items()
    ]
    return [*lines, "```"]


def _references(table: sql.SqlFile) -> list[tuple[str, str, str]]:
    """Return the table's keys, each with the table and column that it refers to.

    `source_id` and `run_id` are included only if no other key connects the table.
    """
    tables = {other.name for other in sql.tables()}
    found = [
        (reference.column, reference.target, reference.target_column)
        for reference in sql.key_references()
        if reference.relation == table.name and reference.target in tables
    ]
    if not {target for _, target, _ in found} - {table.name} and table.name != "runs":
        has_source = "source_id" in table.documentation.columns and table.name != "sources"
        key, target = ("source_id", "sources") if has_source else ("run_id", "runs")
        found.append((key, target, key))
    return found


def _types(store: Path) -> Types:
    rows = ingest.connect(store).sql(
        "SELECT table_name, column_name, data_type FROM duckdb_columns()"
    )
    return {(table, column): kind for table, column, kind in rows.fetchall()}
