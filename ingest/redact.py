"""Keeping secrets that profiles carry along out of the store."""

import json
import re
from typing import Any

REDACTED = "[redacted]"
KEY = (  # of which every value is a secret
    r"(?i:secret|passw|passphrase|credential|authorization|cookie|bearer|\bpwd\b|[_-]pass\b"
    r"|(?:api|access|private|account|auth|encryption|signing|ssh|storage|service)[ _-]?key)"
    r"|[A-Z0-9]_KEY\b"  # an environment's
)
TOKEN_KEY = r"(?i:tokens?\b|\bauth\b)"  # as often a count of words as a password
VALUE = (
    r"\b(?:hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|sk-(?:[a-z]+[0-9]*-)*[A-Za-z0-9_]{20,}|xox[abprs]-[\w-]{10,}|A[KS]IA[0-9A-Z]{16}"
    r"|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+|(?i:bearer) [\w.~+/-]{8,}=*)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
ASSIGNED = (  # in a command line, an environment, JSON in a string; the last group is the value
    rf"(\w*(?:{KEY}|(?i:tokens?\b))\w*\\?[\"']?\s*[=:]\s*\\?[\"']?)([^\s\"'\\,;&]+)"
)
IN_URL = r"(://[^/\s:@]+:)([^/\s@]+)@"
OPTION = re.compile(rf"--?\S*(?:{KEY}|(?i:tokens?\b))\S*")
PLAIN = re.compile(r"\d*|<.*>|\[.*\]")  # tokens that are none: `128`, `</s>`, `[CLS]`
IN_NAME = f"{VALUE}|{IN_URL}"  # names that may hold a secret
SUSPECT = f"{KEY}|{TOKEN_KEY}|{IN_NAME}"  # JSON texts that may

_KEY, _TOKEN_KEY, _VALUE = re.compile(KEY), re.compile(TOKEN_KEY), re.compile(VALUE)
_ASSIGNED, _IN_URL = re.compile(ASSIGNED), re.compile(IN_URL)


def redact(value: Any, key: str = "") -> Any:
    """`value` without what its key, or its own form, shows to be a secret."""
    if value is None or isinstance(value, bool):
        return value
    if _KEY.search(key):
        return REDACTED
    if isinstance(value, dict):
        inside = key if _TOKEN_KEY.search(key) else ""
        return {redact_text(name): redact(item, inside or name) for name, item in value.items()}
    if isinstance(value, list):
        return [
            REDACTED if _asks_for_secret(before) and not _is_plain(item) else redact(item, key)
            for before, item in zip(["", *value], value, strict=False)
        ]
    if not isinstance(value, str):
        return value
    if _TOKEN_KEY.search(key) and not PLAIN.fullmatch(value):
        return REDACTED
    return redact_text(value)


def redact_text(text: str) -> str:
    """`text` without the secrets in it."""
    text = _VALUE.sub(REDACTED, text)
    text = _ASSIGNED.sub(lambda found: found[1] + REDACTED, text)
    return _IN_URL.sub(lambda found: f"{found[1]}{REDACTED}@", text)


def redact_json(text: str | None) -> str | None:
    """A JSON document with its secrets redacted; as it was where it holds none."""
    if text is None:
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return redact_text(text)
    redacted = redact(document)
    return text if redacted == document else json.dumps(redacted, ensure_ascii=False)


def _asks_for_secret(argument: Any) -> bool:
    """Whether an argument of a command says that the next one is a secret."""
    return isinstance(argument, str) and "=" not in argument and bool(OPTION.fullmatch(argument))


def _is_plain(argument: Any) -> bool:
    return bool(PLAIN.fullmatch(str(argument))) or str(argument).startswith("--")
