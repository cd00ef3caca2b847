"""Reading of the sections of a MegEngine profile, which may be damaged."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ingest.errors import ProfileError
from ingest.formats.io import blocks
from ingest.formats.json_text import DECODER, nests_deeper, without_lone_surrogates

LONGEST = 512 << 20  # bytes of JSON; reading takes seven times as much memory
NAMES = (
    "host", "device", "opr_footprint", "opr_internal_pf", "operator", "var", "mem_chunk", "comp_seq"
)  # fmt: skip
LISTS = ("comp_seq", "var")
# A section of a damaged file. Its first characters distinguish it from a thread named `host`.
SECTION = re.compile(rf'"({"|".join(NAMES)})"\s*:\s*([\[{{])\s*(?=["\[\]{{}}0-9])')
ENTRY = re.compile(r'"((?:chk)?\d+)"\s*:\s*')
ITEM = re.compile(r'\s*,?\s*(?=[{"\d])')
AFTER_ENTRY = re.compile(r"\s*[,}\]]")
END = re.compile(rf"\s*\}}(?!\s*,?\s*{ENTRY.pattern})")  # of a section; not a stray brace


@dataclass
class Sections:
    """The sections of a file.

    `found`: the sections by name (see `NAMES`), each an object or a list. `unread`: number of
    entries that could not be read, by section. `fault`: why the file ends early; empty if it is
    complete. `json_bytes`: size of the decompressed file. `bytes_after`: number of characters
    after the end of the profile.
    """

    found: dict[str, Any] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    fault: str = ""
    json_bytes: int = 0
    bytes_after: int = 0


def read_sections(path: Path, progress: Callable[[int], None] | None = None) -> Sections:
    """Read a profile. Raise ProfileError if it is longer than 512 MiB of JSON."""
    content = bytearray()
    fault = ""
    with path.open("rb") as file:
        try:
            for block in blocks(file):
                content += block
                if progress:
                    progress(file.tell())
                if len(content) > LONGEST:
                    raise ProfileError(f"{path}: longer than {LONGEST:,} bytes of JSON")
        except (EOFError, OSError) as error:
            fault = str(error)
    text = content.decode("utf-8-sig", "replace")
    if "\\u" in text:
        text = without_lone_surrogates(text)
    sections = Sections(json_bytes=len(content), fault=fault)
    start = len(text) - len(text.lstrip())
    try:
        document, end = DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        _read_damaged(text, sections)
        if not (sections.fault or sections.unread):
            sections.fault = "the file is damaged between its sections or at its end"
        return sections
    sections.bytes_after = len(text[end:].strip())
    sections.found = _sections_of(document)
    for name, entries in list(sections.found.items()):
        if isinstance(entries, list) and name not in LISTS:
            sections.unread[name] += 1
            del sections.found[name]
    return sections


def json_of(value: Any) -> str | None:
    """Return the value as JSON, or None if it nests too deeply.

    JSON has no infinity and no NaN: they become strings, as in MegEngine's own files.
    """
    try:
        try:
            return json.dumps(value, allow_nan=False)
        except ValueError:
            return json.dumps(_finite(value))
    except RecursionError:
        return None


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _sections_of(document: Any) -> dict[str, Any]:
    """Return the sections of an intact file. `graph_exec` is next to `profiler` or inside it."""
    profiler = _object(document.get("profiler"))
    graph = _object(document.get("graph_exec")) or _object(profiler.get("graph_exec"))
    found = profiler | graph
    return {
        name: found[name]
        for name in NAMES
        if isinstance(found.get(name), list if name == "comp_seq" else dict | list)
    }


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _read_damaged(text: str, sections: Sections) -> None:
    """Read each section entry by entry, and skip unreadable entries."""
    starts = [match for match in SECTION.finditer(text) if _is_section(match, text)]
    ends = [*(match.start() for match in starts[1:]), len(text)]
    for match, end in zip(starts, ends, strict=False):  # there is an end even without starts
        name = match[1]
        read = partial(_read_object, name) if match[2] == "{" else _read_list
        values, unread, is_closed = read(text[match.end() : end])
        sections.found.setdefault(name, values)
        if unread:
            sections.unread[name] += unread
        if end == len(text) and not is_closed:
            sections.fault = sections.fault or f"the file ends in section {name}"
    if not sections.fault and not text.rstrip().endswith("}"):
        last = f"after section {starts[-1][1]}" if starts else "before its first section"
        sections.fault = f"the file ends {last}"


def _is_section(match: re.Match[str], text: str) -> bool:
    """Return whether a match is a section, and not a key with the same name in another object."""
    if match[2] == "[":
        return match[1] in LISTS
    return text[match.end()] == "}" or bool(ENTRY.match(text, match.end()))


def _read_object(name: str, text: str) -> tuple[dict[str, Any], int, bool]:
    """Return the entries of section `name`, the number of unreadable ones, and whether it ends.

    If the name of the next section is damaged, that section's entries follow: they count as
    unreadable.
    """
    found: dict[str, Any] = {}
    unread = 0
    position = read_until = 0
    while entry := ENTRY.search(text, position):
        value, position = _value(text, entry.end())
        if position == entry.end() or entry[1] in found or _is_of_other_section(name, value):
            unread += 1
        else:
            found[entry[1]] = value
        if position > entry.end():
            read_until = position
            if END.match(text, position):
                unread += bool(ENTRY.search(text, position))
                break
    return found, unread, position == read_until and "}" in text[position:]


def _is_of_other_section(name: str, value: Any) -> bool:
    """Return whether an entry's `node_type` names another section."""
    return isinstance(value, dict) and value.get("node_type", name) != name


def _read_list(text: str) -> tuple[list[Any], int, bool]:
    """Return a list's readable leading items, 1 if unreadable ones follow, and whether it ends."""
    found: list[Any] = []
    position = 0
    while item := ITEM.match(text, position):
        value, position = _value(text, item.end())
        if position == item.end():
            return found, 1, "]" in text[position:]
        found.append(value)
    return found, 0, "]" in text[position:]


def _value(text: str, start: int) -> tuple[Any, int]:
    """Return the value at `start` and its end. The end is `start` if the value is unreadable."""
    try:
        value, end = DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start
    if nests_deeper(value) or not AFTER_ENTRY.match(text, end):
        return None, start
    return value, end
