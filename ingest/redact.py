"""Keeping secrets that profiles carry along out of the store."""

import json
import re
from typing import Any

REDACTED = "[redacted]"
KEY = r"(?i:secret|passw|passphrase|credential|authorization|cookie|bearer|[_-]key\b|apikey\b)"
TOKEN_KEY = r"(?i:tokens?\b)"  # as often a count of words as a password
VALUE = (
    r"hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|sk-[A-Za-z0-9_-]{20,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}"
    r"|eyJ[\w-]+\.[\w-]+\.[\w-]+|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
SUSPECT = f"{KEY}|{TOKEN_KEY}|{VALUE}"  # what JSON text holds that `redact` would change

_KEY, _TOKEN_KEY, _VALUE = re.compile(KEY), re.compile(TOKEN_KEY), re.compile(VALUE)


def redact(value: Any, key: str = "") -> Any:
    """`value` without what its key, or its own form, shows to be a secret."""
    if isinstance(value, dict):
        return {redact(name): redact(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [redact(item, key) for item in value]
    if value and not isinstance(value, bool) and _KEY.search(key):
        return REDACTED
    if not isinstance(value, str):
        return value
    if value and not value.isdigit() and _TOKEN_KEY.search(key):
        return REDACTED
    return _VALUE.sub(REDACTED, value)


def redact_json(text: str | None) -> str | None:
    """A JSON document with its secrets redacted; as it was where it holds none."""
    if text is None:
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return _VALUE.sub(REDACTED, text)
    redacted = redact(document)
    return text if redacted == document else json.dumps(redacted, ensure_ascii=False)
