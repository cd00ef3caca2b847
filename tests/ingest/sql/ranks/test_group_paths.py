"""The critical path across ranks follows the rank for which the others wait, and has no gaps."""

import random
from itertools import groupby
from pathlib import Path

import pytest

from tests.builders.collectives import Call, awaited, computing, loop, recorded, shifted
from tests.builders.relations import Relations, Run, built
from tests.helpers.recorded import RECORDINGS

# An interval that does not begin where the one before it ends, and a step that does not reach from
# the start of its first rank to the last end.
GAPS = """
WITH
rows AS (
    SELECT
        *,
        start_ns - lag(start_ns + dur_ns, 1, start_ns) OVER in_order AS gap_ns
    FROM group_critical_paths
    WINDOW in_order AS (PARTITION BY step, reference_rank ORDER BY ordinal)
),
windows AS (
    SELECT
        step,
        paths.rank,
        reference_rank,
        min(start_ns - clock_offset(clocks, start_ns)) AS start_ns,
        max(start_ns + dur_ns - clock_offset(clocks, start_ns + dur_ns)) AS end_ns
    FROM critical_paths AS paths
    INNER JOIN rank_clocks AS clocks ON paths.rank = clocks.rank
    GROUP BY step, paths.rank, reference_rank
),
whole AS (
    SELECT
        step,
        reference_rank,
        arg_min(rows.rank, ordinal) AS first_rank,
        max(rows.start_ns + dur_ns) - min(rows.start_ns) AS path_ns,
        sum(dur_ns) AS sum_ns,
        max(abs(gap_ns)) AS gap_ns
    FROM rows
    GROUP BY step, reference_rank
)
SELECT whole.*
FROM whole
WHERE
    gap_ns <> 0
    OR path_ns <> sum_ns
    OR path_ns <> (
        SELECT max(end_ns)
        FROM windows
        WHERE step = whole.step AND reference_rank = whole.reference_rank
    )
    - (SELECT start_ns FROM windows WHERE step = whole.step AND windows.rank = first_rank)
"""


def group_of(run: Run | Path) -> Relations:
    """Return the relations of a run. Check that the paths have no gaps or overlaps."""
    found = built(run)
    assert found.sql(GAPS).fetchall() == []
    return found


def test_the_path_is_on_the_rank_that_computes_longer() -> None:
    """Rank 2 computes 0.8 ms longer in each step. Clocks are 350 µs apart."""
    calls = loop(4, 12, lambda rank, _: 4800 + 800 * (rank == 2))
    clocks = {0: shifted(0), 1: shifted(350), 2: shifted(-350), 3: shifted(20)}
    found = group_of(awaited(computing(recorded(calls, clocks))))
    steps = found.sql(
        "SELECT step, list((rank, dur_ns, waited_in_id) ORDER BY ordinal), any_value(ranks) "
        "FROM group_path_ranks GROUP BY step ORDER BY step"
    ).fetchall()
    # The ends of all ranks are equal, so the path ends on the lowest rank.
    assert steps == [(step, [(2, 5_600_000, None), (0, 100_000, step)], 4) for step in range(1, 12)]
    rows = found.sql(
        "SELECT rank, kind, name[:4], start_ns - 35_200_000, dur_ns, waited_in_id "
        "FROM group_critical_paths WHERE is_median ORDER BY ordinal"
    ).fetchall()
    assert rows == [
        (2, "host", "aten", 0, 1000, None),
        (2, "launch", "cuda", 1000, 2000, None),
        (2, "compute", "gemm", 3000, 5_596_000, None),
        (2, "queue", "nccl", 5_599_000, 1000, None),
        (0, "communication", "nccl", 5_600_000, 100_000, 6),
    ]


def test_the_path_follows_ranks_that_are_late_in_turn() -> None:
    """Each step has three calls. Clocks are up to 350 µs apart, and drift by up to 20 ppm."""
    ranks, per_step = 8, 3
    noise = random.Random(3)
    orders = [noise.sample(range(ranks), ranks) for _ in range(1 + 10 * per_step)]
    calls = loop(ranks, len(orders), lambda rank, at: 2000 + 100 * orders[at][rank])
    clocks = {
        rank: shifted(noise.uniform(-350, 350), noise.uniform(-20, 20)) for rank in range(1, ranks)
    }
    run = computing(recorded(calls, {0: shifted(0), **clocks}), per_step=per_step)
    found = group_of(awaited(run))
    latest = [max(call.starts_us, key=call.starts_us.__getitem__) for call in calls]
    for step in range(1, 11):
        first = per_step * (step - 1) + 1
        expected = []
        begins_us = calls[first - 1].end_us
        for at in range(first, first + per_step):
            ends_us = max(calls[at].starts_us.values())
            expected.append((latest[at], begins_us, ends_us))
            begins_us = ends_us
        merged = [
            (rank, stretches[0][1], stretches[-1][2])
            for rank, stretches in (
                (rank, list(rows)) for rank, rows in groupby(expected, lambda row: row[0])
            )
        ]
        rows = found.sql(
            "SELECT rank, start_ns / 1000, (start_ns + dur_ns) / 1000 FROM group_path_ranks "
            f"WHERE step = {step} ORDER BY ordinal"
        ).fetchall()
        # After the last call, the path is on any rank.
        if len(rows) == len(merged):
            rows[-1] = (*rows[-1][:2], merged[-1][2])
        assert len(rows) - len(merged) in (0, 1)
        for row, true in zip(rows, merged, strict=False):
            assert row == pytest.approx(true, abs=1)


def test_a_rank_alone_has_its_own_path() -> None:
    calls = [Call({0: call.starts_us[0]}) for call in loop(2, 6, lambda *_: 5000)]
    found = group_of(awaited(computing(recorded(calls, {0: shifted(0)}))))
    columns = "step, ordinal, rank, kind, event_id, name, op, side, lane, start_ns, dur_ns"
    rows = found.sql(f"SELECT {columns} FROM group_critical_paths ORDER BY ALL").fetchall()
    assert rows == found.sql(f"SELECT {columns} FROM critical_paths ORDER BY ALL").fetchall()
    assert len(rows) == 25


def test_a_rank_that_comes_later_within_the_noise_is_not_followed() -> None:
    """Ranks come up to 3 µs later than others, and ends differ by up to 20 µs."""
    calls = loop(4, 12, lambda rank, number: 4800 + (rank + number) % 4, jitter_us=20)
    found = group_of(awaited(computing(recorded(calls, {rank: shifted(0) for rank in range(4)}))))
    assert found.sql("SELECT step FROM group_path_ranks WHERE ordinal > 0").fetchall() == []


def test_a_receiver_waits_for_its_sender() -> None:
    """Rank 1 sends to rank 0, and computes longer before that. All-reduces set the clocks."""
    calls = loop(2, 21, lambda rank, at: 1000 + 500 * (rank == 1 and at % 2 == 0))
    run = recorded(calls, {0: shifted(0), 1: shifted(350)})
    for rank, content in enumerate(run.files.values()):
        for number, event in enumerate(content["traceEvents"]):
            if number % 2 == 0:
                event["args"] |= {"Collective name": ("recv", "send")[rank]}
                event["args"] |= {"Src Rank": 1, "Dst Rank": 0}
    found = group_of(awaited(computing(run, per_step=2)))
    assert found.sql("SELECT DISTINCT kind FROM collectives WHERE is_last").fetchall() == [
        ("send",)
    ]
    assert found.sql(
        "SELECT DISTINCT rank, dur_ns FROM group_path_ranks WHERE rank = 1"
    ).fetchall() == [(1, 2_600_000)]


def test_the_host_waits_in_collectives_of_gloo() -> None:
    """In step 1 of this recording, rank 0 waits for rank 1, which waited for rank 0."""
    found = group_of(RECORDINGS / "two_ranks")
    ranks = "SELECT list(rank ORDER BY ordinal) FROM group_path_ranks GROUP BY step ORDER BY step"
    assert found.sql(ranks).fetchall() == [([0],), ([0, 1, 0],), ([0],)]
    assert found.sql(
        "SELECT path.rank, calls.kind FROM group_path_ranks AS path "
        "INNER JOIN collectives AS calls ON path.waited_in_id = calls.collective_id ORDER BY ALL"
    ).fetchall() == [(0, "all_reduce"), (1, "broadcast")]


def test_ranks_that_cannot_be_compared_have_their_own_paths(samples: Path) -> None:
    """The process groups of this sample are unknown, so no collective is matched."""
    files = [samples / "traces" / f"two_rank_rank{rank}.json.gz" for rank in (0, 1)]
    found = group_of(Run({file.name: file.read_bytes() for file in files}))
    paths = "SELECT reference_rank, rank, step, dur_ns FROM group_path_ranks ORDER BY ALL"
    assert found.sql(paths).fetchall() == [
        (0, 0, 551, 607_312_000),
        (0, 0, 552, 622_928_000),
        (1, 1, 551, 607_904_000),
        (1, 1, 552, 630_639_000),
    ]
