r"""Rules for secrets with a known form: tokens of vendors, one per row of `tokens.tsv`.

A row has these columns:

- `name`: the vendor, and the kind of token if the vendor has several.
- `form`: how a token is written. `<36>` is a field of at least 36 letters and digits, and `<20-36>`
  one of at least 20 and usually up to 36. A letter selects another alphabet, see `ALPHABETS`.
  `(p|o)` is one of several words, and `(_live)?` a part that may be missing. `\` before one of
  `<(|)` makes it a plain character. All other characters stand for themselves.
- `after`: words, separated by spaces, for a form that harmless text has too. A token counts only
  if one of the words occurs in the 40 characters before it.
- `source`: the page where the vendor describes its tokens.

The words in a form become the keywords of its rule: its beginning or, if it begins with a field,
the longest word in it. A pattern ends where the alphabet of its last field ends.
"""

import csv
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from ingest.redaction.rule import Rule

ALPHABETS = {
    "": "A-Za-z0-9",
    "b": "A-Za-z0-9+/",  # of Base64
    "c": "A-Za-z0-9_+/=.~-",  # all that occur in tokens
    "d": "0-9",
    "e": "A-Za-z0-9_=-",
    "h": "0-9a-f",
    "k": "A-Za-z0-9_",
    "l": "0-9a-z",
    "p": "A-Za-z0-9_%-",  # of URLs with escapes
    "u": "0-9A-Z",
    "v": "A-Za-z0-9_.-",
    "w": "A-Za-z0-9_-",  # of URLs
    "x": "0-9A-Fa-f",
}
PART = re.compile(
    r"<(?P<least>\d+)(?:-(?P<most>\d+))?(?P<alphabet>[a-z]?)>|(?P<sign>\)\?|[()|])|\\?(?P<text>.)"
)
FIELD = "\0"  # stands for a field in a text
FILE = Path(__file__).with_name("tokens.tsv")
# The text before a token: its start, no letter or digit, or an escape in JSON or in a URL.
APART = r"(?:^|[^A-Za-z0-9]|\\(?:[bfnrt]|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2})"
REST = r"[\w-]*"  # of a token that has the form of another vendor's shorter one
LONGEST_GAP = 40  # characters between a word of `after` and the token


class Token(NamedTuple):
    """A row of the table."""

    name: str
    form: str
    after: str
    source: str

    @property
    def rule(self) -> Rule:
        """The rule that finds the token."""
        pattern = f"{APART}({_pattern(self.form)}{REST})"
        if self.after:
            words = "|".join(map(re.escape, self.after.split()))
            pattern = rf"(?i:{words})[^\r\n]{{0,{LONGEST_GAP}}}?{pattern}"
        return Rule(self.name, self.after or " ".join(_keywords(self.form)), pattern)


def _tokens() -> list[Token]:
    with FILE.open(encoding="utf-8", newline="") as opened:
        rows = csv.reader(opened, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        return [Token(*row) for row in rows]


def _pattern(form: str) -> str:
    """Return the regular expression of a form."""
    pattern = ""
    for part in PART.finditer(form):
        if part["least"]:
            pattern += f"[{ALPHABETS[part['alphabet']]}]{{{part['least']},}}"
        elif part["sign"]:
            pattern += "(?:" if part["sign"] == "(" else part["sign"]
        else:
            pattern += re.escape(part["text"])
    return pattern


def _keywords(form: str) -> list[str]:
    """Return words such that each token of a form contains one. Return none if one is too short."""
    keywords = [_keyword(written) for written in _alternatives(PART.finditer(form))]
    return list(dict.fromkeys(keywords)) if all(len(word) > 1 for word in keywords) else []


def _keyword(written: str) -> str:
    begin, *others = written.split(FIELD)
    return begin if len(begin) > 1 else max(others, key=len, default="")


def _alternatives(parts: Iterator[re.Match[str]]) -> list[str]:
    """Return all texts of a form up to the end of the group, with `FIELD` for each field."""
    complete: list[str] = []
    texts = [""]
    for part in parts:
        if part["sign"] == "|":
            complete += texts
            texts = [""]
        elif part["sign"] == "(":
            texts = [text + end for text, end in product(texts, _alternatives(parts))]
        elif part["sign"]:
            complete += texts
            return [*complete, ""] if part["sign"] == ")?" else complete
        else:
            end = FIELD if part["least"] else part["text"]
            texts = [text + end for text in texts]
    return complete + texts


TOKENS = tuple(_tokens())
