"""The table of all rules, which apply to every text that could be stored."""

import re

from ingest.redaction.settings import COMMANDS, SETTINGS
from ingest.redaction.tokens import TOKENS

RULES = (
    *SETTINGS,
    *(token.rule for token in TOKENS),
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
