"""JSON that may be damaged: what can be read of it, and where."""

import json
import re
from typing import Any, NamedTuple

DECODER = json.JSONDecoder(strict=False)
DEEPEST = 200  # lists and objects in each other; Python ends at five times as many calls
EVENT_START = re.compile(r'\{\s*"(?:ph|cat|name|pid|tid|id|ts|dur|args|s|bp)"\s*:')
ARRAY_KEY = re.compile(r'"traceEvents"\s*:\s*\[')
TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]', re.DOTALL)
KEY = re.compile(r'[\s,]*("[^"\\]*+(?:\\.[^"\\]*+)*+")\s*:\s*', re.DOTALL)
AFTER_VALUE = re.compile(r"\s*[,}]")
END = re.compile(r"[\s,]*\}")
LONE_SURROGATE = re.compile(
    r"(\\\\|\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


class Keys(NamedTuple):
    """The first keys of an object, whether they are all it has, and the text after them."""

    found: dict[str, Any]
    complete: bool
    rest: str


def array_start(content: bytes, is_all: bool) -> tuple[int, int] | None:
    """Where the key `traceEvents` of the outermost object begins, and where its array does.

    The first such key at all, if what precedes it is damaged; with `is_all`, if nothing follows.
    """
    text = content.decode("latin-1")  # a byte a character
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
    """The keys of an object up to where it is broken off."""
    return leading_keys(head.partition("{")[2] + "}")


def leading_keys(text: str) -> Keys:
    """The keys of an object up to where its text is damaged; its `{` is left out."""
    text = without_lone_surrogates(text)
    found: dict[str, Any] = {}
    position = 0
    while key := KEY.match(text, position):
        try:
            value, end = _value(text, key.end())
            name = DECODER.decode(key[1])
        except (ValueError, RecursionError):
            break
        if not AFTER_VALUE.match(text, end):  # the value itself may be cut
            break
        found[name] = value
        position = end
    if end_of_object := END.match(text, position):
        return Keys(found, True, text[end_of_object.end() :])
    return Keys(found, False, text[position:])


def nests_deeper(value: Any, levels: int = DEEPEST) -> bool:
    """Whether lists and objects stand in each other in `value` beyond so many levels."""
    inside = value.values() if isinstance(value, dict) else value
    if not isinstance(value, dict | list):
        return False
    return levels == 0 or any(nests_deeper(item, levels - 1) for item in inside)


def _value(text: str, start: int) -> tuple[Any, int]:
    """The value at `start`, and where it ends. Raises ValueError also for one nested too deep."""
    value, end = DECODER.raw_decode(text, start)
    if nests_deeper(value):
        raise ValueError("nested too deep")
    return value, end


def without_lone_surrogates(text: str) -> str:
    """JSON whose escapes stand for characters: half of a pair of code units stands for none."""
    return LONE_SURROGATE.sub(lambda found: found[1] or r"\ufffd", text)


def known_keys(text: str) -> dict[str, Any]:
    """The values of the keys that the tables use, where they stand in damaged metadata."""
    found: dict[str, Any] = {}
    for key in ("baseTimeNanoseconds", "distributedInfo", "deviceProperties", "schemaVersion"):
        if match := re.search(rf'"{key}"\s*:\s*', text):
            try:
                value, end = _value(text, match.end())
            except (ValueError, RecursionError):
                continue
            if AFTER_VALUE.match(text, end):
                found[key] = value
    return found
