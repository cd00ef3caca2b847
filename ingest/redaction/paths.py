"""`--redact-paths`: keeps paths, which name a machine's users, out of the store."""

from pathlib import Path

import duckdb

# A Python frame of a trace, of which the path leads anywhere: `path(line): function`.
FRAME = r"^([/\\~]|\.\.[/\\]|[A-Za-z]+:[/\\]).*\(\d+\): "

# Texts of compile logs and of run.json, in which paths may stand anywhere.
TEXTS = (
    ("staged_compile_records", "body"),
    ("staged_compile_records", "stack"),
    ("staged_nodes", "code"),
    ("staged_run_json", "body"),
)


def redact_paths(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes the paths of stack frames, of a trace's Python frames and of graphs relative."""
    directory = str(Path.cwd())
    connection.execute(
        "UPDATE staged_frames SET filename = without_place(filename, $1)", [directory]
    )
    for table, column in TEXTS:
        connection.execute(
            f"UPDATE {table} SET {column} = text_without_places({column}, $1)", [directory]
        )
    connection.execute(
        "UPDATE staged_nodes SET file = without_place(file, $1) WHERE file IS NOT NULL",
        [directory],
    )
    connection.execute(
        "UPDATE staged_kernel_calls "
        "SET stacks = list_transform(stacks, LAMBDA stack: text_without_places(stack, $1))",
        [directory],
    )
    connection.execute(
        r"""
        UPDATE staged
        SET name = without_place(regexp_extract(name, '^(.*)\(\d+\): ', 1), $1)
            || regexp_extract(name, '\(\d+\): .*$')
        WHERE category = 'python_function' AND regexp_matches(name, $2)
        """,
        [directory, FRAME],
    )
