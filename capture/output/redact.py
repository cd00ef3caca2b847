"""Removes secrets from `run.json`, since command arguments can contain tokens."""

import re
from typing import Any

REDACTED = "[redacted]"
KEY = r"(?i:token|secret|passw|credential|api[_-]?key|access[_-]?key|private[_-]?key|\bauth)"
VALUE = re.compile(
    r"\b(?:hf_|gh[pousr]_|github_pat_|glpat-|sk-|xox[abprs]-|AKIA|AIza)[\w-]{12,}"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
)
OPTION = re.compile(rf"--?[\w-]*{KEY}[\w-]*")
ASSIGNED = re.compile(rf"([\w-]*{KEY}[\w-]*=)\S+")
COUNTS = re.compile(r"[\d.]+|true|false", re.IGNORECASE)  # `--max-tokens 128` is not a secret


def redact(value: Any, key: str = "") -> Any:
    """Return `value` with secrets replaced by `[redacted]`.

    A secret is recognised by its key, by the option before it, or by its form.
    """
    if isinstance(value, dict):
        return {name: redact(item, str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        before = ["", *map(str, value)]
        return [
            redact(item, option if OPTION.fullmatch(option) else key)
            for option, item in zip(before, value, strict=False)
        ]
    if not isinstance(value, str):
        return value
    if re.search(KEY, key) and not COUNTS.fullmatch(value) and not value.startswith("--"):
        return REDACTED
    return VALUE.sub(REDACTED, ASSIGNED.sub(rf"\1{REDACTED}", value))
