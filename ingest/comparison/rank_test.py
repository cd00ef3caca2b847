"""Whether two samples differ by more than chance: the rank test of Mann and Whitney."""

from collections import Counter
from collections.abc import Sequence
from math import comb, erfc, sqrt

SIGNIFICANT = 0.05
MOST_EXACT = 50  # values of a sample without ties; beyond, the normal approximation serves
MOST_TIED = 24  # values of both samples, if some are equal: as many as are counted in no time


def rank_test(base: Sequence[float], other: Sequence[float]) -> float:
    """The two-sided p-value of Mann and Whitney's U test, 0 to 1.

    How often two samples of this size, drawn from one distribution, differ in rank at least as
    much as these. Exact for up to 50 values a sample, of which no two are equal, by counting the
    orders with each U (Mann and Whitney, Annals of Mathematical Statistics 18, 1947), and for up to
    24 values of both, by counting the ways to share out their mean ranks; otherwise by the normal
    approximation with corrections for ties and continuity (Hollander, Wolfe and
    Chicken, Nonparametric Statistical Methods, 4.1). Raises ValueError where a sample is empty.
    """
    if not base or not other:
        raise ValueError("a rank test needs a value on each side")
    n, m = len(base), len(other)
    wins = sum((y > x) + (y == x) / 2 for x in base for y in other)
    ties = [count for count in Counter((*base, *other)).values() if count > 1]
    if not ties and max(n, m) <= MOST_EXACT:
        fewest = int(min(wins, n * m - wins))
        return min(1.0, 2 * sum(_orders(n, m)[: fewest + 1]) / comb(n + m, n))
    if n + m <= MOST_TIED:
        return _shared_out(base, other)
    tied = sum(count**3 - count for count in ties) / ((n + m) * (n + m - 1))
    variance = n * m / 12 * (n + m + 1 - tied)
    distance = max(0.0, abs(wins - n * m / 2) - 0.5)
    return erfc(distance / sqrt(2 * variance)) if variance else 1.0


def _shared_out(base: Sequence[float], other: Sequence[float]) -> float:
    """The share of ways to give `base` its number of ranks that are as far from the middle."""
    values = sorted((*base, *other))
    first = {value: place for place, value in reversed([*enumerate(values)])}
    counts = Counter(values)
    ranks = {value: 2 * first[value] + counts[value] + 1 for value in counts}  # twice the mean one
    ways: list[Counter[int]] = [Counter({0: 1}), *(Counter() for _ in base)]
    for value in values:
        for size in range(len(base), 0, -1):
            for total, count in ways[size - 1].items():
                ways[size][total + ranks[value]] += count
    middle = len(base) * (len(values) + 1)
    distance = abs(sum(ranks[value] for value in base) - middle)
    extreme = sum(n for total, n in ways[-1].items() if abs(total - middle) >= distance)
    return extreme / comb(len(values), len(base))


def least_p(n: int, m: int) -> float:
    """The smallest p-value that samples of `n` and `m` values can give: 3 against 3, 0.1."""
    return min(1.0, 2 / comb(n + m, n))


def _orders(n: int, m: int) -> list[int]:
    """In how many orders of n + m different values U is 0, 1, … n·m: Gauss's binomial, expanded."""
    counts = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):  # times 1 − q^(m+i)
            counts[u] -= counts[u - m - i]
        for u in range(i, n * m + 1):  # by 1 − q^i
            counts[u] += counts[u - i]
    return counts
