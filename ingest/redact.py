"""Keeping secrets that profiles carry along out of the store."""

import re
from typing import Any

REDACTED = "[redacted]"
SECRET_KEY = re.compile(
    r"(?i)tokens?$|secret|passw(or)?d|credential|api_?key|access_?key|private_?key"
)
SECRET_VALUE = re.compile(
    r"hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|AKIA[0-9A-Z]{16}"
    r"|eyJ[\w-]+\.[\w-]+\.[\w-]+|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)


def redact(value: Any, key: str = "") -> Any:
    """`value` without what its key, or its own form, shows to be a secret."""
    if isinstance(value, dict):
        return {name: redact(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [redact(item, key) for item in value]
    if isinstance(value, str):
        if value and SECRET_KEY.search(key):
            return REDACTED
        return SECRET_VALUE.sub(REDACTED, value)
    return value
