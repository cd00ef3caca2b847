"""The header comments of the SQL files, and the glossary of the columns that relations share.

The glossary lists the columns that hold counts. The names of other columns with units say the unit.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

GLOSSARY = Path(__file__).with_name("glossary.txt")
COLUMN_LINE = re.compile(r"^([a-z_0-9]+)  +(\S.*)$")
SHARED_LINE = re.compile(r"[a-z_0-9]+(?:, [a-z_0-9]+)*,?")
KEYWORDS = (
    *("One row", "Start here", "Indexed", "Materialised", "Materialised in small runs", "Stored"),
    *("Filled by", "Paths"),
)
KEYWORD_LINE = re.compile(rf"^({'|'.join(KEYWORDS)}): ")
KEYWORD = re.compile(
    rf"^-- ({'|'.join(KEYWORDS)}): (.+(?:\n-- (?!(?:{'|'.join(KEYWORDS)}): ).+)*)", re.MULTILINE
)
PART_LINE = re.compile(r"Part of (`\w+`(?:(?:, | and )`\w+`)*): ")
FILLING = re.compile(r"(\w+)\(([\w, ]+)\)")
PATHS = re.compile(r"(\w+) \((\w+)\)")


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


def filling(text: str) -> Filling:
    if not (found := FILLING.fullmatch(text)):
        raise ValueError(f"Filled by: {text}: must be like step(relation, relation)")
    return Filling(found[1], tuple(found[2].split(", ")))


def paths(text: str) -> dict[str, str]:
    found = [PATHS.fullmatch(part) for part in text.split(", ")]
    if not all(found):
        raise ValueError(f"Paths: {text}: must be like column (macro), column (macro)")
    return {match[1]: match[2] for match in found if match}


def keywords(header: str) -> dict[str, str]:
    """Return the texts of a header's keywords, without documentation."""
    return {found[1]: found[2].replace("\n-- ", " ") for found in KEYWORD.finditer(header)}


def documentation(header: str) -> Documentation:
    """Parse the documentation in a header.

    A header has a summary, `One row: …`, other keywords, and `column  description` lines, which
    indented lines continue. A line with only names lists columns of the glossary. An empty line
    ends the text of a keyword other than `One row`, and comes before the columns.
    """
    texts: dict[str, list[str]] = {"": [], "One row": []}
    columns: dict[str, str] = {}
    keyword = prose = column = ""
    is_after_blank = False
    for line in header.splitlines():
        content = line[2:].removeprefix(" ")
        if match := COLUMN_LINE.match(content):
            column = match[1]
            columns[column] = match[2]
        elif column and content.startswith("  "):
            columns[column] += " " + content.strip()
        elif is_after_blank and SHARED_LINE.fullmatch(content):
            for column in re.findall(r"\w+", content):
                columns[column] = _shared(column)
        elif match := KEYWORD_LINE.match(content):
            keyword = match[1]
            prose = keyword if keyword == "One row" else prose
            texts[keyword] = [content[match.end() :].strip()]
            is_after_blank = False
        elif content.strip():
            texts[keyword].append(content.strip())
            is_after_blank = False
        else:
            keyword, is_after_blank = prose, True
    joined = {keyword: " ".join(parts) for keyword, parts in texts.items()}
    summary, question = joined.pop(""), joined.get("Start here")
    return Documentation(summary, joined["One row"], columns, question)


@cache
def counts() -> frozenset[str]:
    """Return the columns that hold counts, in any relation or query."""
    listed = GLOSSARY.read_text(encoding="utf-8").partition("\n\n")[0]
    return frozenset(re.findall(r"\w+", listed.removeprefix("Counts:")))


@cache
def glossary() -> dict[str, str]:
    """Return the meanings of the columns that relations share, by name."""
    meanings: dict[str, str] = {}
    column = ""
    described = GLOSSARY.read_text(encoding="utf-8").partition("\n\n")[2]
    for line in described.splitlines():
        if match := COLUMN_LINE.match(line):
            column = match[1]
            meanings[column] = match[2]
        elif column:
            meanings[column] += " " + line.strip()
    return meanings


def _shared(column: str) -> str:
    if column not in glossary():
        raise ValueError(f"{column}: describe it in the header or in {GLOSSARY.name}")
    return glossary()[column]
