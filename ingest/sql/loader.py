"""The SQL files: finding them, and reading the documentation in their header comments."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

SQL_DIRECTORY = Path(__file__).parent
COLUMN_LINE = re.compile(r"^([a-z_0-9]+)  +(\S.*)$")
KEYWORD_LINE = re.compile(r"^(One row|Start here|Indexed|Materialised|Filled by|Paths): ")
PART_LINE = re.compile(r"Part of (`\w+`(?:(?:, | and )`\w+`)*): ")
FILLING = re.compile(r"(\w+)\(([\w, ]+)\)")
PATHS = re.compile(r"(\w+) \((\w+)\)")
MACRO = re.compile(
    r"CREATE MACRO \w+\((?P<parameters>.*?)\)\s+AS\s+(?P<table>TABLE\s)?(?P<body>.*?);?\s*",
    re.DOTALL,
)
KINDS = frozenset({"staged", "macros", "load", "tables", "views", "queries"})
IN_SCRATCH = frozenset({"staged", "macros", "load", "tables"})
IN_CATALOG = frozenset({"macros", "tables", "views"})


@dataclass(frozen=True)
class Documentation:
    """What a SQL file's header says: what a row is, and what each column holds.

    `question` is set of the few relations that users start from: what they answer.
    """

    summary: str
    row: str
    columns: dict[str, str]
    question: str | None = None

    @property
    def text(self) -> str:
        """The object's comment in the catalog."""
        return f"{self.summary} One row: {self.row}"

    @property
    def part_of(self) -> tuple[str, ...]:
        """The relations that this one is a part of; empty where users ask it by itself."""
        found = PART_LINE.match(self.summary)
        return tuple(re.findall(r"\w+", found[1].replace(" and ", " "))) if found else ()


class Filling(NamedTuple):
    """The step in Python that fills a table, and the relations it reads."""

    step: str
    reads: tuple[str, ...]


class Macro(NamedTuple):
    """A macro's parameters, its body, and whether that is a query."""

    parameters: tuple[str, ...]
    body: str
    is_table: bool


@dataclass(frozen=True)
class SqlFile:
    """A `.sql` file, `ingest/sql/<topic>/<kind>/<name>.sql`: one object, named after the file.

    `materialised` says why a relation is a table in the scratch database and no view, `indexed` why
    the store's index keeps its rows. `paths` names the columns that hold paths, each with the macro
    that makes them relative.
    """

    name: str
    topic: str
    kind: str
    body: str
    documentation: Documentation
    materialised: str | None
    indexed: str | None
    filled_by: Filling | None
    paths: dict[str, str]

    @property
    def is_ddl(self) -> bool:
        """Whether the file creates an empty table, which readers or a step in Python fill."""
        return self.body.startswith("CREATE TABLE ")

    @cached_property
    def macro(self) -> Macro | None:
        """The macro that the file creates, if it creates one."""
        if not (found := MACRO.fullmatch(self.body)):
            return None
        parameters = re.findall(r"(\w+)(?:\s*:=[^,]*)?(?:,|$)", found["parameters"])
        return Macro(tuple(parameters), found["body"], found["table"] is not None)

    @property
    def statement(self) -> str:
        """The statement that creates the object."""
        if self.is_ddl or self.macro:
            return self.body
        return f"CREATE {'TABLE' if self.materialised else 'VIEW'} {self.name} AS\n{self.body}"


@cache
def files() -> dict[str, SqlFile]:
    """All SQL files by name. Raises ValueError where two have one name, or a folder is no kind."""
    found: dict[str, SqlFile] = {}
    for path in sorted(SQL_DIRECTORY.glob("*/*/*.sql")):
        if path.stem in found:
            raise ValueError(f"{path}: topic {found[path.stem].topic} has a file of that name too")
        if path.parent.name not in KINDS:
            raise ValueError(f"{path}: no such kind of SQL; there are {', '.join(sorted(KINDS))}")
        found[path.stem] = _read(path)
    return found


def query(name: str) -> str:
    """The text of a statement with parameters, `ingest/sql/<topic>/queries/<name>.sql`."""
    return files()[name].body


def row_counts(names: Iterable[str]) -> str:
    """The query for the names of tables and how many rows each has."""
    return " UNION ALL ".join(f"SELECT '{name}', count(*) FROM {name}" for name in names)


def of_kind(*kinds: str) -> tuple[SqlFile, ...]:
    """The files of the folders `ingest/sql/<topic>/<kind>`, by name."""
    return tuple(file for _, file in sorted(files().items()) if file.kind in kinds)


def tables() -> tuple[SqlFile, ...]:
    """The tables that each run directory of the store holds as Parquet."""
    return of_kind("tables")


def views() -> tuple[SqlFile, ...]:
    """The views over them."""
    return tuple(file for file in of_kind("views") if not file.macro)


def macros() -> tuple[SqlFile, ...]:
    """The table macros over tables and views, for what needs parameters."""
    return tuple(file for file in of_kind("views") if file.macro)


def indexed() -> tuple[SqlFile, ...]:
    """The tables and views whose rows the store's index keeps, by name."""
    return tuple(file for file in of_kind("tables", "views") if file.indexed)


def relations() -> tuple[SqlFile, ...]:
    """All that users query: tables, views, then table macros."""
    return (*tables(), *views(), *macros())


def _read(path: Path) -> SqlFile:
    lines = path.read_text(encoding="utf-8").splitlines()
    is_body = [not line.startswith("--") and bool(line.strip()) for line in lines]
    begins = is_body.index(True)
    documentation, keywords = _header(lines[:begins])
    filling = keywords.get("Filled by")
    return SqlFile(
        path.stem,
        path.parts[-3],
        path.parts[-2],
        "\n".join(lines[begins:]),
        documentation,
        keywords.get("Materialised"),
        keywords.get("Indexed"),
        _filling(filling) if filling else None,
        _paths(keywords["Paths"]) if "Paths" in keywords else {},
    )


def _filling(text: str) -> Filling:
    if not (found := FILLING.fullmatch(text)):
        raise ValueError(f"Filled by: {text}: not a step with the relations that it reads")
    return Filling(found[1], tuple(found[2].split(", ")))


def _paths(text: str) -> dict[str, str]:
    found = [PATHS.fullmatch(part) for part in text.split(", ")]
    if not all(found):
        raise ValueError(f"Paths: {text}: not columns with the macro that shortens each")
    return {match[1]: match[2] for match in found if match}


def _header(lines: list[str]) -> tuple[Documentation, dict[str, str]]:
    """Sentences; `One row: …` with what follows; the other keywords, each of which an empty line
    ends; then `column  meaning` lines, which deeper lines continue."""
    texts: dict[str, list[str]] = {"": [], "One row": []}
    columns: dict[str, str] = {}
    keyword = prose = column = ""
    for line in lines:
        content = line[2:].removeprefix(" ")
        if match := COLUMN_LINE.match(content):
            column = match[1]
            columns[column] = match[2]
        elif column and content.startswith("  "):
            columns[column] += " " + content.strip()
        elif match := KEYWORD_LINE.match(content):
            keyword = match[1]
            prose = keyword if keyword == "One row" else prose
            texts[keyword] = [content[match.end() :].strip()]
        elif content.strip():
            texts[keyword].append(content.strip())
        else:
            keyword = prose
    said = {keyword: " ".join(parts) for keyword, parts in texts.items()}
    return Documentation(said.pop(""), said["One row"], columns, said.get("Start here")), said
