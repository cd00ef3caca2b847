"""Properties of the critical path of every step of every sample."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ingest
from tests.conftest import NOT_A_TRACE
from tests.helpers.samples import COMPILED, TWO_RANKS, Samples

NAMED = 8  # most names of a level that have a gain
# Each step with its time in `step_metrics`, which its path must cover.
STEPS = """
    WITH measured AS (
        SELECT
            run_id,
            source_id,
            rank,
            step,
            min(work_start_ns) AS start_ns,
            max(work_end_ns) - min(work_start_ns) AS ns,
            bool_or(is_median) AS is_median
        FROM step_metrics
        WHERE work_end_ns > work_start_ns
        GROUP BY run_id, source_id, rank, step
    )
"""
# The names that can have a gain, ranked by their time.
RANKED = """
    WITH ranked AS (
        SELECT
            *,
            row_number() OVER (
                PARTITION BY run_id, rank, step, level ORDER BY on_path_ns DESC, gain_ns IS NULL
            ) AS position
        FROM critical_path_summary
        WHERE name IS NOT NULL
    )
"""


Ask = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def all_samples(sampled: Samples) -> Path:
    """A store of the traces, of two ranks as one run, and of a run with a compile log."""
    traces = (run for run in sampled.names("traces") if run != NOT_A_TRACE)
    return sampled.store(*traces, TWO_RANKS, COMPILED)


@pytest.fixture
def ask(all_samples: Path) -> Iterator[Ask]:
    """A function that runs a query on that store and returns its rows."""
    with ingest.connect(all_samples) as connection:
        yield lambda query: connection.sql(query).fetchall()


def test_each_step_has_a_path(ask: Ask) -> None:
    steps = ask(f"{STEPS} SELECT run_id, source_id, rank, step, is_median FROM measured")
    found = ask("SELECT DISTINCT run_id, source_id, rank, step, is_median FROM critical_paths")
    assert len(steps) >= 54
    assert set(steps) == set(found)


def test_a_path_begins_with_its_step_and_is_as_long(ask: Ask) -> None:
    measured = ask(f"{STEPS} SELECT run_id, source_id, step, start_ns, ns FROM measured")
    found = ask("""
        SELECT run_id, source_id, step, arg_min(start_ns, ordinal), sum(dur_ns)::BIGINT
        FROM critical_paths GROUP BY run_id, source_id, step
    """)
    assert set(found) == set(measured)


def test_edges_follow_each_other_without_a_gap(ask: Ask) -> None:
    apart = ask("""
        WITH neighbours AS (
            SELECT
                *,
                lag(start_ns + dur_ns) OVER path AS reached_ns,
                lag(ordinal) OVER path AS before
            FROM critical_paths
            WINDOW path AS (PARTITION BY run_id, source_id, step ORDER BY ordinal)
        )

        SELECT run_id, step, ordinal FROM neighbours
        WHERE dur_ns <= 0 OR ordinal <> coalesce(before + 1, 0) OR start_ns <> reached_ns
    """)
    assert apart == []


def test_the_macro_shows_the_rows_of_a_step_in_order(ask: Ask) -> None:
    columns = "rank, ordinal, kind, event_id, name, op, module, lane, start_ns, dur_ns"
    steps = ask("SELECT DISTINCT run_id, rank, step FROM critical_paths WHERE ordinal = 0")
    for run, rank, step in sorted(steps, key=str)[::7]:
        numbered = "NULL" if step is None else step
        shown = ask(
            f"SELECT {columns} "
            f"FROM critical_path('{run}', of_rank := {rank}, of_step := {numbered})"
        )
        assert shown == ask(f"""
            SELECT {columns} FROM critical_paths
            WHERE run_id = '{run}' AND rank = {rank} AND step IS NOT DISTINCT FROM {numbered}
            ORDER BY ordinal
        """)


def test_every_level_of_the_summary_adds_up_to_the_path(ask: Ask) -> None:
    differing = ask(f"""
        {STEPS},
        levels AS (
            SELECT
                run_id, rank, step, level,
                sum(on_path_ns) AS ns,
                sum(percent) AS percent
            FROM critical_path_summary GROUP BY run_id, rank, step, level
        )

        SELECT measured.run_id, measured.rank, measured.step, named.level
        FROM measured
        CROSS JOIN (VALUES ('kind'), ('call'), ('op'), ('kernel'), ('module')) AS named (level)
        LEFT JOIN levels
            ON
                measured.run_id = levels.run_id
                AND measured.rank = levels.rank
                AND measured.step IS NOT DISTINCT FROM levels.step
                AND named.level = levels.level
        WHERE NOT coalesce(levels.ns = measured.ns AND abs(levels.percent - 100) < 1e-6, false)
    """)
    assert differing == []
    assert len(ask("SELECT DISTINCT level FROM critical_path_summary")) == 5


def test_every_kind_is_on_a_path_and_has_a_description(ask: Ask) -> None:
    found = ask("SELECT DISTINCT kind FROM critical_paths")
    assert set(found) == set(ask("SELECT kind FROM critical_path_kinds()"))


def test_an_edge_of_a_device_is_within_its_activity(ask: Ask) -> None:
    outside = ask("""
        SELECT path.run_id, path.step, path.ordinal
        FROM critical_paths AS path
        LEFT JOIN kernels AS kernel
            ON path.run_id = kernel.run_id AND path.event_id = kernel.event_id
        WHERE
            path.kind IN ('compute', 'communication', 'copy')
            AND NOT coalesce(
                path.kind = kernel.class
                AND path.lane = 'stream ' || kernel.stream
                AND path.start_ns >= kernel.start_ns
                AND path.start_ns + path.dur_ns <= kernel.start_ns + kernel.dur_ns,
                false
            )
    """)
    assert outside == []


def test_a_wait_for_a_stream_ends_as_its_activity_starts(ask: Ask) -> None:
    others = ask("""
        SELECT path.run_id, path.step, path.ordinal
        FROM critical_paths AS path
        LEFT JOIN kernels AS kernel
            ON path.run_id = kernel.run_id AND path.event_id = kernel.event_id
        WHERE
            path.kind IN ('queue', 'dependency')
            AND NOT coalesce(path.start_ns + path.dur_ns = kernel.start_ns, false)
    """)
    assert others == []


def test_no_gain_is_longer_than_the_step(ask: Ask) -> None:
    wrong = ask(f"""
        {STEPS}
        SELECT gain.* FROM critical_path_gains AS gain
        LEFT JOIN measured
            ON
                gain.run_id = measured.run_id
                AND gain.source_id = measured.source_id
                AND gain.step IS NOT DISTINCT FROM measured.step
        WHERE NOT coalesce(gain.gain_ns BETWEEN 0 AND measured.ns, false)
    """)
    assert wrong == []


def test_no_gain_is_longer_than_the_time_on_the_path(ask: Ask) -> None:
    """Without a name, the old path is shorter by its time, and the longest path is not shorter."""
    assert (
        ask("SELECT * FROM critical_path_summary WHERE NOT gain_ns BETWEEN 0 AND on_path_ns") == []
    )


def test_the_summary_has_each_name_with_a_gain(ask: Ask) -> None:
    lost = ask("""
        SELECT runs.name, gain.rank, gain.step, gain.level, gain.name
        FROM critical_path_gains AS gain
        INNER JOIN runs USING (run_id)
        LEFT JOIN critical_path_summary AS summary
            ON
                gain.run_id = summary.run_id
                AND gain.rank = summary.rank
                AND gain.step IS NOT DISTINCT FROM summary.step
                AND gain.level = summary.level
                AND gain.name = summary.name
        WHERE summary.name IS NULL
    """)
    assert lost == []


def test_steps_have_gains_of_the_longest_names(ask: Ask) -> None:
    """If names tie for the last gain, some of them have none."""
    wrong = ask(f"""
        {RANKED}
        SELECT runs.name, rank, step, level, ranked.name, position, gain_ns
        FROM ranked INNER JOIN runs USING (run_id)
        WHERE (gain_ns IS NOT NULL) <> (level = 'kind' OR position <= {NAMED})
    """)
    assert wrong == []


def test_the_rest_of_a_path_has_no_gain(ask: Ask) -> None:
    assert (
        ask("SELECT * FROM critical_path_summary WHERE name IS NULL AND gain_ns IS NOT NULL") == []
    )
