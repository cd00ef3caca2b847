"""The SQL files: finding them, and reading the documentation in their header comments."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SQL_DIRECTORY = Path(__file__).parent
COLUMN_LINE = re.compile(r"^([a-z_0-9]+)  +(\S.*)$")


@dataclass(frozen=True)
class Documentation:
    """What a SQL file's header says: what a row is, and what each column holds."""

    summary: str
    row: str
    columns: dict[str, str]

    @property
    def text(self) -> str:
        """The object's comment in the catalog."""
        return f"{self.summary} One row: {self.row}"


@dataclass(frozen=True)
class SqlFile:
    """A `.sql` file: its object's name, text and documentation."""

    name: str
    text: str
    documentation: Documentation


@cache
def _paths() -> dict[str, Path]:
    """Each SQL file by its name, which no other has."""
    return {path.stem: path for path in sorted(SQL_DIRECTORY.glob("*/*/*.sql"))}


def script(name: str) -> str:
    """The text of `ingest/sql/<topic>/<kind>/<name>.sql`."""
    return _paths()[name].read_text(encoding="utf-8")


@cache
def scripts(kind: str) -> tuple[SqlFile, ...]:
    """The files of all folders `ingest/sql/<topic>/<kind>`, by name."""
    texts = {name: script(name) for name, path in _paths().items() if path.parent.name == kind}
    return tuple(SqlFile(name, text, _documentation(text)) for name, text in sorted(texts.items()))


def tables() -> tuple[SqlFile, ...]:
    """The tables that each run directory of the store holds as Parquet."""
    return scripts("tables")


def views() -> tuple[SqlFile, ...]:
    """The views over them."""
    return tuple(file for file in scripts("views") if "\nCREATE VIEW " in file.text)


def macros() -> tuple[SqlFile, ...]:
    """The table macros over tables and views, for what needs parameters."""
    return tuple(file for file in scripts("views") if "\nCREATE MACRO " in file.text)


def definitions() -> tuple[SqlFile, ...]:
    """The views and macros, which use each other, in the order in which they can be created."""
    files = {file.name: file for file in (*scripts("macros"), *views(), *macros())}
    ordered: dict[str, SqlFile] = {}

    def place(file: SqlFile) -> None:
        words = set(re.findall(r"[a-z_]+", re.sub(r"--.*", "", file.text)))
        for name in sorted((words & files.keys()) - {file.name} - ordered.keys()):
            place(files[name])
        ordered[file.name] = file

    for file in files.values():
        if file.name not in ordered:
            place(file)
    return tuple(ordered.values())


def quoted(value: str | Path) -> str:
    """A SQL string literal, for the few places that take no bound parameter."""
    return "'" + str(value).replace("'", "''") + "'"


def _documentation(text: str) -> Documentation:
    """Sentences, a line `One row: …`, then `column  meaning` lines; deeper lines continue one."""
    prose: list[str] = []
    columns: dict[str, str] = {}
    current = ""
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        content = line[2:].removeprefix(" ")
        if match := COLUMN_LINE.match(content):
            current = match[1]
            columns[current] = match[2]
        elif current and content.startswith("  "):
            columns[current] += " " + content.strip()
        else:
            prose.append(content.strip())
    summary, _, row = " ".join(filter(None, prose)).partition("One row: ")
    return Documentation(summary.strip(), row.strip(), columns)
