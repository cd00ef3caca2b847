"""Mann and Whitney's rank test: whether two samples differ by more than chance."""

from collections import Counter
from collections.abc import Sequence
from math import comb, erfc, sqrt

SIGNIFICANT = 0.05
MAX_EXACT = 50  # values per sample without ties, for the exact test
MAX_TIED = 24  # values of both samples, with ties, for the exact test; more take too long


def rank_test(base: Sequence[float], other: Sequence[float]) -> float:
    """Return the two-sided p-value of Mann and Whitney's U test, 0 to 1.

    It is the probability that two samples of these sizes, drawn from one distribution, differ in
    rank at least as much as these do. Three methods compute it:

    - Without ties and with up to 50 values per sample: exact, by counting the orders with each U
      (Mann and Whitney, Annals of Mathematical Statistics 18, 1947).
    - Otherwise, with up to 24 values in total: exact, by counting the ways to distribute the mean
      ranks.
    - Otherwise: the normal approximation with corrections for ties and continuity (Hollander,
      Wolfe and Chicken, Nonparametric Statistical Methods, 4.1).

    Raise ValueError if a sample is empty.
    """
    if not base or not other:
        raise ValueError("a rank test needs a value on each side")
    n, m = len(base), len(other)
    wins = sum((y > x) + (y == x) / 2 for x in base for y in other)
    ties = [count for count in Counter((*base, *other)).values() if count > 1]
    if not ties and max(n, m) <= MAX_EXACT:
        fewest = int(min(wins, n * m - wins))
        return min(1.0, 2 * sum(_orders(n, m)[: fewest + 1]) / comb(n + m, n))
    if n + m <= MAX_TIED:
        return _tied_p(base, other)
    tied = sum(count**3 - count for count in ties) / ((n + m) * (n + m - 1))
    variance = n * m / 12 * (n + m + 1 - tied)
    distance = max(0.0, abs(wins - n * m / 2) - 0.5)
    return erfc(distance / sqrt(2 * variance)) if variance else 1.0


def _tied_p(base: Sequence[float], other: Sequence[float]) -> float:
    """Return the share of rank subsets of `base`'s size at least as extreme as `base`'s ranks.

    A subset is more extreme if its rank sum is farther from the expected rank sum.
    """
    values = sorted((*base, *other))
    first = {value: index for index, value in reversed([*enumerate(values)])}
    counts = Counter(values)
    # Use twice the mean ranks, which are integers.
    ranks = {value: 2 * first[value] + counts[value] + 1 for value in counts}
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
    """Return the smallest possible p-value for samples of `n` and `m` values: 0.1 for 3 and 3."""
    return min(1.0, 2 / comb(n + m, n))


def _orders(n: int, m: int) -> list[int]:
    """Return the number of orders of n + m different values for each U, 0 to n·m.

    These are the coefficients of the Gaussian binomial coefficient.
    """
    counts = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):  # multiply by 1 − q^(m+i)
            counts[u] -= counts[u - m - i]
        for u in range(i, n * m + 1):  # divide by 1 − q^i
            counts[u] += counts[u - i]
    return counts
