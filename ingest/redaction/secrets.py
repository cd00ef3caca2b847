"""Keeping secrets that profiles carry along out of the store."""

import json
import re
from base64 import b64decode
from typing import Any

REDACTED = "[redacted]"
KEY = (  # of which every value is a secret
    r"(?i:secret|passw|passphrase|credential|authorization|cookie|bearer|\bpwd\b|[_-]pass\b"
    r"|(?:api|access|private|account|auth|encryption|signing|ssh|storage|service"
    r"|wandb|openai|anthropic|azure|aws|comet|neptune|ngc|kaggle)[ _-]?key)"
    r"|[A-Z0-9]_(?:KEY|PAT)\b"  # an environment's
)
TOKEN_KEY = r"(?i:tokens?\b|\bauth\b)"  # as often a count of words as a password
PRIVATE_KEY = r"PRIVATE KEY(?: BLOCK)?-----"
VALUE = (
    r"\b(?:hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|sk-(?:[a-z]+[0-9]*-)*[A-Za-z0-9_]{20,}|xox[abprs]-[\w-]{10,}|A[KS]IA[0-9A-Z]{16}"
    r"|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+|(?i:bearer) [\w.~+/-]{8,}=*)"
    rf"|-----BEGIN [A-Z ]*{PRIVATE_KEY}(?s:.*?-----END [A-Z ]*{PRIVATE_KEY}|.*)"  # or cut short
)
BASIC = r"(?i:\bbasic) ([A-Za-z0-9+/]{8,}={0,2})"  # of HTTP: a secret if it is user:password
SIGNED = r"(?i:x-(?:amz|goog)-(?:signature|credential|security-token)|[?&]sig(?:nature)?)="
IN_URL = r"(://[^/\s:@]+:)([^/\s@]+)@"
BEFORE_VALUES = (  # in a command line, an environment, a URL, JSON in a string
    rf"(?:{KEY}|(?i:tokens?\b))\w*\\?[\"']?\s*[=:](?!:)\s*\\?[\"']?",
    rf"(?:^|[\s\"'])--?[\w-]*(?:(?:{KEY})[\w-]*|(?i:tokens?))\s+(?!-)",
    SIGNED,
    r"\bcurl\s(?:[^\r\n|]{0,200}?\s)?(?:-u|--user|--proxy-user)[\s=]*\\?[\"']?[^\s:\"'\\]+:",
    r"(?i:\b(?:machine|login|account)(?:\s|\\n)+\S+(?:\s|\\n)+password(?:\s|\\n)+)",  # .netrc
)
HEADER = r"((?i:authorization|cookie)\\?[\"']?\s*[=:]\s*\\?[\"']?)([^\"'\\\r\n]+)"
OPTION = re.compile(rf"--?\S*(?:{KEY}|(?i:tokens?\b))\S*")
PLAIN = re.compile(r"(?:\d[\d_.,]*[kKMGB]?\W*)?|<.*>|\[.*\]")  # no tokens: `128`, `</s>`, `[CLS]`
IN_NAME = (  # names, categories and ids that may hold a secret
    rf"{VALUE}|{BASIC}|{SIGNED}|{IN_URL}|\bcurl\s|(?i:\bpassword\s)"
    r"|(?i:passw|secret|api[ _-]?key|token)\w*(?:\\?[\"']\s*[=:]|\s*=)\s*[^\s=]"
    r"|(?i:--[\w-]*(?:passw|secret|key|tokens?)\s)"
)
SUSPECT = f"{KEY}|{TOKEN_KEY}|{IN_NAME}"  # JSON texts that may

_KEY, _TOKEN_KEY, _VALUE = re.compile(KEY), re.compile(TOKEN_KEY), re.compile(VALUE)
_BASIC, _IN_URL, _HEADER = re.compile(BASIC), re.compile(IN_URL), re.compile(HEADER)
_ASSIGNED = [re.compile(rf"({before})([^\s\"'\\,;&]+)") for before in BEFORE_VALUES]
_KEY_EDGE = re.compile(rf"-----(BEGIN|END) [A-Z ]*{PRIVATE_KEY}")
_TOKENS = re.compile(r"(?i:tokens?)")
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_PAIR = re.compile(rf'({_STRING})(?:(\s*:\s*)({_STRING}|[^\s"{{}}\[\],]+))?', re.DOTALL)


def redact(value: Any, key: str = "") -> Any:
    """`value` without what its key, or its own form, shows to be a secret."""
    if value is None or isinstance(value, bool | float):
        return value
    if _KEY.search(key):
        return REDACTED
    if isinstance(value, dict):
        inside = key if _TOKEN_KEY.search(key) else ""
        return {redact_text(name): redact(item, inside or name) for name, item in value.items()}
    if isinstance(value, list):
        return _redact_items(value, key)
    if not isinstance(value, str):
        return value
    if _TOKEN_KEY.search(key) and not PLAIN.fullmatch(value):
        return REDACTED
    return redact_text(value)


def redact_text(text: str) -> str:
    """`text` without the secrets in it."""
    text = _BASIC.sub(_without_login, _VALUE.sub(REDACTED, text))
    text = _HEADER.sub(rf"\1{REDACTED}", text)
    for assigned in _ASSIGNED:
        text = assigned.sub(_without_value, text)
    return _IN_URL.sub(rf"\1{REDACTED}@", text)


def redact_json(text: str | None) -> str | None:
    """A JSON document with its secrets redacted; as it was where it holds none."""
    if text is None:
        return None
    try:
        document = json.loads(text)
        redacted = redact(document)
        return text if redacted == document else json.dumps(redacted, ensure_ascii=False)
    except (ValueError, RecursionError):  # DuckDB reads more than Python: nan, and any depth
        return _PAIR.sub(_without_secret, text)


def _redact_items(items: list[Any], key: str) -> list[Any]:
    """A list, which may be a command, or the lines of a private key."""
    redacted: list[Any] = []
    before, is_amid_key = "", False
    for item in items:
        is_secret = is_amid_key or (_asks_for_secret(before) and not _is_plain(item))
        redacted.append(REDACTED if is_secret else redact(item, key))
        if isinstance(item, str) and (edges := _KEY_EDGE.findall(item)):
            is_amid_key = edges[-1] == "BEGIN"
        before = item
    return redacted


def _without_value(found: re.Match[str]) -> str:
    is_count = _TOKENS.search(found[1]) and not _KEY.search(found[1]) and PLAIN.fullmatch(found[2])
    return found[0] if is_count else found[1] + REDACTED


def _without_login(found: re.Match[str]) -> str:
    try:
        return found[0].replace(found[1], REDACTED) if b":" in b64decode(found[1]) else found[0]
    except ValueError:  # words, such as `basic attention`
        return found[0]


def _without_secret(found: re.Match[str]) -> str:
    """A string of a JSON text, or a key with its value, as far as that is a single one."""
    name, colon, value = found[1], found[2] or "", found[3] or ""
    asks = _KEY.search(name) or (_TOKEN_KEY.search(name) and not PLAIN.fullmatch(value.strip('"')))
    if value and asks:
        return f'{name}{colon}"{REDACTED}"'
    return f'"{redact_text(name[1:-1])}"{colon}' + (
        f'"{redact_text(value[1:-1])}"' if value.startswith('"') else value
    )


def _asks_for_secret(argument: Any) -> bool:
    """Whether an argument of a command says that the next one is a secret."""
    return isinstance(argument, str) and "=" not in argument and bool(OPTION.fullmatch(argument))


def _is_plain(argument: Any) -> bool:
    return bool(PLAIN.fullmatch(str(argument))) or str(argument).startswith("--")
