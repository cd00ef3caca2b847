"""A rule that recognises one kind of secret.

A pattern uses only syntax that RE2 and Python's `re` share: DuckDB finds the texts that hold a
secret with RE2, and `secrets.py` redacts them with `re`. The part of a pattern before the secret
has a bounded length, so that matching is fast for every text.
"""

from typing import NamedTuple


class Rule(NamedTuple):
    """A kind of secret.

    `keywords`: words separated by spaces. A text without any of them holds no such secret. Words
    with a capital letter are case-sensitive, others are not. A rule without keywords always
    applies.
    `pattern`: the group that matches is the secret. If a pattern has groups and none of them
    matches, the text is harmless. Without groups, the complete match is the secret.
    `entropy`: the least entropy of a secret, in bits per character.
    `unless`: a pattern of harmless values.
    `until`: a secret ends where this pattern begins to match. RE2 need not support it.
    """

    kind: str
    keywords: str
    pattern: str
    entropy: float | None = None
    unless: str | None = None
    until: str | None = None
