"""The table of all rules, which apply to every text that could be stored."""

import re

from ingest.redaction.settings import COMMANDS, SECRET, SETTINGS, UNSURE
from ingest.redaction.tokens import APART, TOKENS
from ingest.sql import literal

RULES = (
    *SETTINGS,
    *(rule._replace(pattern=f"{APART}({rule.pattern})") for rule in TOKENS),
    *COMMANDS,
)

# DuckDB first searches for all keywords at once, to find the texts that may hold a secret.
WORDS = tuple(dict.fromkeys(word for rule in RULES for word in rule.keywords.split()))
KEYWORDS = "|".join(
    [
        "(?i:" + "|".join(re.escape(word) for word in WORDS if word == word.lower()) + ")",
        *(re.escape(word) for word in WORDS if word != word.lower()),
        *(rule.pattern for rule in RULES if not rule.keywords),
    ]
)
# In JSON, keys may name a secret too, and a command may be a list of words.
NAMES = rf"{SECRET}|{UNSURE}|curl|mysql|mariadb|mongo|redis-cli|sshpass|login"


def condition(text: str) -> str:
    """Return an SQL condition that is true if one of the rules finds a secret in a text.

    Each pattern is searched for separately: RE2 takes a hundred times as long for all in one.
    """
    conditions = []
    for rule in RULES:
        found = f"regexp_matches({text}, {literal(rule.pattern)})"
        words = " OR ".join(
            f"contains({text if word != word.lower() else f'lower({text})'}, {literal(word)})"
            for word in rule.keywords.split()
        )
        conditions.append(f"(({words}) AND {found})" if words else found)
    return " OR ".join(conditions)
