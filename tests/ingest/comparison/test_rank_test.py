"""The rank test, compared with published values."""

from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.comparison.rank_test import least_p, rank_test


@pytest.mark.parametrize(
    ("base", "other", "p"),
    [
        # scipy's documentation of mannwhitneyu: ages of men and women with diabetes, exact
        ([19, 22, 16, 29, 24], [20, 11, 17, 12], 0.1111111111111111),
        # Hollander and Wolfe, table 4.1, as in R's help on wilcox.test (0.1272 one-sided)
        (
            [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46],
            [1.15, 0.88, 0.90, 0.74, 1.21],
            0.2544122544122544,
        ),
        # R's data set sleep, with ties: W = 25.5, p = 0.06582 by exactRankTests' wilcox.exact
        (
            [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
            [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
            0.06582,
        ),
        ([1, 2, 3], [4, 5, 6], 0.1),
        ([5, 5, 5], [5, 5, 5], 1.0),
        ([1], [2], 1.0),
    ],
)
def test_published_values(base: list[float], other: list[float], p: float) -> None:
    published = pytest.approx(p, abs=5e-6)  # the precision of the p-value for sleep
    assert rank_test(base, other) == published
    assert rank_test(other, base) == published


@pytest.mark.parametrize(
    ("n", "m", "critical"),
    # the largest U with a two-sided p of at most 0.05, from the usual tables
    [(4, 4, 0), (5, 5, 2), (6, 4, 2), (7, 7, 8), (8, 8, 13), (10, 10, 23), (20, 20, 127)],
)
def test_critical_values(n: int, m: int, critical: int) -> None:
    assert rank_test(*samples(n, m, critical)) <= 0.05
    assert rank_test(*samples(n, m, critical + 1)) > 0.05


def samples(n: int, m: int, wins: int) -> tuple[list[float], list[float]]:
    """Return two samples in which `wins` pairs have the larger value in the second sample."""
    base = list(range(n))
    other = []
    for index in range(m):
        beats = min(n, wins)
        wins -= beats
        other.append(beats - 0.5 + index / 100)
    return [float(value) for value in base], other


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.integers(0, 1000), min_size=2, max_size=8, unique=True)
    | st.lists(st.integers(0, 4), min_size=2, max_size=8),
    st.data(),
)
def test_p_is_the_share_of_orders_at_least_as_extreme(
    values: list[int], data: st.DataObject
) -> None:
    n = data.draw(st.integers(1, len(values) - 1))
    base, other = values[:n], values[n:]

    def distance(chosen: tuple[int, ...]) -> float:
        rest = [values[index] for index in range(len(values)) if index not in chosen]
        wins = sum((y > values[x]) + (y == values[x]) / 2 for x in chosen for y in rest)
        return abs(wins - len(chosen) * len(rest) / 2)

    orders = [distance(chosen) for chosen in combinations(range(len(values)), n)]
    share = sum(one >= distance(tuple(range(n))) for one in orders) / len(orders)
    assert rank_test(base, other) == pytest.approx(share)


def test_the_least_p() -> None:
    assert least_p(3, 3) == pytest.approx(0.1)
    assert least_p(1, 1) == 1
    assert least_p(4, 4) == pytest.approx(2 / 70)


def test_an_empty_sample_is_an_error() -> None:
    with pytest.raises(ValueError, match="a value on each side"):
        rank_test([], [1.0])
