"""Troubleshooting explains each message that users can meet. A new message needs an entry there.

The messages are read from the code: texts of errors and of warnings. An entry of the page is text
in backticks, in which UPPERCASE words and `…` stand for the parts that vary.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import product

from docs.generate import pages
from docs.generate.pages import REPOSITORY

# By the way that code reports a message: the position of the text among the arguments. Errors for
# programmers (ValueError, TypeError, AssertionError, OrderError) are left out.
ERRORS = dict.fromkeys(
    (
        *("IngestError", "ProfileError", "StoreError", "QueryError", "MissingError", "OutputError"),
        *("BadParameter", "CaptureError", "UsageError", "ArgumentTypeError"),
    ),
    0,
)
WARNINGS = {"SourceWarning": 1, "_note_missing": 1, "say": 0}
# `warn(message)` of capture, `warn(code, message)` of files, `fail(position, why)` of pickles.
LAST = ("warn", "_warn", "fail")
# Modules whose ValueErrors become messages for the user.
WITH_VALUE_ERRORS = {
    "ingest/comparison/gate.py",
    "ingest/reports/moments.py",
    "ingest/units.py",
}
# What `capture` prints when all is well.
PROGRESS = {
    "measuring \0, which takes up to a minute",
    "next \0",
    "profile \0 of \0: \0",
    "round \0, \0 of \0: \0: \0",
    "the results so far are in \0; run the same command to continue",
    "this sweep is already complete; to repeat it, name another directory with --out",
    "to see this table again: ingest sweep \0 --store \0",
    "\0: \0, each timed in \0, then profiled",
}
HOLE = "\0"  # a part of a message that varies
VARIABLE = re.compile(r"…|\b[A-Z][A-Z_]*\b")
LEAST = 0.3  # the share of a message's letters that its entry has; `…` may replace the rest
# Short entries that stand for many messages about damaged snapshots and dumps.
SNAPSHOTS = (
    *("ingest/formats/snapshot/", "ingest/formats/flight_recorder/", "ingest/formats/pickle/"),
    *("ingest/formats/records.py", "ingest/formats/stacks.py"),
)
OF_SNAPSHOTS = (
    "FILE: byte N of the pickle: …",
    "FILE: LOCATION: …, not …",
    "FILE: LOCATION: KEY is missing",
    "FILE: LOCATION: out of range: …",
    "FILE: LOCATION: more than …",
)

PAGE = pages.read("troubleshooting.md")
ENTRIES = [
    (double or single).strip() for double, single in re.findall(r"``([^\n]+?)``|`([^`\n]+)`", PAGE)
]


def texts(node: ast.expr | None, assigned: dict[str, list[ast.expr]]) -> list[str]:
    """Return the texts that an expression can have, with HOLE for the parts that vary."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            each = [texts(part, assigned) or [HOLE] for part in parts]
            return ["".join(chosen) for chosen in product(*each)]
        case ast.FormattedValue(value=ast.IfExp() as value):
            return texts(value, assigned)
        case ast.IfExp(body=body, orelse=other):
            return texts(body, assigned) + texts(other, assigned)
        case ast.Name(id=name):
            return [text for value in assigned.get(name, []) for text in texts(value, {})]
    return []


def message_of(call: ast.Call, path: str) -> ast.expr | None:
    """Return the argument of a call that is a message for the user, or None."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "ValueError" and path in WITH_VALUE_ERRORS:
        return call.args[0]
    at = ERRORS.get(name, WARNINGS.get(name, -1))
    if name in LAST:
        at = len(call.args) - 1
    return call.args[at] if 0 <= at < len(call.args) else None


def messages() -> Iterator[tuple[str, str]]:
    """Yield the file and the text of each message in `ingest` and `capture`."""
    for package in ("ingest", "capture"):
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            name = str(path.relative_to(REPOSITORY))
            assigned: dict[str, list[ast.expr]] = {}
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    assigned.setdefault(node.targets[0].id, []).append(node.value)
            for node in ast.walk(tree):
                if isinstance(node, ast.Call):
                    for text in texts(message_of(node, name), assigned):
                        message = " ".join(text.split())
                        if letters(message) and message not in PROGRESS:
                            yield name, message


def letters(text: str) -> int:
    """Return the number of letters in a text."""
    return sum(map(str.isalpha, text))


def is_about(entry: str, message: str, least: float) -> bool:
    """Return whether an entry is a complete message, or has this share of its letters or more."""
    fixed = VARIABLE.split(entry)
    if pattern(message.split(HOLE)).search(entry):
        return True
    is_long = letters("".join(fixed)) >= least * letters(message)
    return is_long and bool(pattern(fixed).search(message))


@cache
def _compiled(text: str) -> re.Pattern[str]:
    return re.compile(text)


def pattern(fixed: list[str]) -> re.Pattern[str]:
    """Return a pattern for the fixed parts of a text, with anything between them."""
    return _compiled(".*?".join(map(re.escape, fixed)))


def has_entry(path: str, message: str) -> bool:
    """Return whether the page has an entry for a message in a file."""
    if path.startswith(SNAPSHOTS):  # most texts of `fail` follow a position in the pickle
        place = f"byte {HOLE} of the pickle" if "pickle/" in path else ""
        located = f"FILE: {place}: {message}"
        if any(is_about(entry, located, 0) for entry in OF_SNAPSHOTS):
            return True
    return any(is_about(entry, message, LEAST) for entry in ENTRIES)


def test_each_message_has_an_entry() -> None:
    found = sorted(set(messages()))
    assert len(found) > 250
    missing = [f"{path}: {message}" for path, message in found if not has_entry(path, message)]
    assert not missing, "\n".join(missing)


def test_the_short_entries_for_snapshots_are_on_the_page() -> None:
    assert set(OF_SNAPSHOTS) <= set(ENTRIES)


def codes() -> Iterator[str]:
    """Yield the code of each warning about a file."""
    for path in sorted((REPOSITORY / "ingest").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Name(id="SourceWarning") | ast.Attribute(attr="warn" | "_warn"),
                    args=[ast.Constant(value=str(code)), _],
                ):
                    yield code
    for path in sorted((REPOSITORY / "ingest").rglob("*.sql")):
        yield from re.findall(r"'(\w+)' AS code", path.read_text(encoding="utf-8"))


def test_each_warning_code_has_an_entry() -> None:
    found = set(codes())
    assert len(found) > 30
    assert found - set(ENTRIES) == set()
