"""Keeping secrets out of the store: redacts them in all texts of the staged tables."""

from collections import Counter
from typing import NamedTuple

import duckdb
import pyarrow as pa

from ingest import sql
from ingest.redaction.rules import KEYWORDS, NAMES, PATTERNS
from ingest.redaction.secrets import redact_json, redact_text
from ingest.units import counted

BATCH = 10_000
MANY = 2_000  # texts, from which on it takes less time to compile all patterns than to read them
ESCAPED = r"\\u00[2-7]|\\/"  # in JSON, what need not be
# Most of a large trace are Python frames, whose arguments are numbers: no text, no secret.
SEARCHED = {
    ("staged", "args"): "coalesce(category, '') <> 'python_function' "
    "OR contains(args, ':\"') OR contains(args, '[\"')"
}


class Table(NamedTuple):
    """A staged table, and its columns with text in them, with their types."""

    name: str
    plain: dict[str, str]
    nested: dict[str, str]  # JSON, lists and maps
    has_source: bool

    @property
    def texts(self) -> dict[str, str]:
        """Each of these columns as a text."""
        return {column: column for column in self.plain} | {
            column: f"to_json({column})::VARCHAR" for column in self.nested
        }


def redact_secrets(connection: duckdb.DuckDBPyConnection) -> None:
    """Redacts the secrets in the staged tables, and adds a warning to the files that hold some.

    Each distinct text is looked at once. In JSON, lists and maps, keys say what their values are.
    """
    tables = _tables(connection)
    connection.execute("CREATE TABLE suspects (text VARCHAR, is_nested BOOLEAN)")
    connection.execute("CREATE TABLE redactions (old VARCHAR, new VARCHAR, is_nested BOOLEAN)")
    for table in tables:
        _find_suspects(connection, table)
    if _redact_suspects(connection):
        _warn(connection, tables)
        for table in tables:
            _redact_columns(connection, table)
    connection.execute("DROP TABLE suspects; DROP TABLE redactions")


def _tables(connection: duckdb.DuckDBPyConnection) -> list[Table]:
    """The staged tables that hold text."""
    staged = {file.name for file in sql.of_kind("staged")}
    tables = []
    for name, columns, kinds in connection.execute(
        "SELECT table_name, list(column_name), list(data_type) FROM duckdb_columns() "
        "WHERE database_name = current_database() GROUP BY table_name"
    ).fetchall():
        if name not in staged or not connection.execute(f"FROM {name} LIMIT 1").fetchall():
            continue
        typed = dict(zip(columns, kinds, strict=True))
        plain = {column: kind for column, kind in typed.items() if kind == "VARCHAR"}
        nested = {
            column: kind
            for column, kind in typed.items()
            if column not in plain and ("VARCHAR" in kind or "JSON" in kind)
        }
        if plain or nested:
            tables.append(Table(name, plain, nested, "source_id" in typed))
    return tables


def _find_suspects(connection: duckdb.DuckDBPyConnection, table: Table) -> None:
    """Puts the texts that hold keywords into table `suspects`."""
    if table.plain:  # in one pass over all columns, and distinct before they are searched
        columns = ", ".join(table.plain)
        sets = ", ".join(f"({column})" for column in table.plain)
        connection.execute(
            f"INSERT INTO suspects SELECT text, false FROM (SELECT coalesce({columns}, NULL) AS "
            f"text FROM {table.name} GROUP BY GROUPING SETS ({sets})) "
            "WHERE regexp_matches(text, $1)",
            [KEYWORDS],
        )
    for column in table.nested:
        connection.execute(
            f"INSERT INTO suspects SELECT DISTINCT {table.texts[column]} AS text, true "
            f"FROM {table.name} WHERE regexp_matches(text, $1) "
            f"AND ({SEARCHED.get((table.name, column), 'true')})",
            [f"{KEYWORDS}|{ESCAPED}"],
        )


def _redact_suspects(connection: duckdb.DuckDBPyConnection) -> bool:
    """Puts the texts that hold secrets into table `redactions`. Returns whether there are any."""
    ((count,),) = connection.execute("SELECT count(*) FROM suspects").fetchall()
    if count > MANY:
        connection.execute(
            "DELETE FROM suspects WHERE NOT regexp_matches(text, $1) "
            "AND NOT (is_nested AND regexp_matches(text, $2))",
            [PATTERNS, f"{NAMES}|{ESCAPED}"],
        )
    suspects = connection.cursor().execute("SELECT DISTINCT text, is_nested FROM suspects")
    is_any = False
    while rows := suspects.fetchmany(BATCH):
        redacted = [
            (text, new, is_nested)
            for text, is_nested in rows
            if (new := redact_json(text) if is_nested else redact_text(text)) != text
        ]
        if redacted:
            columns = dict(
                zip(("old", "new", "is_nested"), zip(*redacted, strict=True), strict=True)
            )
            connection.register("redacted", pa.table(columns))
            connection.execute("INSERT INTO redactions FROM redacted")
            connection.unregister("redacted")
            is_any = True
    return is_any


def _warn(connection: duckdb.DuckDBPyConnection, tables: list[Table]) -> None:
    """Adds the warnings: how many rows of a file hold a secret, besides those that describe it."""
    counts: Counter[tuple[int, str]] = Counter()
    for table in tables:
        if table.has_source and table.name != "staged_files":
            holds = " OR ".join(
                f"{text} IN (SELECT old FROM redactions WHERE is_nested = {column in table.nested})"
                for column, text in table.texts.items()
            )
            noun = "event" if table.name == "staged" else "text"
            for source_id, count in connection.execute(
                f"SELECT source_id, count(*) FROM {table.name} WHERE {holds} GROUP BY source_id"
            ).fetchall():
                counts[source_id, noun] += count
    for (source_id, noun), count in counts.items():
        connection.execute(
            "UPDATE staged_files SET warnings = list_append(warnings, $2), warning_codes = "
            "list_append(warning_codes, 'secrets_redacted') WHERE source_id = $1",
            [source_id, f"{counted(count, noun)} held what looks like a secret: redacted"],
        )


def _redact_columns(connection: duckdb.DuckDBPyConnection, table: Table) -> None:
    for column, kind in (table.plain | table.nested).items():
        is_nested = column in table.nested
        connection.execute(
            f"UPDATE {table.name} SET {column} = new{f'::JSON::{kind}' if is_nested else ''} "
            f"FROM redactions WHERE is_nested = {is_nested} AND {table.texts[column]} = old"
        )
