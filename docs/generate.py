"""Regenerates what is made and not written: the data dictionary, and the README's output blocks.

    python docs/generate.py          the data dictionary, and the keys of run.json
    python docs/generate.py TRACE    and the README, with the output that this trace gives

A block of the README is fenced with ```console and begins with `$ ingest …`; what follows the
command is its output.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import ingest
from capture.run_json import KEYS
from ingest import sql

REPOSITORY = Path(__file__).parent.parent
DICTIONARY = REPOSITORY / "docs" / "data_dictionary.md"
README = REPOSITORY / "README.md"
CAPTURE = REPOSITORY / "docs" / "capture.md"
KEYS_HEAD = "| key | meaning |\n| --- | --- |\n"
EXAMPLE = "h100_owlv2.json.gz"
BLOCK = re.compile(r"```console\n\$ (ingest [^\n]*)\n.*?```", re.DOTALL)
SECONDS = re.compile(r"\d+\.\d s\b")


def data_dictionary() -> str:
    """The text of `docs/data_dictionary.md`, from the comments in the SQL files."""
    with tempfile.TemporaryDirectory() as directory:
        types = _types(Path(directory) / "store")
    lines = [
        "# Data dictionary",
        "",
        "Generated from the comments in `ingest/sql` by `make docs`; `ingest schema` prints the "
        "same. Times are integer nanoseconds, sizes bytes, percentages 0 to 100.",
    ]
    groups = (("Tables", sql.tables()), ("Views", sql.views()), ("Macros", sql.macros()))
    for title, files in groups:
        lines += ["", f"## {title}"]
        for file in files:
            documentation = file.documentation
            lines += ["", f"### {file.name}", "", documentation.summary, ""]
            lines += [f"One row: {documentation.row}", "", "| column | type | meaning |"]
            lines += ["| --- | --- | --- |"]
            lines += [
                f"| {column} | {types.get((file.name, column), '')} | {_cell(meaning)} |"
                for column, meaning in documentation.columns.items()
            ]
    return "\n".join(lines) + "\n"


def capture_page(text: str) -> str:
    """`text` with the table at its end as `capture.run_json` has it."""
    rows = [f"| {key} | {_cell(meaning)} |\n" for key, meaning in KEYS.items()]
    return text.partition(KEYS_HEAD)[0] + KEYS_HEAD + "".join(rows)


def readme(text: str, trace: Path) -> str:
    """`text` with the output of each `$ ingest …` block as `trace` gives it, without times."""
    with tempfile.TemporaryDirectory() as directory:
        example = Path(directory) / EXAMPLE
        example.symlink_to(trace.resolve())

        def run(match: re.Match[str]) -> str:
            done = subprocess.run(
                [sys.executable, "-m", *shlex.split(match[1])],
                cwd=directory,
                env={**os.environ, "PYTHONPATH": str(REPOSITORY), "TRACEHOUSE_STORE": "store"},
                capture_output=True,
                text=True,
                check=True,
            )
            output = "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")
            return f"```console\n$ {match[1]}\n{SECONDS.sub('… s', output)}\n```"

        return BLOCK.sub(run, text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _types(store: Path) -> dict[tuple[str, str], str]:
    rows = ingest.connect(store).sql(
        "SELECT table_name, column_name, data_type FROM duckdb_columns()"
    )
    return {(table, column): kind for table, column, kind in rows.fetchall()}


def main() -> None:
    """Writes them."""
    DICTIONARY.write_text(data_dictionary(), encoding="utf-8")
    CAPTURE.write_text(capture_page(CAPTURE.read_text("utf-8")), encoding="utf-8")
    if len(sys.argv) > 1:
        README.write_text(readme(README.read_text("utf-8"), Path(sys.argv[1])), encoding="utf-8")


if __name__ == "__main__":
    main()
