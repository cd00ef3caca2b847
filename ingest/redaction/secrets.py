"""Redacting the secrets in a text, a JSON document, or a value of one."""

import json
import re
from bisect import bisect_right
from collections import Counter
from functools import cache, lru_cache, partial
from itertools import accumulate
from math import log2
from typing import Any

from ingest.redaction.rules import (
    INNOCENT,
    KEY_EDGE,
    OF_COMMANDS,
    PLAIN,
    RULES,
    SECRET,
    UNSURE,
    Rule,
)  # fmt: skip

REDACTED = "[redacted]"
SHORT, MEMORY = 200, 10_000  # letters, texts
NO_NAME = re.compile(r"[=({<]|: ")  # a key with these is a text, such as a frame of Python
STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
PAIR = rf'({STRING})(?:(\s*:\s*)({STRING}|[^\s"{{}}\[\],]+))?'


def redact(value: Any, key: str = "") -> Any:
    """`value` without what its key, or its own form, shows to be a secret."""
    if value is None or isinstance(value, bool | float):
        return value
    is_secret, is_unsure = _what_names(key)
    if is_secret:
        return REDACTED
    if isinstance(value, dict):
        return {redact_text(k): redact(v, key if is_unsure else k) for k, v in value.items()}
    if isinstance(value, list):
        return _redact_items(value, key)
    if not isinstance(value, str):
        return value
    if is_unsure and not _compiled(PLAIN).fullmatch(value):
        return REDACTED
    return _redact_short(value) if len(value) < SHORT else redact_text(value)


def redact_text(text: str) -> str:
    """`text`, which may be a JSON document, without the secrets in it."""
    if text[:1] in ("{", "["):
        try:
            return _redact_document(text)
        except (ValueError, RecursionError):
            pass
    for rule in _possible(RULES, text):
        text = _compiled(rule.pattern).sub(partial(_without_secret, rule), text)
    return text


def redact_json(text: str) -> str:
    """A JSON document without the secrets in it."""
    try:
        return _redact_document(text)
    except (ValueError, RecursionError):  # DuckDB reads more than Python: nan, and any depth
        return re.sub(PAIR, _without_secret_in_pair, text, flags=re.DOTALL)


def _redact_document(text: str) -> str:
    """The document; as it was where it holds no secret. Raises ValueError where it is none."""
    document = json.loads(text)
    redacted = redact(document)
    return text if redacted == document else json.dumps(redacted, ensure_ascii=False)


@lru_cache(MEMORY)
def _what_names(key: str) -> tuple[bool, bool]:
    """Whether values of that key are secrets, and whether they may be."""
    if NO_NAME.search(key):
        return False, False
    name = _compiled(INNOCENT).sub("", key)
    return bool(_compiled(SECRET).search(name)), bool(_compiled(UNSURE).search(name))


@lru_cache(MEMORY)
def _redact_short(text: str) -> str:
    """The same as `redact_text`, for texts that repeat, such as the types of arguments."""
    return redact_text(text)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """The pattern as RE2 understands it; few of them are ever needed."""
    return re.compile(pattern, re.ASCII)


def _possible(rules: tuple[Rule, ...], text: str) -> list[Rule]:
    """Those of the rules whose keywords stand in the text."""
    lowered = text.lower()
    in_any_case, as_they_are, always = _keywords(rules)
    places = {place for keyword, place in in_any_case if keyword in lowered}
    places |= {place for keyword, place in as_they_are if keyword in text}
    return [rules[place] for place in sorted(places | always)]


@cache
def _keywords(
    rules: tuple[Rule, ...],
) -> tuple[list[tuple[str, int]], list[tuple[str, int]], set[int]]:
    """The keywords in small letters, others, each with its rule's place, and rules without."""
    placed = [(word, place) for place, rule in enumerate(rules) for word in rule.keywords]
    return (
        [(keyword, place) for keyword, place in placed if keyword == keyword.lower()],
        [(keyword, place) for keyword, place in placed if keyword != keyword.lower()],
        {place for place, rule in enumerate(rules) if not rule.keywords},
    )


def _without_secret(rule: Rule, found: re.Match[str]) -> str:
    start, end = _span(rule, found)
    begin = found.start()
    return found[0][: start - begin] + (REDACTED if end > start else "") + found[0][end - begin :]


def _span(rule: Rule, found: re.Match[str]) -> tuple[int, int]:
    """Where the secret stands; an empty stretch if it is none."""
    if not found.re.groups:
        return found.span()
    if not found.lastindex:
        return found.start(), found.start()
    secret = found[found.lastindex]
    is_none = rule.unless and _compiled(rule.unless).fullmatch(secret)
    if is_none or (rule.entropy and _entropy(secret) < rule.entropy):
        return found.start(), found.start()
    return found.span(found.lastindex)


def _entropy(text: str) -> float:
    """Shannon's, in bits a character."""
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * log2(share) for share in shares)


def _redact_items(items: list[Any], key: str) -> list[Any]:
    """A list, which may be a command, or the lines of a private key."""
    secrets = _secret_arguments(items)
    redacted: list[Any] = []
    is_amid_key = False
    for place, item in enumerate(items):
        if is_amid_key or place in secrets:
            redacted.append(secrets.get(place, "") + REDACTED)
        else:
            redacted.append(redact(item, key))
        if isinstance(item, str) and (edges := _compiled(KEY_EDGE).findall(item)):
            is_amid_key = "BEGIN" in edges[-1]
    return redacted


def _secret_arguments(items: list[Any]) -> dict[int, str]:
    """Which items of a command are secrets, and what stands before the secret in them."""
    if not any(isinstance(item, str) for item in items):
        return {}
    arguments = [item if isinstance(item, str | int) else "" for item in items]
    command = " ".join(map(str, arguments))
    starts = list(accumulate((len(str(argument)) + 1 for argument in arguments), initial=0))
    secrets = {}
    for rule in _possible(OF_COMMANDS, command):
        for found in _compiled(rule.pattern).finditer(command):
            start, end = _span(rule, found)
            if end > start:
                place = bisect_right(starts, start) - 1
                secrets[place] = command[starts[place] : start]
    return secrets


def _without_secret_in_pair(found: re.Match[str]) -> str:
    """A string of a JSON text, or a key with its value, as far as that is a single one."""
    name, colon, value = found[1][1:-1], found[2] or "", found[3] or ""
    if not value:
        return f'"{redact_text(name)}"{colon}'
    text = value[1:-1] if value.startswith('"') else value
    redacted = redact(text, name)
    return f'"{redact_text(name)}"{colon}' + (value if redacted == text else f'"{redacted}"')
