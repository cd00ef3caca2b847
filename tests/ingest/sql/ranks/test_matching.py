"""Collectives of ranks are matched by number or by order, and otherwise say why they are not."""

import random

import pytest

from tests.builders.collectives import Call, Clock, loop, recorded, shifted
from tests.builders.relations import Relations, built

SAME = {0: shifted(0), 1: shifted(0)}
REASONS = "SELECT rank, unmatched_reason, count(*) FROM collectives GROUP BY ALL ORDER BY ALL"


def ordinals(relations: Relations) -> list[list[tuple[int, ...]]]:
    return relations.by_rank("SELECT rank, ordinal FROM collectives ORDER BY rank, start_ns")


def numbered(calls: list[Call], first: int = 0) -> list[Call]:
    for number, call in enumerate(calls, first):
        call.seq = number
    return calls


def test_recorded_numbers_match_calls_even_if_a_rank_begins_much_later() -> None:
    calls = numbered(loop(2, 20, lambda *_: 100), first=7)
    found = built(recorded(calls, SAME, skipped={1: 12}))
    assert ordinals(found) == [[(n,) for n in range(7, 27)], [(n,) for n in range(19, 27)]]
    assert found.sql(REASONS).fetchall() == [(0, "one_rank", 12), (0, None, 8), (1, None, 8)]


@pytest.mark.parametrize(("period_us", "jitter_us"), [(1000, 20), (5000, 2)])
def test_order_matches_regular_loops_that_begin_up_to_three_calls_late(
    period_us: float, jitter_us: float
) -> None:
    """32 pairs of ranks, each with clocks up to 350 µs apart. Every shift of these loops fits."""
    noise = random.Random(1)
    clocks: dict[int, Clock] = {}
    skipped, expected, calls = {}, {}, []
    for pair in range(32):
        one, other = 2 * pair, 2 * pair + 1
        clocks |= {
            one: shifted(0),
            other: shifted(noise.uniform(-350, 350), noise.uniform(-20, 20)),
        }
        late = noise.randint(-3, 3)
        skipped |= {one: max(late, 0), other: max(-late, 0)}
        expected |= {one: 1 + max(late, 0), other: 1 + max(-late, 0)}
        each = loop(2, 20, lambda *_: period_us + noise.uniform(0, 50), jitter_us=jitter_us)
        for call in each:
            call.starts_us = {one: call.starts_us[0], other: call.starts_us[1]}
            call.group = str(pair)
        calls += each
    found = built(recorded(calls, clocks, skipped=skipped))
    first = "SELECT rank, min(ordinal) FROM collectives GROUP BY rank ORDER BY rank"
    least = {pair: min(expected[2 * pair], expected[2 * pair + 1]) for pair in range(32)}
    assert dict(found.sql(first).fetchall()) == {
        rank: number - least[rank // 2] + 1 for rank, number in expected.items()
    }


def test_two_shifts_that_fit_equally_well_are_ambiguous() -> None:
    """The clocks are half a period apart, so the next call is as near as the same one."""
    calls = loop(2, 20, lambda *_: 900, transfer_us=100)
    found = built(recorded(calls, {0: shifted(0), 1: shifted(500)}))
    assert found.sql(REASONS).fetchall() == [(0, "one_rank", 20), (1, "ambiguous", 20)]


def test_the_order_of_kinds_and_sizes_decides_where_clocks_cannot() -> None:
    """The clocks are an hour apart, but only one shift has the same sizes."""
    calls = [
        call
        for number in range(8)
        for call in loop(2, 1, lambda *_: 900, start_us=1000 * number, elements=10 + number)
    ]
    found = built(recorded(calls, {0: shifted(0), 1: shifted(3.6e9)}, skipped={1: 2}))
    assert ordinals(found) == [[(n,) for n in range(1, 9)], [(n,) for n in range(3, 9)]]


def test_ranks_that_call_different_collectives_do_not_match() -> None:
    calls = numbered(loop(2, 3, lambda *_: 100))
    bad = Call({0: 5000}, seq=3, members=[0, 1])
    worse = Call({1: 5000}, seq=3, members=[0, 1], kind="_allgather_base")
    found = built(recorded([*calls, bad, worse], SAME))
    assert found.sql(
        "SELECT rank, kind, unmatched_reason, wait_ns FROM collectives WHERE NOT is_matched "
        "ORDER BY rank"
    ).fetchall() == [(0, "all_reduce", "mismatch", None), (1, "all_gather", "mismatch", None)]


def test_a_group_is_its_name_and_its_ranks() -> None:
    """Two groups of other ranks have the same name; one of them lacks a rank."""
    one = numbered(loop(2, 2, lambda *_: 100))
    other = numbered(loop(2, 2, lambda *_: 100))
    for call in other:
        call.starts_us = {2: call.starts_us[0]}
        call.members = [2, 5]
    found = built(recorded([*one, *other], {rank: shifted(0) for rank in range(3)}))
    assert found.sql(
        "SELECT process_group_id, name, group_size, member_ranks, missing_ranks FROM process_groups"
    ).fetchall() == [(1, "0", 2, [0, 1], []), (2, "0", 2, [2, 5], [5])]
    assert found.sql(
        "SELECT DISTINCT rank, process_group_id, ranks, is_bound, unmatched_reason "
        "FROM collectives ORDER BY rank"
    ).fetchall() == [
        (0, 1, 2, False, None),
        (1, 1, 2, False, None),
        (2, 2, 1, True, "one_rank"),
    ]


def test_a_long_list_of_ranks_that_is_cut_is_completed() -> None:
    """Torch cuts the list of an event, and records its first rank and stride."""
    more = {
        "Process Group Ranks": "[0, 2, 4, ...]",
        "Group size": 40,
        "Global rank start": 0,
        "Global rank stride": 2,
    }
    found = built(
        recorded([Call({0: 10, 2: 10}, seq=1, more=more)], {0: shifted(0), 2: shifted(0)})
    )
    [(ranks, missing)] = found.sql(
        "SELECT member_ranks, missing_ranks FROM process_groups"
    ).fetchall()
    assert ranks == list(range(0, 80, 2))
    assert missing == list(range(4, 80, 2))


def test_the_nth_send_belongs_to_the_nth_receive() -> None:
    """A pipeline of three ranks; `Seq` counts the calls of each rank, and pairs nothing."""
    calls = []
    for number in range(4):
        for source in (0, 1):
            peers = {"Src Rank": source, "Dst Rank": source + 1}
            start_us = 1000 * number + 100 * source
            for rank, kind, begin in ((source, "send", 30), (source + 1, "recv", 0)):
                calls.append(
                    Call(
                        {rank: start_us + begin},
                        40 if kind == "send" else 70,
                        kind,
                        seq=10 * rank + number,
                        members=[0, 1, 2],
                        more=peers,
                    )
                )
    hosts = dict.fromkeys(range(3), "a")  # point-to-point calls set no clock
    found = built(recorded(calls, {rank: shifted(0) for rank in range(3)}, hosts=hosts))
    assert found.sql(
        "SELECT rank, kind, peer_rank, list(ordinal ORDER BY start_ns), any_value(wait_ns), "
        "any_value(transfer_ns) FROM collectives GROUP BY ALL ORDER BY ALL"
    ).fetchall() == [
        (0, "send", 1, [1, 2, 3, 4], 0, 40_000),
        (1, "recv", 0, [1, 2, 3, 4], 30_000, 40_000),
        (1, "send", 2, [1, 2, 3, 4], 0, 40_000),
        (2, "recv", 1, [1, 2, 3, 4], 30_000, 40_000),
    ]


def test_sends_without_as_many_receives_do_not_match() -> None:
    peers = {"Src Rank": 0, "Dst Rank": 1}
    calls = [Call({0: 10}, kind="send", more=peers), Call({0: 500}, kind="send", more=peers)]
    received = Call({1: 600}, kind="recv", more=peers)
    for call in (*calls, received):
        call.members = [0, 1]
    found = built(recorded([*calls, received], SAME))
    assert found.sql(REASONS).fetchall() == [(0, "ambiguous", 2), (1, "ambiguous", 1)]


@pytest.mark.parametrize(
    "more",
    [
        {"In msg nelems": 2**62},
        {"In msg nelems": -(2**63)},
        {"Group size": 2**63 - 1},
        {"Rank": 2**31 - 1},
        {"Rank": -2},
        {"Src Rank": 2**31 - 1, "Dst Rank": -5},
        {"Process Group Ranks": "[0, 1, ...]", "Global rank start": 0, "Global rank stride": 2**31},
        {"Process Group Ranks": "[0, [1]]", "Seq": 10**30, "dtype": 7, "In split size": "[a]"},
    ],
)
def test_an_odd_number_costs_only_itself(more: dict[str, object]) -> None:
    calls = loop(2, 5, lambda *_: 500)
    odd = Call({0: 9000, 1: 9000}, kind="broadcast", more=more)
    found = built(recorded([*calls, odd], SAME))
    assert found.sql("SELECT count(*) FROM collectives WHERE is_matched").fetchall()[0][0] >= 10
    for view in ("stragglers", "rank_summary", "collective_summary", "process_groups"):
        found.sql(f"FROM {view}").fetchall()


def test_several_kernels_with_the_same_number_are_matched_by_order() -> None:
    """Rank 1 computes 0.8 ms longer before each first kernel of a call."""
    calls = loop(2, 20, lambda rank, number: 5000 + 800 * (rank == 1 and number % 2 == 0))
    for number, call in enumerate(calls):
        call.seq = number // 2
    found = built(recorded(calls, SAME))
    assert ordinals(found) == [[(n,) for n in range(1, 21)]] * 2
    assert found.sql(
        "SELECT rank, last_collectives, late_ns FROM stragglers WHERE is_straggler"
    ).fetchall() == [(1, 10, 800_000)]
