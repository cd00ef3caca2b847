"""Loading of the SQL files."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from ingest.sql import advice_kinds
from ingest.sql.headers import Documentation, Filling, documentation, filling, keywords, paths

SQL_DIRECTORY = Path(__file__).parent
HEADER = re.compile(r"(?:--.*\n|\s*\n)*")
MACRO = re.compile(
    r"CREATE MACRO \w+\((?P<parameters>.*?)\)\s+AS\s+(?P<table>TABLE\s)?(?P<body>.*?);?\s*",
    re.DOTALL,
)
KINDS = frozenset({"staged", "macros", "intermediate", "tables", "views", "queries"})
IN_SCRATCH = frozenset({"staged", "macros", "intermediate", "tables"})
IN_CATALOG = frozenset({"macros", "tables", "views"})


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
    header: str
    materialised: str | None
    materialised_if_small: str | None
    stored: str | None
    indexed: str | None
    filled_by: Filling | None
    paths: dict[str, str]

    @cached_property
    def documentation(self) -> Documentation:
        """The header, parsed when something needs it: adding a run does not."""
        return documentation(self.header)

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
        if path.parent == advice_kinds.DIRECTORY:
            continue
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
    text = path.read_text(encoding="utf-8")
    header = HEADER.match(text)[0]  # type: ignore[index]  # it matches any text
    said = keywords(header)
    filled_by = said.get("Filled by")
    return SqlFile(
        path.stem,
        path.parts[-3],
        path.parts[-2],
        advice_kinds.expanded(text[len(header) :].removesuffix("\n")),
        header,
        said.get("Materialised"),
        said.get("Materialised in small runs"),
        said.get("Stored"),
        said.get("Indexed"),
        filling(filled_by) if filled_by else None,
        paths(said["Paths"]) if "Paths" in said else {},
    )
