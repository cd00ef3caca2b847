"""The one table of rules: for every text that could be stored, in whatever place it stands."""

import re

from ingest.redaction.settings import COMMANDS, SECRET, SETTINGS, UNSURE
from ingest.redaction.tokens import APART, TOKENS
from ingest.sql import literal

RULES = (
    *SETTINGS,
    *(rule._replace(pattern=f"{APART}({rule.pattern})") for rule in TOKENS),
    *COMMANDS,
)

# For DuckDB, which finds the texts that may hold a secret: first by all the keywords.
WORDS = tuple(dict.fromkeys(word for rule in RULES for word in rule.keywords.split()))
KEYWORDS = "|".join(
    [
        "(?i:" + "|".join(re.escape(word) for word in WORDS if word == word.lower()) + ")",
        *(re.escape(word) for word in WORDS if word != word.lower()),
        *(rule.pattern for rule in RULES if not rule.keywords),
    ]
)
# In JSON keys too name a secret, and a command may be a list of its words.
NAMES = rf"{SECRET}|{UNSURE}|curl|mysql|mariadb|mongo|redis-cli|sshpass|login"


def condition(text: str) -> str:
    """The SQL condition that a text holds a secret by one of the rules.

    Each pattern is searched for by itself: RE2 needs a hundred times as long for all in one.
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
