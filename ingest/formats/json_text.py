"""Reading of JSON text that may be damaged."""

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

DECODER = json.JSONDecoder(strict=False)
MAX_DEPTH = 200  # levels of lists and objects; Python's recursion limit is five times as high
EVENT_START = re.compile(r'\{\s*"(?:ph|cat|name|pid|tid|id|ts|dur|args|s|bp)"\s*:')
LONGEST_WORD = 10  # an error this near to the end may be a truncated word or number
ARRAY_KEY = re.compile(r'"traceEvents"\s*:\s*\[')
TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]', re.DOTALL)
KEY = re.compile(r'[\s,]*("[^"\\]*+(?:\\.[^"\\]*+)*+")\s*:\s*', re.DOTALL)
AFTER_VALUE = re.compile(r"\s*[,}]")
END = re.compile(r"[\s,]*\}")
LONE_SURROGATE = re.compile(
    r"(\\\\|\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


class Keys(NamedTuple):
    """The leading keys of an object, whether these are all its keys, and the text after them."""

    found: dict[str, Any]
    complete: bool
    rest: str


def array_start(content: bytes, is_all: bool) -> tuple[int, int] | None:
    """Return the positions of the outermost object's key `traceEvents` and of its array's items.

    If the text before that key is damaged, the positions are those of the first such key at any
    depth. `is_all`: `content` is the whole file, so the first such key counts if there is no
    outermost one. Otherwise the result is None, because the key may follow in later content.
    """
    text = content.decode("latin-1")  # one character per byte
    first = ARRAY_KEY.search(text)
    if not first:
        return None
    depth = 0
    for token in TOKEN.finditer(text):
        if token[0] in "{[":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
        elif depth == 1 and (found := ARRAY_KEY.match(text, token.start())):
            if found.span() != first.span() and not keys_before(text[: found.start()]).complete:
                break
            return found.span()
    else:
        if not is_all:
            return None
    return first.span()


def keys_before(head: str) -> Keys:
    """Return the keys of an object whose text is truncated."""
    return leading_keys(head.partition("{")[2] + "}")


def leading_keys(text: str) -> Keys:
    """Return the keys of an object up to the first damage. `text` begins after the `{`."""
    text = without_lone_surrogates(text)
    found: dict[str, Any] = {}
    position = 0
    while key := KEY.match(text, position):
        try:
            value, end = _value(text, key.end())
            name = DECODER.decode(key[1])
        except (ValueError, RecursionError):
            break
        if not AFTER_VALUE.match(text, end):  # the value may be truncated
            break
        found[name] = value
        position = end
    if end_of_object := END.match(text, position):
        return Keys(found, True, text[end_of_object.end() :])
    return Keys(found, False, text[position:])


def is_cut(text: str) -> bool:
    """Return whether the text is invalid JSON only because it ends early, within brackets."""
    if closing(text):
        return False
    try:
        DECODER.raw_decode(text)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated") or error.pos >= len(text) - LONGEST_WORD
    except (ValueError, RecursionError):
        return False
    return False


def closing(text: str) -> int:
    """Return the end of the bracket that closes the first bracket of `text`, or 0."""
    depth = 0
    for token in TOKEN.finditer(text):
        if token[0] in "{[":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
            if depth <= 0:
                return token.end()
    return 0


def nests_deeper(value: Any, levels: int = MAX_DEPTH) -> bool:
    """Return whether the lists and objects in `value` nest more than `levels` deep."""
    inside = value.values() if isinstance(value, dict) else value
    if not isinstance(value, dict | list):
        return False
    return levels == 0 or any(nests_deeper(item, levels - 1) for item in inside)


def _value(text: str, start: int) -> tuple[Any, int]:
    """Return the value at `start` and its end. Raise ValueError if it is invalid or too deep."""
    value, end = DECODER.raw_decode(text, start)
    if nests_deeper(value):
        raise ValueError("nested too deeply")
    return value, end


def without_lone_surrogates(text: str) -> str:
    """Return the JSON text with each escape of a lone surrogate replaced by U+FFFD.

    A lone surrogate is half of a UTF-16 pair: it is not a character, and cannot be stored as UTF-8.
    """
    if "\\u" not in text:  # faster than the pattern
        return text
    return LONE_SURROGATE.sub(lambda found: found[1] or r"\ufffd", text)


def wanted_keys(text: str, wanted: Iterable[str]) -> dict[str, Any]:
    """Return these keys of damaged JSON text, at any depth."""
    found: dict[str, Any] = {}
    for key in wanted:
        if match := re.search(rf'"{key}"\s*:\s*', text):
            try:
                value, end = _value(text, match.end())
            except (ValueError, RecursionError):
                continue
            if AFTER_VALUE.match(text, end):
                found[key] = value
    return found
