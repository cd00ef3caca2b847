r"""Traces whose backslashes stand for themselves.

torch up to 2.0 does not escape the backslashes of paths on Windows: `"torch\nn\module.py(5): f"`.
Such a name is invalid JSON, or JSON reads `\n` in it as a new line.
"""

import re

import duckdb

from ingest.formats.io import Content
from ingest.formats.json_text import DECODER

PLACEHOLDER = "\x1a"  # as long as a backslash, so that positions in the text stay
LITERAL = re.compile(rb'\\(?!")')
ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(\\)')  # a valid one, or the backslash
LOOKED_AT = 100  # rejected pieces
LONGEST = 64 << 10  # bytes of these
# A parsed name of a Python frame, in which a valid escape became a control character.
MISREAD = r"(?s)[\x08\t\n\f\r].*\.py\(\d+\): "


class LiteralContent(Content):
    """Access to a file's bytes, with a placeholder for each backslash that stands for itself."""

    def read(self, start: int, size: int) -> bytes:
        """Return `size` bytes from position `start`, or fewer at the end of the file."""
        return with_placeholders(super().read(start, size))


def with_placeholders(content: bytes) -> bytes:
    """Return text with a placeholder for each backslash that stands for itself."""
    return LITERAL.sub(PLACEHOLDER.encode(), content)


def without_placeholders(content: bytes) -> bytes:
    """Return text with backslashes again."""
    return content.replace(PLACEHOLDER.encode(), b"\\")


def escaped(text: str) -> str:
    """Return text with placeholders as JSON: two backslashes for each of them."""
    return text.replace(PLACEHOLDER, r"\\")


def are_literal(
    connection: duckdb.DuckDBPyConnection,
    source_id: int,
    content: Content,
    has_escaped_backslash: bool,
) -> bool:
    """Return whether the backslashes of a source stand for themselves.

    The names of its events in table `staged` show this. `content`: the source's bytes.
    `has_escaped_backslash`: whether two backslashes follow each other in it.
    """
    rejected = connection.execute(
        "SELECT (args ->> 'from_byte')::BIGINT, (args ->> 'to_byte')::BIGINT FROM staged "
        "WHERE source_id = $1 AND phase IS NULL ORDER BY event_id LIMIT $2",
        [source_id, LOOKED_AT],
    ).fetchall()
    for start, end in rejected:
        content.forget(start)
        text = content.read(start, min(end - start, LONGEST)).decode("latin-1")
        if _is_valid_with_literal_backslashes(text):
            return True
    if has_escaped_backslash:
        return False
    misread = connection.execute(
        "SELECT EXISTS (FROM staged WHERE source_id = $1 AND category = 'python_function' "
        "AND regexp_matches(name, $2))",
        [source_id, MISREAD],
    )
    return misread.fetchall() == [(True,)]


def has_invalid_escape(text: str) -> bool:
    """Return whether a backslash in the text begins no escape of JSON."""
    return any(found[1] for found in ESCAPE.finditer(text))


def _is_valid_with_literal_backslashes(text: str) -> bool:
    """Return whether the value at the start of a text is JSON except for its backslashes."""
    changed = ESCAPE.sub(lambda found: r"\\" if found[1] else found[0], text)
    try:
        _, end = DECODER.raw_decode(changed)
    except (ValueError, RecursionError):
        return False
    return has_invalid_escape(text[:end])
