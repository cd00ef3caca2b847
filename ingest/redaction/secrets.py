"""Redacting the secrets in a text, a JSON document, or a value of one."""

import json
import re
from bisect import bisect_right
from collections import Counter
from functools import cache, lru_cache, partial
from itertools import accumulate
from math import log2
from typing import Any

from ingest.redaction.rule import Rule
from ingest.redaction.rules import RULES
from ingest.redaction.settings import COMMANDS, INNOCENT, KEY_BEGIN, KEY_END, PLAIN, SECRET, UNSURE

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
    placed = [(word, place) for place, rule in enumerate(rules) for word in rule.keywords.split()]
    return (
        [(keyword, place) for keyword, place in placed if keyword == keyword.lower()],
        [(keyword, place) for keyword, place in placed if keyword != keyword.lower()],
        {place for place, rule in enumerate(rules) if not rule.keywords},
    )


def _without_secret(rule: Rule, found: re.Match[str]) -> str:
    group = found.lastindex or 0
    if not _is_secret(rule, found):
        return found[0]
    before, after = found.start(group) - found.start(), found.end(group) - found.start()
    return found[0][:before] + REDACTED + found[0][after:]


def _is_secret(rule: Rule, found: re.Match[str], whole: str | None = None) -> bool:
    """Whether what the rule found is a secret; `whole` is the text that it is the beginning of."""
    if found.re.groups and not found.lastindex:
        return False
    secret = whole or found[found.lastindex or 0]
    if rule.unless and _compiled(rule.unless).fullmatch(secret):
        return False
    return not rule.entropy or _entropy(secret) >= rule.entropy


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
        edges = _compiled(f"{KEY_BEGIN}|{KEY_END}").findall(item) if isinstance(item, str) else []
        is_amid_key = "BEGIN" in edges[-1] if edges else is_amid_key
    return redacted


def _secret_arguments(items: list[Any]) -> dict[int, str]:
    """Which items of a command are secrets, and what stands before the secret in them."""
    if not any(isinstance(item, str) for item in items):
        return {}
    arguments = [str(item) if isinstance(item, str | int) else "" for item in items]
    # An item of several words may be a command by itself: its options are not those of another.
    command = "".join(f"\n{part}\n" if " " in part else f"{part} " for part in arguments)
    lengths = (len(part) + (2 if " " in part else 1) for part in arguments)
    starts = list(accumulate(lengths, initial=0))
    secrets = {}
    for rule in _possible(COMMANDS, command):
        for found in _compiled(rule.pattern).finditer(command):
            start = found.start(found.lastindex or 0)
            place = bisect_right(starts, start) - 1
            before = command[starts[place] : start].lstrip("\n")
            is_alone = starts[place] <= found.start()  # which `redact_text` sees as well
            if not is_alone and _is_secret(rule, found, None if before else arguments[place]):
                secrets[place] = before
    return secrets


def _without_secret_in_pair(found: re.Match[str]) -> str:
    """A string of a JSON text, or a key with its value, as far as that is a single one."""
    name, colon, value = found[1][1:-1], found[2] or "", found[3] or ""
    if not value:
        return f'"{redact_text(name)}"{colon}'
    text = value[1:-1] if value.startswith('"') else value
    redacted = redact(text, name)
    return f'"{redact_text(name)}"{colon}' + (value if redacted == text else f'"{redacted}"')
