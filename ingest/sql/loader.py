"""Loading of the SQL files, and parsing of their header comments."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

SQL_DIRECTORY = Path(__file__).parent
COLUMN_LINE = re.compile(r"^([a-z_0-9]+)  +(\S.*)$")
KEYWORDS = (
    *("One row", "Start here", "Indexed", "Materialised", "Materialised in small runs", "Stored"),
    *("Filled by", "Paths"),
)
KEYWORD_LINE = re.compile(rf"^({'|'.join(KEYWORDS)}): ")
PART_LINE = re.compile(r"Part of (`\w+`(?:(?:, | and )`\w+`)*): ")
FILLING = re.compile(r"(\w+)\(([\w, ]+)\)")
PATHS = re.compile(r"(\w+) \((\w+)\)")
MACRO = re.compile(
    r"CREATE MACRO \w+\((?P<parameters>.*?)\)\s+AS\s+(?P<table>TABLE\s)?(?P<body>.*?);?\s*",
    re.DOTALL,
)
KINDS = frozenset({"staged", "macros", "intermediate", "tables", "views", "queries"})
IN_SCRATCH = frozenset({"staged", "macros", "intermediate", "tables"})
IN_CATALOG = frozenset({"macros", "tables", "views"})


@dataclass(frozen=True)
class Documentation:
    """The documentation in a SQL file's header: a summary, the meaning of a row and of each column.

    `question` is the question that a relation answers, for the few relations that users start from.
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
        """The relations that this one is a part of; empty if users query it directly."""
        found = PART_LINE.match(self.summary)
        return tuple(re.findall(r"\w+", found[1].replace(" and ", " "))) if found else ()


class Filling(NamedTuple):
    """The Python step that fills a table, and the relations that the step reads."""

    step: str
    reads: tuple[str, ...]


class Macro(NamedTuple):
    """A macro's parameters, its body, and whether the body is a query."""

    parameters: tuple[str, ...]
    body: str
    is_table: bool


@dataclass(frozen=True)
class SqlFile:
    """A file `ingest/sql/<topic>/<kind>/<name>.sql`, which defines one object.

    `materialised` is the reason why a relation is a table in the scratch database instead of a
    view, and `materialised_if_small` the same for small runs only. `stored` is the reason why the
    store keeps the rows of a view for each run. `indexed` is the reason why the store's index
    includes its rows. `paths` maps the columns that contain paths to the macros that make these
    paths relative.
    """

    name: str
    topic: str
    kind: str
    body: str
    documentation: Documentation
    materialised: str | None
    materialised_if_small: str | None
    stored: str | None
    indexed: str | None
    filled_by: Filling | None
    paths: dict[str, str]

    @property
    def is_ddl(self) -> bool:
        """Whether the file creates an empty table, which a reader or a Python step fills."""
        return self.body.startswith("CREATE TABLE ")

    @property
    def is_table(self) -> bool:
        """Whether the store keeps the relation's rows for each run."""
        return self.kind == "tables" or self.stored is not None

    @property
    def query(self) -> str:
        """The query of a relation, without the semicolon at its end."""
        return self.body.rstrip().removesuffix(";")

    @cached_property
    def macro(self) -> Macro | None:
        """The macro that the file creates, or None."""
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
    """Return all SQL files by name.

    Raise ValueError if two files have the same name, or if a folder is not one of `KINDS`.
    """
    found: dict[str, SqlFile] = {}
    for path in sorted(SQL_DIRECTORY.glob("*/*/*.sql")):
        if path.stem in found:
            raise ValueError(f"{path}: topic {found[path.stem].topic} has a file with this name")
        if path.parent.name not in KINDS:
            raise ValueError(f"{path}: the folder must be one of {', '.join(sorted(KINDS))}")
        found[path.stem] = _read(path)
    return found


def query(name: str) -> str:
    """Return the text of the statement in `ingest/sql/<topic>/queries/<name>.sql`."""
    return files()[name].body


def row_counts(names: Iterable[str]) -> str:
    """Return the query for the names of tables and their numbers of rows."""
    return " UNION ALL ".join(f"SELECT '{name}', count(*) FROM {name}" for name in names)


def of_kind(*kinds: str) -> tuple[SqlFile, ...]:
    """Return the files of the folders `ingest/sql/<topic>/<kind>`, sorted by name."""
    return tuple(file for _, file in sorted(files().items()) if file.kind in kinds)


def tables() -> tuple[SqlFile, ...]:
    """Return the tables and views whose rows the store keeps for each run, as Parquet files."""
    return tuple(file for file in of_kind("tables", "views") if file.is_table)


def views() -> tuple[SqlFile, ...]:
    """Return the views over the tables that are computed when a query reads them."""
    return tuple(file for file in of_kind("views") if not file.macro and not file.stored)


def macros() -> tuple[SqlFile, ...]:
    """Return the table macros over tables and views."""
    return tuple(file for file in of_kind("views") if file.macro)


def indexed() -> tuple[SqlFile, ...]:
    """Return the tables and views whose rows are in the store's index, sorted by name."""
    return tuple(file for file in of_kind("tables", "views") if file.indexed)


def relations() -> tuple[SqlFile, ...]:
    """Return everything that users query: tables, then views, then table macros."""
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
        keywords.get("Materialised in small runs"),
        keywords.get("Stored"),
        keywords.get("Indexed"),
        _filling(filling) if filling else None,
        _paths(keywords["Paths"]) if "Paths" in keywords else {},
    )


def _filling(text: str) -> Filling:
    if not (found := FILLING.fullmatch(text)):
        raise ValueError(f"Filled by: {text}: must be like step(relation, relation)")
    return Filling(found[1], tuple(found[2].split(", ")))


def _paths(text: str) -> dict[str, str]:
    found = [PATHS.fullmatch(part) for part in text.split(", ")]
    if not all(found):
        raise ValueError(f"Paths: {text}: must be like column (macro), column (macro)")
    return {match[1]: match[2] for match in found if match}


def _header(lines: list[str]) -> tuple[Documentation, dict[str, str]]:
    """Parse a header: its documentation, and the texts of its keywords.

    A header has a summary, `One row: …`, other keywords, and `column  description` lines, which
    indented lines continue. An empty line ends the text of a keyword other than `One row`.
    """
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
    joined = {keyword: " ".join(parts) for keyword, parts in texts.items()}
    summary, question = joined.pop(""), joined.get("Start here")
    return Documentation(summary, joined["One row"], columns, question), joined
