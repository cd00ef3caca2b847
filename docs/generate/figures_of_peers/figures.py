"""Figures of another tool beside those of tracehouse, and the reason where they differ.

A figure that differs is calculated again, twice: plainly, and by a rule of the other tool, such as
"kernels without a launch do not count". The rule is the reason only if the plain figure is that of
tracehouse, and the one by the rule that of the other tool. Any other figure is `unexplained`.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from duckdb import DuckDBPyConnection

Figures = dict[tuple[str, ...], Any]
Rows = Sequence[Mapping[str, Any]]

EQUAL = "equal"
UNEXPLAINED = "unexplained"
PLAIN = ""  # stands among the rules for none of them
PRECISION = 1e-9  # of a mean or a standard deviation, which are sums of floats


@dataclass(frozen=True)
class Comparison:
    """An analysis of one trace: figures by what they are of, the last part their name."""

    analysis: str
    trace: str
    peer: Figures
    ours: Figures
    by_rule: Mapping[str, Figures] = field(default_factory=dict)  # with `PLAIN`: without any rule
    slack: float = 0.0  # what rounding in the other tool accounts for

    def judged(self) -> Counter[str]:
        """How many figures are equal, and how many differ for each reason."""
        return Counter(self._reason(key) for key in sorted(self.peer.keys() | self.ours.keys()))

    def unexplained(self) -> dict[tuple[str, ...], tuple[Any, Any]]:
        """The figures without a reason: the other tool's, and that of tracehouse."""
        keys = sorted(self.peer.keys() | self.ours.keys())
        return {
            key: (self.peer.get(key), self.ours.get(key))
            for key in keys
            if self._reason(key) == UNEXPLAINED
        }

    def _reason(self, key: tuple[str, ...]) -> str:
        figure = self.peer.get(key)
        if _same(figure, self.ours.get(key), self.slack):
            return EQUAL
        plain = self.by_rule.get(PLAIN, {}).get(key)
        if _same(plain, self.ours.get(key), self.slack):
            for reason, figures in self.by_rule.items():
                if reason != PLAIN and _same(figure, figures.get(key), self.slack):
                    return reason
        return UNEXPLAINED


@dataclass(frozen=True)
class Trace:
    """A trace in a store, which answers queries with figures."""

    connection: DuckDBPyConnection
    name: str
    run: str

    def asked(self, query: str) -> Figures:
        """The figures that `query` gives: its columns of text say what they are of."""
        result = self.connection.execute(query)
        columns = [column[0] for column in result.description or ()]
        figures: Figures = {}
        for row in result.fetchall():
            of = tuple(value for value in row if isinstance(value, str))
            figures |= {
                (*of, column): value
                for column, value in zip(columns, row, strict=True)
                if not isinstance(value, str)
            }
        return figures

    def by_rules(
        self, rules: Sequence[str], query: Callable[[frozenset[str]], str]
    ) -> dict[str, Figures]:
        """The figures without any rule, by each rule alone, by each two of them, and so on."""
        sizes = range(len(rules) + 1)
        chosen = [some for size in sizes for some in combinations(rules, size)]
        return {", ".join(some): self.asked(query(frozenset(some))) for some in chosen}

    def compared(
        self,
        analysis: str,
        rows: Rows,
        query: str,
        by_rule: Mapping[str, Figures],
        *,
        keys: Sequence[str] = (),
        whole: bool = True,
        slack: float = 0.0,
    ) -> Comparison:
        """The figures of `rows`, which `keys` tell apart, beside those that `query` gives.

        Only figures that both have count. Without `whole`, so do only the rows that the other tool
        listed.
        """
        ours = self.asked(query)
        names = {key[-1] for key in ours}
        peer: Figures = {}
        for row in rows:
            of = tuple(text_of(row[key]) for key in keys)
            peer |= {(*of, name): row[name] for name in row if name in names}
        if not whole:
            ours = {key: value for key, value in ours.items() if key in peer}
        return Comparison(analysis, self.name, peer, ours, by_rule, slack)


def text_of(value: Any) -> str:
    """`value` as queries give it: what is no text is JSON."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _same(figure: Any, other: Any, slack: float) -> bool:
    """Whether they are equal: nothing is 0, and a pair is the least and the most it can be."""
    (least, most), (other_least, other_most) = _bounds(figure), _bounds(other)
    margin = slack + PRECISION * abs(most)
    return least - margin <= other_most and other_least <= most + margin


def _bounds(figure: Any) -> tuple[float, float]:
    least, most = figure if isinstance(figure, list) else (figure, figure)
    return float(least or 0), float(most or 0)
