"""The rank that makes others wait is found, with what it costs, and nobody is blamed for noise."""

import random

import pytest

from tests.builders.collectives import Call, computing, loop, recorded, shifted
from tests.builders.events import op
from tests.builders.relations import Run, built

STRAGGLERS = "SELECT rank FROM stragglers WHERE is_straggler"


def with_steps(run: Run, calls: list[Call], per_step: int) -> Run:
    """Add an operator and the profiler's steps, which each contain `per_step` of the calls."""
    for content in run.files.values():
        kernels = content["traceEvents"]
        for step in range(len(kernels) // per_step):
            first, last = kernels[per_step * step], kernels[per_step * (step + 1) - 1]
            end = last["ts"] + last["dur"]
            start = kernels[per_step * step - 1]["ts"] if step else first["ts"] - 900
            start += kernels[per_step * step - 1]["dur"] if step else 0
            content["traceEvents"] = [
                op(f"ProfilerStep#{step}", start, end - start, cat="user_annotation"),
                *content["traceEvents"],
            ]
    return run


@pytest.mark.parametrize("ranks", [4, 64])
def test_a_rank_that_computes_longer_is_the_straggler(ranks: int) -> None:
    """It computes 0.8 ms longer before each of two collectives of a step."""
    noise = random.Random(ranks)
    late = ranks // 2
    calls = loop(
        ranks, 20, lambda rank, _: 5000 + noise.uniform(0, 50) + 800 * (rank == late), jitter_us=2
    )
    clocks = {
        rank: shifted(noise.uniform(-350, 350), noise.uniform(-20, 20)) for rank in range(1, ranks)
    }
    run = with_steps(recorded(calls, {0: shifted(0), **clocks}), calls, per_step=2)
    found = built(run)
    assert found.sql("SELECT count(*) FROM step_metrics WHERE step IS NOT NULL").fetchall() == [
        (10 * ranks,)
    ]
    assert found.sql(STRAGGLERS).fetchall() == [(late,)]
    [(percent, late_ns, cost_ns, waiting_ns)] = found.sql(
        "SELECT last_percent, late_ns, cost_ns, waiting_ns FROM stragglers WHERE is_straggler"
    ).fetchall()
    # The next rank is some of the random 50 µs late.
    true_ns = [
        1000 * (max(s.values()) - sorted(s.values())[-2]) for s in (c.starts_us for c in calls)
    ]
    assert percent == 100
    assert late_ns == pytest.approx(sorted(true_ns)[len(true_ns) // 2], abs=6_000)
    assert cost_ns == pytest.approx(sum(true_ns) / 10, rel=0.01)
    assert waiting_ns == pytest.approx(0, abs=10_000)
    assert found.sql(
        "SELECT rank, sum(last_collectives), sum(collectives) FROM rank_summary "
        "GROUP BY rank HAVING sum(last_collectives) > 0"
    ).fetchall() == [(late, 20, 20)]


def test_ranks_that_are_late_in_turn_are_no_stragglers() -> None:
    calls = loop(2, 40, lambda rank, number: 5000 + 400 * (rank == number % 2), jitter_us=2)
    found = built(recorded(calls, {0: shifted(0), 1: shifted(200)}))
    assert found.sql("SELECT last_percent FROM stragglers").fetchall() == [(50,), (50,)]
    assert found.sql(STRAGGLERS).fetchall() == []


def test_noise_makes_no_straggler() -> None:
    noise = random.Random(7)
    calls = loop(8, 40, lambda *_: 5000 + noise.uniform(0, 300), jitter_us=2)
    clocks = {rank: shifted(noise.uniform(-350, 350)) for rank in range(1, 8)}
    assert built(recorded(calls, {0: shifted(0), **clocks})).sql(STRAGGLERS).fetchall() == []


def test_a_missing_rank_makes_waits_lower_bounds() -> None:
    """Rank 3, which has no trace, comes last. The others wait as long as each other."""
    calls = loop(4, 20, lambda rank, _: 5000 + 800 * (rank == 3))
    found = built(recorded(calls, {rank: shifted(0) for rank in range(4)}, missing=[3]))
    assert found.sql("SELECT missing_ranks FROM process_groups").fetchall() == [([3],)]
    assert found.sql(
        "SELECT DISTINCT is_bound, wait_ns, transfer_ns FROM collectives"
    ).fetchall() == [(True, 0, 900_000)]
    assert found.sql(STRAGGLERS).fetchall() == []


def test_a_slow_link_is_in_the_transfer_not_in_waits() -> None:
    """Two groups with the same sizes; one has a link with half the bandwidth."""
    calls = []
    for group, transfer_us in ((0, 100), (1, 200)):
        for call in loop(2, 20, lambda *_: 5000, transfer_us=transfer_us, elements=250_000):
            call.starts_us = {2 * group + rank: at for rank, at in call.starts_us.items()}
            call.group = str(group)
            calls.append(call)
    found = built(
        recorded(calls, {rank: shifted(0) for rank in range(4)}, hosts=dict.fromkeys(range(4), "a"))
    )
    assert found.sql(
        "SELECT group_name, kind, bytes, calls, matched_calls, ranks, transfer_ns, skew_ns, "
        "wait_ns, algorithm_gb_per_s, bus_gb_per_s FROM collective_summary ORDER BY group_name"
    ).fetchall() == [
        ("0", "all_reduce", 1_000_000, 20, 20, 2, 100_000, 0, 0, 10, 10),
        ("1", "all_reduce", 1_000_000, 20, 20, 2, 200_000, 0, 0, 5, 5),
    ]


@pytest.mark.parametrize(
    ("kernels", "loading_us", "expected"),
    [
        # The same work takes longer.
        (
            1,
            0,
            [
                ("kernel", "gemm", 800_000, 100, 1, 1, True),
                ("op", "aten::mm", 800_000, 100, 1, 1, True),
                ("part", "compute", 800_000, 100, None, None, None),
            ],
        ),
        # It does more: seven kernels instead of six.
        (
            7,
            0,
            [
                ("kernel", "gemm", 796_000, 99.5, 7, 6, False),
                ("op", "aten::mm", 796_000, 99.5, 7, 6, False),
                ("part", "compute", 796_000, 99.5, None, None, None),
            ],
        ),
        # Its data loader takes longer.
        (1, 800, [("part", "dataloader", 800_000, 100, None, None, None)]),
    ],
)
def test_what_the_straggler_does_longer(
    kernels: int, loading_us: float, expected: list[tuple[object, ...]]
) -> None:
    """Rank 2 of four takes 0.8 ms longer in each of 11 steps."""
    calls = loop(4, 12, lambda rank, _: 4800 + 800 * (rank == 2))
    run = computing(
        recorded(calls, {rank: shifted(30 * rank) for rank in range(4)}),
        lambda rank: kernels if rank == 2 else max(kernels - 1, 1),
        lambda rank: 100 + loading_us if rank == 2 and loading_us else 100 if loading_us else 0,
    )
    found = built(run)
    assert found.sql("SELECT rank, cost_ns FROM stragglers WHERE is_straggler").fetchall() == [
        (2, 800_000)
    ]
    assert (
        found.sql(
            "SELECT level, name, excess_ns, round(cost_percent, 1), step_calls, "
            "other_step_calls, is_slower "
            "FROM straggler_causes WHERE excess_ns > 10_000 ORDER BY ALL"
        ).fetchall()
        == expected
    )


def test_a_rank_that_is_later_than_the_next_by_less_than_the_noise_is_no_straggler() -> None:
    """Ranks 0 and 2 share a clock; rank 1 comes 1 µs before rank 2, and ends differ by 40 µs."""
    before = {0: 1000, 1: 1999, 2: 2000}
    calls = loop(3, 20, lambda rank, _: before[rank], jitter_us=40)
    hosts = {0: "a", 1: "b", 2: "a"}
    clocks = {0: shifted(0), 1: shifted(300), 2: shifted(0)}
    found = built(recorded(calls, clocks, hosts=hosts))
    assert found.sql("SELECT count(*) FROM collectives WHERE is_last").fetchall() == [(20,)]
    assert found.sql("SELECT count(late_ns) FROM collectives").fetchall() == [(0,)]
    assert found.sql(STRAGGLERS).fetchall() == []


def test_steps_of_two_cycles_with_the_same_numbers_count_twice() -> None:
    """Each cycle of a rank has its file. The straggler is 0.8 ms late in each step."""
    calls = loop(4, 12, lambda rank, _: 4000 + 800 * (rank == 2))
    again = loop(4, 12, lambda rank, _: 4000 + 800 * (rank == 2), start_us=1_000_000)
    clocks = dict.fromkeys(range(4), shifted(0))
    files = {}
    for cycle, each in enumerate((calls, again)):
        run = computing(recorded(each, clocks))
        for name, content in run.files.items():
            files[f"cycle{cycle}_{name}"] = content
    found = built(Run(files))
    assert found.sql(
        "SELECT rank, round(cost_ns, -4), steps FROM stragglers WHERE is_straggler"
    ).fetchall() == [(2, 800_000, 22)]
    [(own_ns, excess_ns)] = found.sql(
        "SELECT own_ns, excess_ns FROM straggler_causes WHERE level = 'op'"
    ).fetchall()
    assert own_ns == pytest.approx(4_800_000, rel=0.01)
    assert excess_ns == pytest.approx(800_000, rel=0.01)
