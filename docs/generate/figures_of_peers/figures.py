"""Compares figures of another tool with those of tracehouse, and finds reasons for differences.

A figure that differs is computed again twice: without a rule, and with a rule of the other tool,
for example "kernels without a launch do not count". The rule is the reason only if the figure
without a rule equals tracehouse's, and the figure with the rule equals the other tool's. Otherwise,
the figure is `unexplained`.
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
PLAIN = ""  # the key for the figures without any rule
PRECISION = 1e-9  # relative error of means and standard deviations, which are sums of floats


@dataclass(frozen=True)
class Comparison:
    """An analysis of one trace by both tools. The last part of a key is the name of the figure."""

    analysis: str
    trace: str
    peer: Figures
    ours: Figures
    # `PLAIN` has the figures without any rule.
    by_rule: Mapping[str, Figures] = field(default_factory=dict)
    slack: float = 0.0  # the error of rounding in the other tool

    def judged(self) -> Counter[str]:
        """Count the equal figures, and the different figures by reason."""
        return Counter(self._reason(key) for key in sorted(self.peer.keys() | self.ours.keys()))

    def unexplained(self) -> dict[tuple[str, ...], tuple[Any, Any]]:
        """Return the figures without a reason: the other tool's and tracehouse's."""
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
    """A trace in a store, to query figures."""

    connection: DuckDBPyConnection
    name: str
    run: str

    def figures_of(self, query: str) -> Figures:
        """Return the figures of a query. Its text columns are the beginning of their keys."""
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
        """Return the figures for each combination of rules, including no rule."""
        sizes = range(len(rules) + 1)
        chosen = [some for size in sizes for some in combinations(rules, size)]
        return {", ".join(some): self.figures_of(query(frozenset(some))) for some in chosen}

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
        """Compare the figures of `rows`, identified by `keys`, with the figures of `query`.

        Only figures with a name that both tools use are compared. If `whole` is false, only rows
        that the other tool listed are compared.
        """
        ours = self.figures_of(query)
        names = {key[-1] for key in ours}
        peer: Figures = {}
        for row in rows:
            of = tuple(text_of(row[key]) for key in keys)
            peer |= {(*of, name): row[name] for name in row if name in names}
        if not whole:
            ours = {key: value for key, value in ours.items() if key in peer}
        return Comparison(analysis, self.name, peer, ours, by_rule, slack)


def text_of(value: Any) -> str:
    """Return `value` in the form of query results: text, or JSON for other types."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _same(figure: Any, other: Any, slack: float) -> bool:
    """Return whether figures are equal. None counts as 0, and a pair is a lower and upper bound."""
    (least, most), (other_least, other_most) = _bounds(figure), _bounds(other)
    margin = slack + PRECISION * abs(most)
    return least - margin <= other_most and other_least <= most + margin


def _bounds(figure: Any) -> tuple[float, float]:
    least, most = figure if isinstance(figure, list) else (figure, figure)
    return float(least or 0), float(most or 0)
