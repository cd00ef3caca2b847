"""Redaction of the secrets in all texts of the staged tables."""

import re
from collections import Counter
from typing import NamedTuple

import duckdb

from ingest import sql
from ingest.redaction.rules import KEYWORDS
from ingest.redaction.secrets import redact_json, redact_text
from ingest.units import counted

BATCH = 10_000
OF_EVENTS = {"staged", "staged_activities", "staged_calls", "staged_counters"}
FEW = 100  # up to this number of rows, reading all texts is faster than compiling the keywords
ESCAPED = r"\\u00[2-7]|\\/"  # escapes in JSON that are not necessary, and may hide a secret


class Table(NamedTuple):
    """A staged table and its columns that contain text."""

    name: str
    rows: int
    has_source: bool
    plain: list[str]
    nested: dict[str, str]  # JSON, lists and maps, with their types

    @property
    def texts(self) -> dict[str, str]:
        """SQL expressions for these columns as text."""
        return {column: column for column in self.plain} | {
            column: f"{column}::VARCHAR" if kind == "JSON" else f"to_json({column})::VARCHAR"
            for column, kind in self.nested.items()
        }

    @property
    def query(self) -> str:
        """A query for the texts that may hold secrets, without duplicates in plain columns."""
        parts = []
        if self.plain:
            sets = ", ".join(f"({column})" for column in self.plain)
            parts.append(
                f"SELECT coalesce(NULL, {', '.join(self.plain)}) AS text, false AS is_nested "
                f"FROM {self.name} GROUP BY GROUPING SETS ({sets})"
            )
        if self.nested:
            texts = ", ".join(self.texts[column] for column in self.nested)
            parts.append(
                f"SELECT {texts if len(self.nested) == 1 else f'unnest([{texts}])'} AS text, "
                f"true AS is_nested FROM {self.name}"
            )
        texts = f"SELECT '{self.name}' AS table_name, * FROM ({' UNION ALL '.join(parts)})"
        if self.rows <= FEW:
            return f"{texts} WHERE text IS NOT NULL"
        return f"{texts} WHERE regexp_matches(text, '{KEYWORDS}|{ESCAPED}')"


def redact_secrets(connection: duckdb.DuckDBPyConnection) -> None:
    """Redact the secrets in the staged tables, and add a warning to the files that hold some.

    Each distinct text is read once. In JSON, lists and maps, a key shows whether its value is a
    secret.
    """
    tables = _tables(connection)
    texts = " UNION ALL ".join(table.query for table in tables)
    connection.execute(f"CREATE TABLE suspects AS SELECT DISTINCT * FROM ({texts})")
    connection.execute(
        "CREATE TABLE redactions (table_name VARCHAR, old VARCHAR, new VARCHAR, is_nested BOOLEAN)"
    )
    _redact_suspects(connection)
    found = connection.execute("SELECT DISTINCT table_name FROM redactions").fetchall()
    changing = [table for table in tables if (table.name,) in found]
    _warn(connection, changing)
    for table in changing:
        _redact_columns(connection, table)
    connection.execute("DROP TABLE suspects; DROP TABLE redactions")


def _tables(connection: duckdb.DuckDBPyConnection) -> list[Table]:
    """Return the staged tables that hold text."""
    tables = []
    columns = {node.name: node.columns for node in sql.nodes("scratch")}
    staged = [file.name for file in sql.of_kind("staged")]
    for table, rows in connection.execute(sql.row_counts(staged)).fetchall():
        kinds = columns[table] if rows else {}
        plain = [column for column, kind in kinds.items() if kind == "VARCHAR"]
        nested = {
            column: kind
            for column, kind in kinds.items()
            if kind != "VARCHAR" and re.search("VARCHAR|JSON", kind)
        }
        if plain or nested:
            tables.append(Table(table, rows, "source_id" in kinds, plain, nested))
    return tables


def _redact_suspects(connection: duckdb.DuckDBPyConnection) -> None:
    """Insert the texts that hold secrets, with their redacted form, into table `redactions`."""
    suspects = connection.cursor().execute("FROM suspects")
    while rows := suspects.fetchmany(BATCH):
        redacted = [
            (table, text, new, is_nested)
            for table, text, is_nested in rows
            if (new := redact_json(text) if is_nested else redact_text(text)) != text
        ]
        if redacted:
            connection.execute(
                "INSERT INTO redactions SELECT unnest($1), unnest($2), unnest($3), unnest($4)",
                list(map(list, zip(*redacted, strict=True))),
            )


def _warn(connection: duckdb.DuckDBPyConnection, tables: list[Table]) -> None:
    """Warn of each file's number of rows with secrets. Rows of `staged_files` do not count."""
    counts: Counter[tuple[int, str]] = Counter()
    events = []
    for table in tables:
        if not table.has_source or table.name == "staged_files":
            continue
        holds = " OR ".join(
            f"{text} IN (SELECT old FROM redactions WHERE table_name = '{table.name}' "
            f"AND is_nested = {column in table.nested})"
            for column, text in table.texts.items()
        )
        if table.name in OF_EVENTS:
            events.append(f"SELECT source_id, event_id FROM {table.name} WHERE {holds}")
            continue
        for source_id, count in connection.execute(
            f"SELECT source_id, count(*) FROM {table.name} WHERE {holds} GROUP BY source_id"
        ).fetchall():
            counts[source_id, "text"] += count
    for source_id, count in (
        connection.execute(
            f"SELECT source_id, count(DISTINCT event_id) FROM ({' UNION ALL '.join(events)}) "
            "GROUP BY source_id"
        ).fetchall()
        if events
        else ()
    ):
        counts[source_id, "event"] += count
    for (source_id, noun), count in counts.items():
        connection.execute(
            "UPDATE staged_files SET warnings = list_append(warnings, $2), warning_codes = "
            "list_append(warning_codes, 'secrets_redacted') WHERE source_id = $1",
            [source_id, f"redacted text that looks like a secret in {counted(count, noun)}"],
        )


def _redact_columns(connection: duckdb.DuckDBPyConnection, table: Table) -> None:
    for column, text in table.texts.items():
        is_nested = column in table.nested
        new = f"new::JSON::{table.nested[column]}" if is_nested else "new"
        connection.execute(
            f"UPDATE {table.name} SET {column} = {new} FROM redactions WHERE {text} = old "
            f"AND redactions.table_name = '{table.name}' AND is_nested = {is_nested}"
        )
