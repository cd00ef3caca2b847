"""The kinds of advice: one file each, `ingest/sql/advice/kinds/<kind>.sql`.

The comment of a file has what users read about the kind, as `Keyword: text` lines, which indented
lines continue. Its query, if any, returns facts: rows of `advice_facts` without the column `kind`.
Other SQL files read all kinds as the relations `texts_of_kinds` and `facts_of_kinds`, which
`expanded` replaces by queries. They are not objects of a database: nothing else needs them.
"""

import re
from functools import cache
from pathlib import Path

from ingest.sql.literals import literal

FOLDER = "kinds"
DIRECTORY = Path(__file__).parent / "advice" / FOLDER
# The columns of `texts_of_kinds`, with their keywords. The type says how often a keyword may occur,
# and whether its text is a list.
COLUMNS = {
    "meaning": ("Meaning", "VARCHAR"),
    "title": ("Title", "VARCHAR"),
    "host_title": ("Title on a host", "VARCHAR"),
    "short_title": ("Short title", "VARCHAR"),
    "colour": ("Colour", "VARCHAR"),
    "applies_to": ("Applies to", "VARCHAR[]"),
    "needs": ("Needs", "VARCHAR[]"),
    "cause": ("Cause", "VARCHAR"),
    "path": ("Path", "VARCHAR"),
    "path_text": ("Path text", "VARCHAR"),
    "names": ("Names", "VARCHAR"),
    "assumes": ("Assumes", "VARCHAR"),
    "findings": ("Finding", "SENTENCES"),
    "further": ("Also", "SENTENCES"),
    "evidence": ("Evidence", "VARCHAR"),
    "evidence_of": ("Evidence of", "VARCHAR"),
    "evidence_sums": ("Evidence sums", "VARCHAR"),
    "evidence_order": ("Evidence order", "VARCHAR"),
}
KEYWORDS = {keyword for keyword, _ in COLUMNS.values()}
REQUIRED = {"Meaning", "Title", "Short title", "Colour", "Applies to", "Finding"}
LINE = re.compile(r"-- ([A-Z][a-z ]*): (.+)")
REMEDY = re.compile(r"Remedy(?: unless ([a-z]+))?")
STANDS_FOR = re.compile(r"\b(texts_of_kinds|facts_of_kinds)\b")


def expanded(body: str) -> str:
    """Return a SQL statement with the queries that the names of this module stand for."""
    queries = {"texts_of_kinds": _texts, "facts_of_kinds": _facts}
    return STANDS_FOR.sub(lambda found: f"(\n{queries[found[0]]()}\n)", body)


def _facts() -> str:
    """Return the query for the facts of all kinds."""
    return "\nUNION ALL BY NAME\n".join(
        f"SELECT {literal(kind)} AS kind, * FROM (\n{query}\n)"
        for kind, (_, query) in _kinds().items()
        if query
    )


def _texts() -> str:
    """Return the query for the texts of all kinds."""
    return "\nUNION ALL\n".join(
        f"SELECT {literal(kind)} AS kind, {_columns(texts)}"
        for kind, (texts, _) in _kinds().items()
    )


def _columns(texts: list[tuple[str, str]]) -> str:
    parts = []
    for column, (keyword, kind) in COLUMNS.items():
        found = [text for name, text in texts if name == keyword]
        if kind == "VARCHAR":
            value = literal(found[0] if found else None)
        elif kind == "VARCHAR[]":
            value = literal(found[0].split(", ") if found else [])
        else:
            value = literal(found)
        parts.append(f"{value}::{kind.replace('SENTENCES', 'VARCHAR[]')} AS {column}")
    remedies = [
        f"{{'text': {literal(text)}, 'unless': {literal(list(filter(None, remedy.groups())))}}}"
        for name, text in texts
        if (remedy := REMEDY.fullmatch(name))
    ]
    listed = f"[{', '.join(remedies)}]::STRUCT(text VARCHAR, unless VARCHAR[])[] AS remedies"
    return ", ".join([*parts, listed])


@cache
def _kinds() -> dict[str, tuple[list[tuple[str, str]], str]]:
    """Return the texts with their keywords, and the query, of each kind by name."""
    return {path.stem: _read(path) for path in sorted(DIRECTORY.glob("*.sql"))}


def _read(path: Path) -> tuple[list[tuple[str, str]], str]:
    texts: list[tuple[str, str]] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    count = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
    for line in lines[:count]:
        if found := LINE.fullmatch(line):
            texts.append((found[1], found[2]))
        elif texts and line.startswith("--   "):
            keyword, text = texts[-1]
            texts[-1] = (keyword, f"{text} {line[5:]}")
        else:
            raise ValueError(f"{path}: {line}: must be like `-- Title: …`")
    for keyword, _ in texts:
        if keyword not in KEYWORDS and not REMEDY.fullmatch(keyword):
            raise ValueError(f"{path}: {keyword} is not one of {', '.join(sorted(KEYWORDS))}")
    if missing := REQUIRED - {keyword for keyword, _ in texts}:
        raise ValueError(f"{path}: {', '.join(sorted(missing))} is missing")
    return texts, "\n".join(lines[count:]).strip().removesuffix(";")
