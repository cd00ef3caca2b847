"""Reading of a piece of `traceEvents` that is not exactly one event.

The structure is read with one character per byte (Latin-1), so that positions in the text are
positions in the file. Strings are decoded afterwards.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from json import JSONDecodeError, JSONDecoder
from typing import Any, NamedTuple

from ingest.formats.io import Content
from ingest.formats.json_text import (
    DECODER,
    EVENT_START,
    closing,
    is_cut,
    without_lone_surrogates,
)
from ingest.formats.kineto.backslashes import PLACEHOLDER, LiteralContent, escaped
from ingest.formats.kineto.long_events import end_of

EVENT_LIMIT = 16 << 20
WINDOW_BYTES = 4 << 10
LARGE_WINDOW = 1 << 20
REQUOTED_BYTES = 64 << 10
MAX_TRIES = 100  # positions in a damaged piece at which an event might begin
BETWEEN = re.compile(r"[\s,\0]+")
AFTER_ELEMENT = re.compile(r"[\s\0]*(?:[,\]{]|\Z)")
ARRAY_END = re.compile(r'\](?=\s*(?:,\s*"|\}|\0*\Z))')
CONTROL = re.compile(r"[\x00-\x1f]")
LENIENT = re.compile(  # text outside strings that DuckDB accepts as JSON and Python does not
    r'("[^"\\]*+(?:\\.[^"\\]*+)*+")|(?<![\[{,:]),(?=\s*[\]}])|(?<!\w)-?(?i:nan|inf(?:inity)?)\b',
    re.DOTALL,
)
NAME = re.compile(  # up to the next key, because a name may contain quotes
    r'("name"\s*:\s*")(.*?)("\s*,\s*"(?:ph|cat|pid|tid|id|ts|dur|args|s|bp)"\s*:)', re.DOTALL
)
NOT_A_NUMBER = re.compile(  # outside strings
    r'("[^"\\]*+(?:\\.[^"\\]*+)*+")|'
    r"(?<=[\[:,\s])(?:N/A|n/a|None|undefined|-?nan\([^()\s]*\)|-?1\.#\w+)(?=\s*[,\]}])",
    re.DOTALL,
)
NOT_NUMBERS = ("N/A", "n/a", "None", "undefined", "nan(", "1.#")  # in each text that matches it
BARE_QUOTE = re.compile(r'(?<!\\)((?:\\\\)*)"')

NOT_EVENT = "not an event"
NOT_JSON = "not valid JSON"
TOO_LONG = f"longer than {EVENT_LIMIT >> 20} MiB"
QUOTES = "unescaped quotes in the name"
CHARACTERS = "characters that JSON does not allow"
BACKSLASHES = "unescaped backslashes"
VALUES = "values that JSON does not allow"

STRICT = JSONDecoder()
FRUGAL = JSONDecoder(  # shows whether a long text is an event without keeping most of its content
    strict=False,
    object_pairs_hook=lambda pairs: {k: v for k, v in pairs if k in ("ph", "name", "ts")} or None,
    parse_int=lambda digits: None,
    parse_float=lambda digits: None,
)

IsEnd = Callable[[int, bool], bool]


class Found(NamedTuple):
    """An element from `start` to `end`: an event's text, or the reason why nothing was kept.

    An element for the `]` that ends the array has neither. `fault`: the repair that the event
    needed.
    """

    start: int
    end: int
    event: str = ""
    fault: str = ""
    reason: str = ""


def read_piece(content: Content, start: int, end: int, is_end: IsEnd) -> Iterator[Found]:
    """Yield the elements from `start` to `end`, in order. The last one may reach beyond `end`.

    `is_end`: takes the position of a `]`, and whether damage surrounds it. It returns whether the
    array may end there.
    """
    position = start
    while position < end:
        content.forget(position)
        text = _text(content, position, WINDOW_BYTES)
        if between := BETWEEN.match(text):
            position += between.end()
            continue
        if text.startswith("]") and is_end(position, False):
            yield Found(position, position + 1)
            return
        found = (
            _event(content, position)
            or _requoted(content, position)
            or _with_nulls(content, position, min(end - position, REQUOTED_BYTES))
            or _with_nulls(content, position, REQUOTED_BYTES)
        )
        if not found:
            found = _damage(content, position, end, is_end)
        yield found
        position = found.end


def _event(content: Content, position: int) -> Found | None:
    """Return the event, or other JSON value, at `position`, or None if there is no valid JSON.

    Read more and more text until the value is complete. If more text does not change the error,
    the text is not valid JSON. Nothing is kept of an event longer than EVENT_LIMIT.
    """
    size, before = WINDOW_BYTES, ""
    while True:
        text = _text(content, position, size)
        decoder = DECODER if size < LARGE_WINDOW else FRUGAL
        try:
            value, length = _decoded(text, decoder)
            break
        except JSONDecodeError as error:
            is_final = str(error) == before and not error.msg.startswith("Unterminated")
            if is_final or len(text) < size:
                return None
            if size >= EVENT_LIMIT:
                return _long_event(content, position, text)
            before = str(error)
            size *= 8
        except (ValueError, RecursionError):  # a number or a depth that Python cannot read
            if not text.startswith("{"):
                return None
            if length := closing(text):
                return Found(position, position + length, *_repaired(content, text[:length]))
            if len(text) < size:
                return None
            if size >= EVENT_LIMIT:
                return _long_event(content, position, text)
            size *= 8
    if not _is_event(value):
        # A stray quote between events may begin a string, but hardly one before a comma.
        is_element = AFTER_ELEMENT.match(text, length)
        return Found(position, position + length, reason=NOT_EVENT) if is_element else None
    return Found(position, position + length, *_repaired(content, text[:length]))


def _long_event(content: Content, position: int, start: str) -> Found | None:
    """Return the event at `position`, which begins with the valid text `start`.

    Return None if it does not end, or if an event begins inside it: its end is then damaged.
    """
    if not EVENT_START.match(start):
        return None
    for inside in islice(EVENT_START.finditer(start, 1), MAX_TRIES):
        try:
            if _is_event(FRUGAL.raw_decode(start, inside.start())[0]):
                return None
        except (ValueError, RecursionError):
            continue
    end = end_of(content, position)
    return Found(position, end, reason=TOO_LONG) if end else None


def _decoded(text: str, decoder: JSONDecoder) -> tuple[Any, int]:
    """Return the value at the start of `text`, and its length, if DuckDB would accept it as JSON.

    This treats all events in the same way. DuckDB has already parsed most of them, but not, for
    example, the last one.
    """
    try:
        return decoder.raw_decode(text)
    except JSONDecodeError as error:
        if not _has_lenient(text, error.pos):
            raise
        return decoder.raw_decode(_as_strict(text))


def _has_lenient(text: str, last: int) -> bool:
    """Return whether text that only DuckDB accepts as JSON begins at the position `last` or before.

    An error there has no other cause that `_as_strict` could remove.
    """
    for found in LENIENT.finditer(text):
        if found.start() > last:
            break
        if not found[1]:
            return True
    return False


def _as_strict(text: str) -> str:
    """Blank out text that only DuckDB accepts as JSON (`[1,]`, `-inf`). Keep the length."""
    return LENIENT.sub(
        lambda found: found[1] or ("" if found[0] == "," else "0").rjust(len(found[0])), text
    )


def _requoted(content: Content, position: int) -> Found | None:
    """Return the event at `position` with the quotes in its name escaped.

    torch does not escape them. Return None if the result is not an event.
    """
    text = _text(content, position, REQUOTED_BYTES)
    name = NAME.search(text) if text.startswith("{") else None
    if not name or EVENT_START.search(name[2]):
        return None
    requoted = BARE_QUOTE.sub(r'\1\\"', name[2])
    try:
        repaired = text[: name.start(2)] + requoted + text[name.end(2) :]
        value, length = DECODER.raw_decode(repaired)
    except (ValueError, RecursionError):
        return None
    end = length - len(requoted) + len(name[2])
    if end < name.end() or not _is_event(value):
        return None
    return Found(position, position + end, _repaired(content, repaired[:length])[0], QUOTES)


def _with_nulls(content: Content, position: int, size: int) -> Found | None:
    """Return the event at `position` with null for each value that JSON does not allow.

    Return None if `size` bytes do not begin with such an event.
    """
    text = _text(content, position, size)
    if not text.startswith("{") or not any(each in text for each in NOT_NUMBERS):
        return None

    def blanked(found: re.Match[str]) -> str:
        return found[1] or "0".ljust(len(found[0]))

    try:
        value, length = _decoded(NOT_A_NUMBER.sub(blanked, text), DECODER)
    except (ValueError, RecursionError):
        return None
    if not _is_event(value):
        return None
    event = NOT_A_NUMBER.sub(lambda found: found[1] or "null", text[:length])
    return Found(position, position + length, _repaired(content, event)[0], VALUES)


def _damage(content: Content, position: int, end: int, is_end: IsEnd) -> Found:
    """Return the damage from `position` to the next event, the array's end, or `end`."""
    text = _text(content, position, min(end - position, EVENT_LIMIT))
    following = end
    for start in islice(EVENT_START.finditer(text, 1), MAX_TRIES):
        found = _event(content, position + start.start())
        if found and found.event:
            following = found.start
            break
    if following == end and not is_cut(text):
        for bracket in islice(ARRAY_END.finditer(text), MAX_TRIES):
            if is_end(position + bracket.start(), True):
                following = position + bracket.start()
                break
    return Found(position, following, reason=NOT_JSON)


def _is_event(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("ph"), str)
        and ("name" in value or "ts" in value)
    )


def _repaired(content: Content, recorded: str) -> tuple[str, str]:
    """Return an event's text in a form that DuckDB can read, and the repair that it needed."""
    fault = ""
    if isinstance(content, LiteralContent) and PLACEHOLDER in recorded:
        recorded, fault = escaped(recorded), BACKSLASHES
    encoded = recorded.encode("latin-1")
    event = encoded.decode("utf-8", "replace")
    try:
        _decoded(encoded.decode(), STRICT)
    except RecursionError:
        pass
    except ValueError:
        event, fault = CONTROL.sub(" ", event), CHARACTERS
    valid = without_lone_surrogates(event)
    return valid, fault if valid == event else CHARACTERS


def _text(content: Content, position: int, size: int) -> str:
    return content.read(position, size).decode("latin-1")
