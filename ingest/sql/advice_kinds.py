"""The kinds of advice: one file each, `ingest/sql/advice/kinds/<kind>.sql`.

The comment of a file has what users read about the kind, as `Keyword: text` lines, which indented
lines continue. Its query, if any, returns facts: rows with columns of `advice_facts`, which adds up
the rows of a name and leaves out other columns.
Other SQL files read all kinds as the relations `texts_of_kinds`, `facts_of_kinds` and, without the
texts, `causes_of_kinds`. `expanded` replaces these by queries. They are not objects of a database:
nothing else needs them.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

from ingest.sql.literals import literal

DIRECTORY = Path(__file__).parent / "advice" / "kinds"
# The columns of `texts_of_kinds`, with their keywords. Sentences and remedies may be repeated.
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
    "first_findings": ("Finding in any case", "SENTENCES"),
    "findings": ("Finding", "SENTENCES"),
    "further": ("Also", "SENTENCES"),
    "evidence": ("Evidence", "VARCHAR"),
    "evidence_of": ("Evidence of", "VARCHAR"),
    "evidence_sums": ("Evidence sums", "VARCHAR"),
    "evidence_order": ("Evidence order", "VARCHAR"),
    "remedies": ("Remedy", "REMEDIES"),
}
KEYWORDS = {keyword for keyword, _ in COLUMNS.values()}
REPEATED = {keyword for keyword, kind in COLUMNS.values() if kind in ("SENTENCES", "REMEDIES")}
# The words that other SQL understands.
WORDS = {
    "Applies to": {"device", "host"},
    "Needs": {"launches", "half_precision", "limits", "input_types", "matches"},
    "Names": {"kernel", "op"},
}
REQUIRED = {"Meaning", "Title", "Short title", "Colour", "Applies to", "Finding"}
LINE = re.compile(r"-- ([A-Z][a-z ]*): (.+)")
REMEDY = re.compile(r"Remedy(?: unless ([a-z]+(?: or [a-z]+)*))?")
STANDS_FOR = re.compile(r"\b(texts_of_kinds|facts_of_kinds|causes_of_kinds)\b")


def expanded(body: str) -> str:
    """Return a SQL statement with the queries that the names of this module stand for."""
    if "_of_kinds" not in body:  # a search for all names takes longer than reading the files
        return body
    queries: dict[str, Callable[[], str]] = {
        "texts_of_kinds": partial(_texts, COLUMNS),
        "facts_of_kinds": _facts,
        # What the stored facts depend on: a new sentence must not make stored runs outdated.
        "causes_of_kinds": partial(_texts, ("cause", "path")),
    }
    return STANDS_FOR.sub(lambda found: f"(\n{queries[found[0]]()}\n)", body)


def _facts() -> str:
    """Return the query for the facts of all kinds."""
    return "\nUNION ALL BY NAME\n".join(
        f"SELECT {literal(kind)} AS kind, COLUMNS(LAMBDA name: name <> 'kind') FROM (\n{query}\n)"
        for kind, (_, query) in _kinds().items()
        if query
    )


def _texts(columns: Iterable[str]) -> str:
    """Return the query for these columns of all kinds."""
    return "\nUNION ALL\n".join(
        f"SELECT {literal(kind)} AS kind, {_columns(texts, columns)}"
        for kind, (texts, _) in _kinds().items()
    )


def _columns(texts: list[tuple[str, str]], columns: Iterable[str]) -> str:
    parts = []
    for column in columns:
        keyword, kind = COLUMNS[column]
        if kind == "REMEDIES":
            parts.append(_remedies(texts))
            continue
        found = [text for name, text in texts if name == keyword]
        if kind == "VARCHAR":
            value = literal(found[0] if found else None)
        elif kind == "VARCHAR[]":
            value = literal(found[0].split(", ") if found else [])
        else:
            value = literal(found)
        parts.append(f"{value}::{kind.replace('SENTENCES', 'VARCHAR[]')} AS {column}")
    return ", ".join(parts)


def _remedies(texts: list[tuple[str, str]]) -> str:
    remedies = []
    for name, text in texts:
        if remedy := REMEDY.fullmatch(name):
            unless = remedy[1].split(" or ") if remedy[1] else []
            remedies.append(f"{{'text': {literal(text)}, 'unless': {literal(unless)}}}")
    return f"[{', '.join(remedies)}]::STRUCT(text VARCHAR, unless VARCHAR[])[] AS remedies"


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
    seen: set[str] = set()
    for keyword, text in texts:
        if keyword not in KEYWORDS and not REMEDY.fullmatch(keyword):
            raise ValueError(f"{path}: {keyword} is not one of {', '.join(sorted(KEYWORDS))}")
        if keyword in seen - REPEATED and not REMEDY.fullmatch(keyword):
            raise ValueError(f"{path}: {keyword} is repeated")
        if keyword in WORDS and (unknown := set(text.split(", ")) - WORDS[keyword]):
            raise ValueError(f"{path}: {keyword}: {', '.join(sorted(unknown))} is unknown")
        seen.add(keyword)
    if missing := REQUIRED - {keyword for keyword, _ in texts}:
        raise ValueError(f"{path}: {', '.join(sorted(missing))} is missing")
    return texts, "\n".join(lines[count:]).strip().removesuffix(";")
