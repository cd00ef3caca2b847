"""Redaction of the secrets in a text, a JSON document, or a value in a document."""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection
from functools import cache, lru_cache
from itertools import accumulate, count
from math import log2
from operator import add
from typing import Any

from ingest.redaction.rule import Rule
from ingest.redaction.rules import RULES
from ingest.redaction.settings import (
    COMMANDS,
    INNOCENT,
    KEY_BEGIN,
    KEY_END,
    PLAIN,
    SECRET,
    UNSPACED,
    UNSURE,
)

REDACTED = "[redacted]"
SHORT = 200  # characters of texts whose result is cached
CACHED_TEXTS = 10_000
NO_NAME = re.compile(r"[=({<]|: ")  # a key that contains these is a text, such as a Python frame
SPACE = re.compile(r"\s")
NAME_KEYS = ("name", "key", "variable")  # of an object that has the key `value` too
STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
PAIR = rf'({STRING})(?:(\s*:\s*)({STRING}|[^\s"{{}}\[\],]+))?'


class RepeatedKey(str):
    """A key of a JSON object that has it more than once. Each differs from all other keys."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


def redact(value: Any, key: str = "") -> Any:
    """Return `value` without the secrets that its key or its form shows."""
    if value is None or isinstance(value, bool | float):
        return value
    is_secret, is_unsure = _classified(key)
    if is_secret:
        return REDACTED
    if isinstance(value, dict):
        return _redact_object(value, key if is_unsure else "")
    if isinstance(value, list):
        return _redact_items(value, key)
    if not isinstance(value, str):
        return value
    if is_unsure and not _compiled(PLAIN).fullmatch(value):
        return REDACTED
    return _redact_short(value) if len(value) < SHORT else redact_text(value)


def redact_text(text: str) -> str:
    """Return `text`, which may be a JSON document, without the secrets in it."""
    if text[:1] in ("{", "["):
        try:
            return _redact_document(text)
        except (ValueError, RecursionError):
            pass
    spans = [
        _span(rule, found)
        for rule in _applicable(RULES, text)
        for found in _compiled(rule.pattern).finditer(text)
        if _is_secret(rule, found)
    ]
    return _without_spans(text, spans) if spans else text


def _without_spans(text: str, spans: list[tuple[int, int]]) -> str:
    """Replace parts of a text, which may overlap: one rule may know a part of another's secret."""
    redacted, end = "", 0
    for start, after in sorted(spans):
        if start >= end:
            redacted += text[end:start] + REDACTED
        end = max(end, after)
    return redacted + text[end:]


def redact_json(text: str) -> str:
    """Return a JSON document without the secrets in it."""
    try:
        return _redact_document(text)
    except (ValueError, RecursionError):  # DuckDB, unlike Python, accepts nan and any depth
        return re.sub(PAIR, _without_secret_in_pair, text, flags=re.DOTALL)


def _redact_document(text: str) -> str:
    """Return the document without secrets, or unchanged. Raise ValueError for invalid JSON."""
    document = json.loads(text, object_pairs_hook=_object)
    redacted = redact(document)
    if redacted == document:
        return text
    # A list keeps its form. The inputs of an operator are compared as text.
    is_compact = isinstance(document, list) and ", " not in text
    separators = (",", ":") if is_compact else None
    new = json.dumps(redacted, ensure_ascii=False, separators=separators)
    return text if new == json.dumps(document, ensure_ascii=False) else new


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object with all pairs, also those whose keys are equal."""
    values = dict(pairs)
    if len(values) == len(pairs):
        return values
    return {RepeatedKey(key): value for key, value in pairs}


def _redact_object(value: dict[str, Any], key: str) -> dict[str, Any]:
    """Redact an object, which may be a variable with its name and its value.

    `key` is the key of all values, if it is not empty.
    """
    variable = next((str(v) for k, v in value.items() if k.lower() in NAME_KEYS), "")
    values: dict[str, Any] = {}
    for name, item in value.items():
        of_variable = variable if name.lower() == "value" and any(_classified(variable)) else ""
        values[_redact_name(name, values)] = redact(item, of_variable or key or name)
    return values


def _redact_name(name: str, others: Collection[str]) -> str:
    """Return a key without secrets that differs from the others of its object."""
    new = redact_text(name)
    if type(name) is RepeatedKey:
        return RepeatedKey(new)
    if new in others:
        return next(key for n in count(len(others) + 1) if (key := f"{new} {n}") not in others)
    return new


@lru_cache(CACHED_TEXTS)
def _classified(key: str) -> tuple[bool, bool]:
    """Return whether values of a key are secrets, and whether they may be."""
    if NO_NAME.search(key):
        return False, False
    name = _compiled(INNOCENT).sub("", key)
    return bool(_compiled(SECRET).search(name)), bool(_compiled(UNSURE).search(name))


@lru_cache(CACHED_TEXTS)
def _redact_short(text: str) -> str:
    """Redact a text, with a cache for texts that repeat, such as the types of arguments."""
    return redact_text(text)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return the compiled pattern, with RE2's meaning. Only few are ever needed."""
    return re.compile(pattern, re.ASCII)


def _applicable(rules: tuple[Rule, ...], text: str) -> list[Rule]:
    """Return the rules that have a keyword in the text, and those without keywords."""
    keywords = _keywords(rules)
    lowered = text.lower()
    pairs = {*map(add, text, text[1:]), *map(add, lowered, lowered[1:])}
    indices = {
        index
        for pair in pairs & keywords.keys()
        for keyword, index in keywords[pair]
        if keyword in lowered or keyword in text
    }
    return [rules[index] for index in sorted(indices | {*_always(rules)})]


@cache
def _keywords(rules: tuple[Rule, ...]) -> dict[str, list[tuple[str, int]]]:
    """Return the keywords of rules with the indices of their rules, by their first characters."""
    keywords: dict[str, list[tuple[str, int]]] = {}
    for index, rule in enumerate(rules):
        for word in rule.keywords.split():
            keywords.setdefault(word[:2], []).append((word, index))
    return keywords


@cache
def _always(rules: tuple[Rule, ...]) -> list[int]:
    """Return the indices of the rules without keywords."""
    return [index for index, rule in enumerate(rules) if not rule.keywords]


def _span(rule: Rule, found: re.Match[str]) -> tuple[int, int]:
    """Return where the secret of a match begins and ends."""
    start, end = found.span(found.lastindex or 0)
    if rule.until and found.string[start - 1] not in "\"'":
        secret = found.string[start:end]
        if not SPACE.search(secret) and (until := _compiled(rule.until).search(secret, 1)):
            end = start + until.start()
    return start, end


def _is_secret(rule: Rule, found: re.Match[str], full_text: str | None = None) -> bool:
    """Return whether a match of the rule is a secret.

    `full_text`: the complete secret, if the match is only its beginning.
    """
    if found.re.groups and not found.lastindex:
        return False
    secret = full_text or found.string[slice(*_span(rule, found))]
    if rule.unless and _compiled(rule.unless).fullmatch(secret):
        return False
    return not rule.entropy or _entropy(secret) >= rule.entropy


def _entropy(text: str) -> float:
    """Return Shannon's entropy of the text, in bits per character."""
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * log2(share) for share in shares)


def _redact_items(items: list[Any], key: str) -> list[Any]:
    """Redact a list, which may be a command, a variable, or the lines of a private key."""
    secrets = _secret_arguments(items)
    if len(items) == 2 and _is_variable(*items):
        secrets[1] = ""
    redacted: list[Any] = []
    is_in_private_key = False
    for index, item in enumerate(items):
        if is_in_private_key or index in secrets:
            redacted.append(secrets.get(index, "") + REDACTED)
        else:
            redacted.append(redact(item, key))
        edges = _compiled(f"{KEY_BEGIN}|{KEY_END}").findall(item) if isinstance(item, str) else []
        is_in_private_key = "BEGIN" in edges[-1] if edges else is_in_private_key
    return redacted


def _is_variable(name: Any, value: Any) -> bool:
    """Return whether these are the name and the value of a variable that holds a secret."""
    if not isinstance(name, str) or not isinstance(value, str | int) or not any(_classified(name)):
        return False
    harmless = PLAIN if name.isupper() else UNSPACED
    return not _compiled(harmless).fullmatch(str(value))


def _secret_arguments(items: list[Any]) -> dict[int, str]:
    """Return the indices of a command's items that hold secrets, and the text before the secret."""
    if not any(isinstance(item, str) for item in items):
        return {}
    arguments = [str(item) if isinstance(item, str | int) else "" for item in items]
    # An item of several words may be a command of its own: keep its options apart from the others.
    command = "".join(f"\n{part}\n" if " " in part else f"{part} " for part in arguments)
    lengths = (len(part) + (2 if " " in part else 1) for part in arguments)
    starts = list(accumulate(lengths, initial=0))
    secrets = {}
    for rule in _applicable(COMMANDS, command):
        for found in _compiled(rule.pattern).finditer(command):
            start = found.start(found.lastindex or 0)
            index = bisect_right(starts, start) - 1
            before = command[starts[index] : start].lstrip("\n")
            is_in_one_item = starts[index] <= found.start()  # then `redact_text` finds it too
            if not is_in_one_item and _is_secret(rule, found, None if before else arguments[index]):
                secrets[index] = before
    return secrets


def _without_secret_in_pair(found: re.Match[str]) -> str:
    """Redact a string of a JSON text, or a key and its value if that is a scalar."""
    name, value = _scalar(found[1]), _scalar(found[3] or "")
    new_name, new = redact_text(name), redact(value, name)
    return (
        (found[1] if new_name == name else json.dumps(new_name, ensure_ascii=False))
        + (found[2] or "")
        + ((found[3] or "") if new == value else json.dumps(new, ensure_ascii=False))
    )


def _scalar(text: str) -> str:
    """Return a string of a JSON text without quotes and escapes, or another scalar as text."""
    try:
        return str(json.loads(text)) if text.startswith('"') else text
    except ValueError:  # an escape that Python does not know
        return text[1:-1]
