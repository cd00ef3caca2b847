"""A kind of secret, and how it is recognised.

The patterns are written in what RE2 and Python's `re` have in common. DuckDB finds the texts of a
run that hold a secret with the one, `secrets.py` redacts these with the other. What precedes a
secret is of bounded length, so that no text takes long.
"""

from typing import NamedTuple


class Rule(NamedTuple):
    """A kind of secret.

    `keywords`: a text without any of these words holds no such secret. One with a capital letter
    stands in texts as it is, others in any case. A rule without keywords is always tried.
    `pattern`: its group is the secret; of several groups one takes part, and none in what is
    innocent. Without groups, the whole is the secret.
    `entropy`: of the secret at least, in bits a character.
    `unless`: what may stand in a secret's place and is none.
    """

    kind: str
    keywords: str
    pattern: str
    entropy: float | None = None
    unless: str | None = None
