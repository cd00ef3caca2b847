"""Clocks of ranks, waits and bandwidths against the known truth of built runs."""

import math
import random

from tests.builders.collectives import Call, loop, recorded, shifted
from tests.builders.relations import built

PAIRED = 50  # clocks in each group


def test_the_true_offset_of_200_clocks_is_within_the_uncertainty() -> None:
    """Clocks are up to 350 µs apart and drift by up to 20 ppm; some ranks are late now and then.

    Four groups with rank 0 differ in the number of calls, their period, and the jitter of ends.
    """
    noise = random.Random(1)
    truth = {
        rank: (noise.uniform(-350, 350), noise.uniform(-20, 20))
        for rank in range(1, 4 * PAIRED + 1)
    }
    made = []
    for group, (calls, period_us, jitter_us) in enumerate(
        [(3, 500, 2), (12, 9000, 10), (40, 500, 2), (40, 30_000, 2)]
    ):
        ranks = [0, *range(1 + PAIRED * group, 1 + PAIRED * (group + 1))]

        def compute_us(place: int, number: int, period_us: float = period_us) -> float:
            return period_us + noise.uniform(0, 50) + 800 * (place % 7 == 3 and number % 3 == 0)

        for number, call in enumerate(
            loop(len(ranks), calls, compute_us, jitter_us=jitter_us, group=str(group))
        ):
            call.starts_us = {ranks[place]: at_us for place, at_us in call.starts_us.items()}
            call.seq = number
            made.append(call)
    clocks = {rank: shifted(*line) for rank, line in truth.items()}
    found = built(recorded(made, {0: shifted(0), **clocks}))
    rows = found.sql(
        "SELECT rank, middle_ns, offset_ns, coalesce(drift_ppm, 0), uncertainty_ns, "
        "uncertainty_ppm FROM rank_clocks WHERE rank > 0 ORDER BY rank"
    ).fetchall()
    assert len(rows) == len(truth)
    for distance_ns in (0, 200_000_000):  # at the middle of the calls, and far away
        errors = []  # of each clock, and its uncertainty
        for rank, middle_ns, offset_ns, drift_ppm, uncertainty_ns, uncertainty_ppm in rows:
            offset_us, true_ppm = truth[rank]
            true_ns = 1000 * offset_us + true_ppm * 1e-6 * (middle_ns + distance_ns)
            error_ns = true_ns - offset_ns - drift_ppm * 1e-6 * distance_ns
            errors.append(
                (error_ns, math.hypot(uncertainty_ns, uncertainty_ppm * 1e-6 * distance_ns))
            )
        assert sum(abs(error) <= sure for error, sure in errors) >= 0.95 * len(rows)
        # Pairs of clocks of the same group, neither of which is the reference.
        pairs = [
            (errors[place], errors[other])
            for place in range(len(errors))
            for other in range(place)
            if place // PAIRED == other // PAIRED
        ]
        covered = sum(
            abs(one[0] - other[0]) <= math.hypot(one[1], other[1]) for one, other in pairs
        )
        assert covered >= 0.95 * len(pairs)


def test_waits_are_those_for_the_last_rank_on_one_clock() -> None:
    """Rank 2 computes 800 µs longer. All ends agree exactly, so clocks and waits are exact."""
    calls = loop(4, 20, lambda rank, _: 500 + 10 * rank + 800 * (rank == 2), elements=250_000)
    clocks = {0: shifted(0), 1: shifted(350), 2: shifted(-350), 3: shifted(20)}
    found = built(recorded(calls, clocks))
    rows = found.sql(
        "SELECT rank, min(wait_ns), max(wait_ns), min(lateness_ns), max(transfer_ns), "
        "bool_and(is_last), min(in_bytes), round(min(algorithm_gb_per_s), 3), "
        "round(min(bus_gb_per_s), 3) FROM collectives GROUP BY rank ORDER BY rank"
    ).fetchall()
    # 1 MB in 100 µs is 10 GB/s, and its bus bandwidth 2 × 3/4 of that.
    assert rows == [
        (0, 820_000, 820_000, 0, 100_000, False, 1_000_000, 10, 15),
        (1, 810_000, 810_000, 10_000, 100_000, False, 1_000_000, 10, 15),
        (2, 0, 0, 820_000, 100_000, True, 1_000_000, 10, 15),
        (3, 790_000, 790_000, 30_000, 100_000, False, 1_000_000, 10, 15),
    ]


def test_a_skew_below_the_spread_of_the_ends_names_nobody() -> None:
    calls = loop(4, 30, lambda rank, number: 500 + (rank + number) % 4, jitter_us=20)
    clocks = {0: shifted(0), 1: shifted(100), 2: shifted(-100), 3: shifted(20)}
    found = built(recorded(calls, clocks))
    assert found.sql("SELECT count(*) FROM collectives WHERE is_last").fetchall() == [(0,)]
    assert found.sql("SELECT count(*) FROM collectives WHERE is_matched").fetchall() == [(120,)]


def test_the_ranks_of_a_host_share_a_clock() -> None:
    """Hosts are 350 µs apart. A rank that is always late is late, not on another clock."""
    hosts = {0: "a", 1: "a", 2: "b", 3: "b"}
    clocks = {0: shifted(0), 1: shifted(0), 2: shifted(350), 3: shifted(350)}
    calls = loop(4, 20, lambda rank, _: 5000 + 300 * (rank == 3))
    found = built(recorded(calls, clocks, hosts=hosts))
    assert found.sql(
        "SELECT rank, host_name, is_reference, collectives, offset_ns, drift_ppm "
        "FROM rank_clocks ORDER BY rank"
    ).fetchall() == [
        (0, "a", True, None, 0, None),
        (1, "a", True, None, 0, None),
        (2, "b", False, 20, 350_000, None),
        (3, "b", False, 20, 350_000, None),
    ]
    last = "SELECT DISTINCT rank, wait_ns FROM collectives ORDER BY rank"
    assert found.sql(last).fetchall() == [(0, 300_000), (1, 300_000), (2, 300_000), (3, 0)]


def test_clocks_without_a_common_collective_are_connected_through_others() -> None:
    """Ranks 0 and 1 share a group, and 1 and 2 another one."""
    calls = []
    for group, (one, other) in enumerate([(0, 1), (1, 2)]):
        for call in loop(2, 20, lambda *_: 500, start_us=1000 + 50_000 * group):
            call.starts_us = {one: call.starts_us[0], other: call.starts_us[1]}
            call.group = str(group)
            calls.append(call)
    found = built(recorded(calls, {0: shifted(0), 1: shifted(100), 2: shifted(-70), 3: shifted(9)}))
    assert found.sql(
        "SELECT rank, reference_rank, offset_ns FROM rank_clocks ORDER BY rank"
    ).fetchall() == [(0, 0, 0), (1, 0, 100_000), (2, 0, -70_000), (3, 3, 0)]


def test_ranks_without_a_common_collective_are_compared_within_their_pairs() -> None:
    """Ranks 0 and 3 share a group, and 1 and 2 another one. Ranks 2 and 3 come last."""
    calls = []
    for one, other in ((0, 3), (1, 2)):
        for call in loop(2, 20, lambda rank, _: 500 + 300 * rank):
            call.starts_us = {one: call.starts_us[0], other: call.starts_us[1]}
            call.group = str(one)
            calls.append(call)
    clocks = {0: shifted(0), 1: shifted(5000), 2: shifted(4930), 3: shifted(100)}
    found = built(recorded(calls, clocks))
    assert found.sql(
        "SELECT rank, reference_rank, is_reference, offset_ns FROM rank_clocks ORDER BY rank"
    ).fetchall() == [
        (0, 0, True, 0),
        (1, 1, True, 0),
        (2, 1, False, -70_000),
        (3, 0, False, 100_000),
    ]
    waits = "SELECT DISTINCT rank, wait_ns, is_last FROM collectives ORDER BY rank"
    assert found.sql(waits).fetchall() == [
        (0, 300_000, False),
        (1, 300_000, False),
        (2, 0, True),
        (3, 0, True),
    ]


def test_unequal_all_to_alls_match_but_set_no_clock() -> None:
    """The rank with more to receive ends later."""
    calls = []
    for number in range(20):
        for rank, more_us in ((0, 0), (1, 300)):
            splits = {"In split size": "[10, 90]", "Out split size": "[10, 90]"}
            start_us = 1000 + 2000 * number
            calls.append(
                Call(
                    {rank: start_us},
                    100 + more_us,
                    "all_to_allv",
                    seq=number,
                    members=[0, 1],
                    more=splits,
                )
            )
    found = built(recorded(calls, {0: shifted(0), 1: shifted(0)}))
    query = "SELECT DISTINCT kind, is_matched, wait_ns, ends_spread_ns FROM collectives"
    assert found.sql(query).fetchall() == [("all_to_all", True, None, None)]
    clocks = "SELECT rank, reference_rank, offset_ns FROM rank_clocks ORDER BY rank"
    assert found.sql(clocks).fetchall() == [(0, 0, 0), (1, 1, 0)]


def test_ranks_wait_in_a_broadcast_for_its_root() -> None:
    """The root is rank 1. Rank 2 comes even later, and makes nobody wait."""
    calls = loop(3, 20, lambda *_: 100)
    late = Call({0: 9000, 1: 9300, 2: 9400}, kind="broadcast", more={"Rank": 1})
    found = built(recorded([*calls, late], {rank: shifted(0) for rank in range(3)}))
    rows = "SELECT wait_ns, is_last FROM collectives WHERE kind = 'broadcast' ORDER BY rank"
    assert found.sql(rows).fetchall() == [(300_000, False), (0, False), (0, False)]


def test_a_rank_without_collectives_has_its_own_reference() -> None:
    """Rank 0 recorded none. The others are compared with rank 1."""
    calls = loop(2, 20, lambda rank, _: 5000 + 300 * rank)
    for call in calls:
        call.starts_us = {1 + rank: at_us for rank, at_us in call.starts_us.items()}
    found = built(recorded(calls, {0: shifted(0), 1: shifted(50), 2: shifted(80)}))
    assert found.sql("SELECT rank, is_reference, offset_ns FROM rank_clocks").fetchall() == [
        (0, True, 0),
        (1, True, 0),
        (2, False, 30_000),
    ]
    assert found.sql("SELECT rank FROM stragglers WHERE is_straggler").fetchall() == [(2,)]
