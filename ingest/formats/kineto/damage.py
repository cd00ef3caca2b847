"""What can be read of a piece of `traceEvents` that is not simply one event.

Each byte is taken for a character (Latin-1) while the structure is read, so that places in the text
are places in the file; what the strings say is decoded afterwards.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from json import JSONDecodeError, JSONDecoder
from typing import Any, NamedTuple

from ingest.formats.io import Content
from ingest.formats.json_text import DECODER, EVENT_START, TOKEN, without_lone_surrogates

EVENT_LIMIT = 16 << 20
WINDOW_BYTES = 4 << 10
LARGE_WINDOW = 1 << 20
REQUOTED_BYTES = 64 << 10
MOST_TRIES = 100  # places in a damaged piece at which an event might begin
CUT_WORD = 10  # a text that fails so few characters before its end may be a cut word or number
BETWEEN = re.compile(r"[\s,\0]+")
AFTER_ELEMENT = re.compile(r"[\s\0]*(?:[,\]{]|\Z)")
ARRAY_END = re.compile(r'\](?=\s*(?:,\s*"|\}|\0*\Z))')
CONTROL = re.compile(r"[\x00-\x1f]")
LENIENT = re.compile(  # what DuckDB takes for JSON and Python does not, outside of strings
    r'("[^"\\]*+(?:\\.[^"\\]*+)*+")|(?<![\[{,:]),(?=\s*[\]}])|(?<!\w)-?(?i:nan|inf(?:inity)?)\b',
    re.DOTALL,
)
NAME = re.compile(  # and the key after it, which tells where a name with quotes in it ends
    r'("name"\s*:\s*")(.*?)("\s*,\s*"(?:ph|cat|pid|tid|id|ts|dur|args|s|bp)"\s*:)', re.DOTALL
)
BARE_QUOTE = re.compile(r'(?<!\\)((?:\\\\)*)"')

NO_EVENT = "not an event"
NO_JSON = "not valid JSON"
TOO_LONG = f"longer than {EVENT_LIMIT >> 20} MiB"
QUOTES = "quotes in its name were not escaped"
CHARACTERS = "characters that JSON does not allow"

STRICT = JSONDecoder()
FRUGAL = JSONDecoder(  # whether a long text is an event, without most of what it holds
    strict=False,
    object_pairs_hook=lambda pairs: {k: v for k, v in pairs if k in ("ph", "name", "ts")} or None,
    parse_int=lambda digits: None,
    parse_float=lambda digits: None,
)

IsEnd = Callable[[int, bool], bool]


class Found(NamedTuple):
    """What stands from `start` to `end`: an event's text, or the reason why nothing was kept.

    The `]` that ends the array has neither. `fault`: what was mended in the event.
    """

    start: int
    end: int
    event: str = ""
    fault: str = ""
    reason: str = ""


def read_piece(content: Content, start: int, end: int, is_end: IsEnd) -> Iterator[Found]:
    """What stands from `start` to `end`, in order; the last may reach beyond `end`.

    `is_end` tells of a `]` whether the array may end there, between events or amid damage.
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
        found = _event(content, position) or _requoted(content, position)
        if not found:
            found = _damage(content, position, end, is_end)
        yield found
        position = found.end


def _event(content: Content, position: int) -> Found | None:
    """The event at `position`, or what else is JSON there; None if nothing is.

    Reads on until the text suffices: an error that stays the same with more text is one.
    """
    size, before = WINDOW_BYTES, ""
    while True:
        text = _text(content, position, size)
        decoder = DECODER if size < LARGE_WINDOW else FRUGAL
        try:
            value, length = _decoded(text, decoder)
            break
        except JSONDecodeError as error:
            stays = str(error) == before and not error.msg.startswith("Unterminated")
            if stays or len(text) < size or size >= EVENT_LIMIT:
                return None
            before = str(error)
            size *= 8
        except (ValueError, RecursionError):  # a number, or a depth, that Python does not read
            if not text.startswith("{"):
                return None
            if length := _closed(text):
                return Found(position, position + length, *_mended(text[:length]))
            if len(text) < size or size >= EVENT_LIMIT:
                return None
            size *= 8
    if not _is_event(value):
        # Between events a stray quote begins a string, but hardly one that a comma follows.
        is_element = AFTER_ELEMENT.match(text, length)
        return Found(position, position + length, reason=NO_EVENT) if is_element else None
    return Found(position, position + length, *_mended(text[:length]))


def _decoded(text: str, decoder: JSONDecoder) -> tuple[Any, int]:
    """The value at the start of `text`, and its length, if it is JSON as DuckDB reads it.

    So an event is judged the same whether DuckDB has tried it or, as the last one, has not.
    """
    try:
        return decoder.raw_decode(text)
    except JSONDecodeError:
        return decoder.raw_decode(_as_strict(text))


def _as_strict(text: str) -> str:
    """`text` without what only DuckDB takes for JSON, at the same length: `[1,]`, `-inf`."""
    return LENIENT.sub(
        lambda found: found[1] or ("" if found[0] == "," else "0").rjust(len(found[0])), text
    )


def _requoted(content: Content, position: int) -> Found | None:
    """The event at `position` once the quotes in its name are escaped, as torch leaves them."""
    text = _text(content, position, REQUOTED_BYTES)
    name = NAME.search(text) if text.startswith("{") else None
    if not name or EVENT_START.search(name[2]):
        return None
    escaped = BARE_QUOTE.sub(r'\1\\"', name[2])
    try:
        mended = text[: name.start(2)] + escaped + text[name.end(2) :]
        value, length = DECODER.raw_decode(mended)
    except (ValueError, RecursionError):
        return None
    end = length - len(escaped) + len(name[2])
    if end < name.end() or not _is_event(value):
        return None
    return Found(position, position + end, _mended(mended[:length])[0], QUOTES)


def _damage(content: Content, position: int, end: int, is_end: IsEnd) -> Found:
    """What cannot be read from `position` on: up to an event, or the array's end, or `end`."""
    text = _text(content, position, min(end - position, EVENT_LIMIT))
    following = end
    for start in islice(EVENT_START.finditer(text, 1), MOST_TRIES):
        found = _event(content, position + start.start())
        if found and found.event:
            following = found.start
            break
    if following == end and not _is_cut(text):
        for bracket in islice(ARRAY_END.finditer(text), MOST_TRIES):
            if is_end(position + bracket.start(), True):
                following = position + bracket.start()
                break
    reason = TOO_LONG if following - position > EVENT_LIMIT else NO_JSON
    return Found(position, following, reason=reason)


def _is_cut(text: str) -> bool:
    """Whether the text fails to be JSON only because it ends too early, amid open brackets."""
    if _closed(text):
        return False
    try:
        DECODER.raw_decode(text)
    except JSONDecodeError as error:
        return error.msg.startswith("Unterminated") or error.pos >= len(text) - CUT_WORD
    except (ValueError, RecursionError):
        return False
    return False


def _closed(text: str) -> int:
    """Where the brackets that open at the start of `text` are closed; 0 where they are not."""
    depth = 0
    for token in TOKEN.finditer(text):
        if token[0] in "{[":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
            if depth <= 0:
                return token.end()
    return 0


def _is_event(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("ph"), str)
        and ("name" in value or "ts" in value)
    )


def _mended(recorded: str) -> tuple[str, str]:
    """An event's text as DuckDB reads it, and what had to be mended for that."""
    content = recorded.encode("latin-1")
    event, fault = content.decode("utf-8", "replace"), ""
    try:
        _decoded(content.decode(), STRICT)
    except RecursionError:
        pass
    except ValueError:
        event, fault = CONTROL.sub(" ", event), CHARACTERS
    healed = without_lone_surrogates(event)
    return healed, fault if healed == event else CHARACTERS


def _text(content: Content, position: int, size: int) -> str:
    return content.read(position, size).decode("latin-1")
