"""The one table of rules: for every text that could be stored, in whatever place it stands."""

import re

from ingest.redaction.settings import COMMANDS, SECRET, SETTINGS, UNSURE
from ingest.redaction.tokens import APART, TOKENS

RULES = (
    *SETTINGS,
    *(rule._replace(pattern=f"{APART}({rule.pattern})") for rule in TOKENS),
    *COMMANDS,
)

# For RE2, which of all texts finds those that may hold a secret: by the keywords, or by the rules
# themselves; and for JSON by the names of keys, and by commands, of which it may hold the words.
PATTERNS = "|".join(f"(?:{rule.pattern})" for rule in RULES)
NAMES = rf"{SECRET}|{UNSURE}|curl|mysql|mariadb|mongo|redis-cli|sshpass|login"
WORDS = tuple(dict.fromkeys(word for rule in RULES for word in rule.keywords.split()))
KEYWORDS = "|".join(
    [
        "(?i:" + "|".join(re.escape(word) for word in WORDS if word == word.lower()) + ")",
        *(re.escape(word) for word in WORDS if word != word.lower()),
        *(rule.pattern for rule in RULES if not rule.keywords),
    ]
)
