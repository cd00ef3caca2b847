r"""Traces whose backslashes stand for themselves.

torch up to 2.0 does not escape the backslashes of paths on Windows: `"torch\nn\module.py(5): f"`.
Such a name has no valid JSON escape, or another meaning.
"""

import re

import duckdb

from ingest.formats.io import Content
from ingest.formats.json_text import DECODER

PLACEHOLDER = "\x1a"  # as long as a backslash, so that positions in the text stay
LITERAL = re.compile(rb'\\(?!")')
INVALID_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
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


def escaped(text: str) -> str:
    """Return text with placeholders as JSON: two backslashes for each of them."""
    return text.replace(PLACEHOLDER, r"\\")


def are_literal(connection: duckdb.DuckDBPyConnection, source_id: int, content: Content) -> bool:
    """Return whether the names of a source's events in table `staged` show that they are.

    `content`: the source's bytes.
    """
    rejected = connection.execute(
        "SELECT (args ->> 'from_byte')::BIGINT, (args ->> 'to_byte')::BIGINT FROM staged "
        "WHERE source_id = $1 AND phase IS NULL ORDER BY event_id LIMIT $2",
        [source_id, LOOKED_AT],
    ).fetchall()
    for start, end in rejected:
        content.forget(start)
        text = content.read(start, min(end - start, LONGEST)).decode("latin-1")
        if INVALID_ESCAPE.search(text) and _is_valid(INVALID_ESCAPE.sub(r"\\\\", text)):
            return True
    misread = connection.execute(
        "SELECT EXISTS (FROM staged WHERE source_id = $1 AND regexp_matches(name, $2))",
        [source_id, MISREAD],
    )
    return misread.fetchall() == [(True,)]


def _is_valid(text: str) -> bool:
    try:
        DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return True
