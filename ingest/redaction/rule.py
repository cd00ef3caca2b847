"""A rule that recognises one kind of secret.

A pattern uses only syntax that RE2 and Python's `re` share: DuckDB finds the texts that hold a
secret with RE2, and `secrets.py` redacts them with `re`. The part of a pattern before the secret
has a bounded length, so that no text takes long.
"""

from typing import NamedTuple


class Rule(NamedTuple):
    """A kind of secret.

    `keywords`: words separated by spaces. A text without any of them holds no such secret. Words
    with a capital letter are case-sensitive, others are not. A rule without keywords always
    applies.
    `pattern`: the group that matches is the secret. A pattern with groups of which none matches
    has found harmless text. Without groups, the whole match is the secret.
    `entropy`: the least entropy of a secret, in bits per character.
    `unless`: a pattern of harmless values.
    """

    kind: str
    keywords: str
    pattern: str
    entropy: float | None = None
    unless: str | None = None
