"""Search for the end of an event that is too long to be parsed."""

import re

from ingest.formats.io import Content

WINDOW_BYTES = 1 << 20
LONGEST_SEARCH = 1 << 30  # bytes
TOKEN = re.compile(rb'\\.|["{}\[\]]', re.DOTALL)
END_OF_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


def end_of(content: Content, position: int) -> int:
    """Return the end of the bracket that closes the one at `position`, or 0 if none is found."""
    depth, is_in_string = 0, False
    at = position
    while at < position + LONGEST_SEARCH and (text := content.read(at, WINDOW_BYTES)):
        if len(text) == WINDOW_BYTES:  # do not cut between a backslash and what it escapes
            text = text.rstrip(b"\\") or text
        inside = 0
        while True:
            if is_in_string:
                if not (end := END_OF_STRING.match(text, inside)):
                    break
                inside, is_in_string = end.end(), False
            if not (token := TOKEN.search(text, inside)):
                break
            inside = token.end()
            if token[0] == b'"':
                is_in_string = True
            elif token[0] in b"{[":
                depth += 1
            elif token[0] in b"}]":
                depth -= 1
                if not depth:
                    return at + inside
        at += len(text)
    return 0
