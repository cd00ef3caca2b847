"""The tables, compared with metrics that plain Python computed from the same files."""

from typing import Any

import duckdb
import pytest

RUN = "(SELECT run_id FROM runs WHERE name = $1)"


def name_of(file: str) -> str:
    return file.removesuffix(".gz").removesuffix(".json").removesuffix(".trace").removesuffix(".pt")


TRACES = [
    "alexnet_cuda_sync.json.gz",
    "b200_gptoss.json.gz",
    "cpu_only.json.gz",
    "cupti_counters.json.gz",
    "h100_owlv2.json.gz",
    "h100_qwen1.5-0.5b.json.gz",
    "mi210_gpu_only.json.gz",
    "mi300_flux1_graph_capture.json.gz",
    "mi300_flux1_graph_replay.json.gz",
    "mi300_owlv2.json.gz",
    "mi300_resnet_ddp_rank0.json.gz",
    "mi300_torch_compile_triton.json.gz",
    "mtia_inference.json.gz",
    "nccl_training_control.json.gz",
    "nccl_training_test.json.gz",
    "two_rank_rank0.json.gz",
    "two_rank_rank1.json.gz",
    "v100_resnet50_workers0.pt.trace.json.gz",
    "v100_resnet50_workers4.pt.trace.json.gz",
]


# For this file, the truth counts copies, waits for events and records of events as kernels. The
# metrics without them are tested in `tests/ingest/sql/steps/test_samples.py`.
MTIA = "mtia_inference.json.gz"


def test_every_trace_of_the_truth_is_tested(truth: dict[str, Any]) -> None:
    assert sorted(truth) == TRACES


@pytest.mark.parametrize("file", TRACES)
def test_events_are_exact(
    file: str, truth: dict[str, Any], store_of_samples: duckdb.DuckDBPyConnection
) -> None:
    expected = truth[file]
    counts = store_of_samples.execute(
        f"SELECT events, complete_events FROM sources WHERE run_id = {RUN}", [name_of(file)]
    ).fetchall()
    assert counts == [(expected["events"], expected["complete_events"])]
    by_category = store_of_samples.execute(
        f"SELECT recorded_category, count(*) FROM events WHERE run_id = {RUN} GROUP BY 1",
        [name_of(file)],
    ).fetchall()
    assert dict(by_category) == expected["by_cat"]


@pytest.mark.parametrize("file", [file for file in TRACES if file != MTIA])
def test_metrics_are_exact(
    file: str, truth: dict[str, Any], store_of_samples: duckdb.DuckDBPyConnection
) -> None:
    expected = truth[file]

    def rows(query: str) -> list[tuple[Any, ...]]:
        return store_of_samples.execute(query.replace(":run", RUN), [name_of(file)]).fetchall()

    devices = rows(
        """
        SELECT device, activities, sum_ns, span_ns, busy_ns, idle_ns, bubbles FROM device_time
        JOIN (
            SELECT run_id, device, sum(dur_ns)::BIGINT AS sum_ns FROM kernels GROUP BY ALL
        ) USING (run_id, device)
        WHERE run_id = :run
        """
    )
    keys = ("activities", "sum_ns", "span_ns", "busy_ns", "bubble_ns", "gaps")  # in the truth
    assert {str(d): dict(zip(keys, r, strict=True)) for d, *r in devices} == expected["devices"]
    kernels = rows(
        """
        SELECT name, calls, device_ns FROM kernel_ranking
        WHERE run_id = :run AND name <> 'bubble' ORDER BY device_ns DESC, name LIMIT 15
        """
    )
    assert [list(row) for row in kernels] == expected["top_kernels"]
    assert rows("SELECT count(*) FROM kernels WHERE run_id = :run AND link = 'correlation'") == [
        (expected["linked_to_launch"],)
    ]
    for column, key in (("top_op", "top_ops"), ("op", "leaf_ops")):
        ops = rows(
            f"""
            SELECT coalesce({column}, ''), count(*), sum(dur_ns)::BIGINT AS device_ns
            FROM kernels WHERE run_id = :run GROUP BY 1 ORDER BY device_ns DESC, 1 LIMIT 15
            """
        )
        assert [list(row) for row in ops] == expected[key]


def test_rankings_lose_no_device_time(store_of_samples: duckdb.DuckDBPyConnection) -> None:
    wrong = store_of_samples.sql(
        """
        WITH ranked AS (
            SELECT run_id, level, sum(calls) FILTER (WHERE name <> 'bubble') AS activities,
                sum(device_ns) FILTER (WHERE name <> 'bubble') AS device_ns,
                sum(device_ns) FILTER (WHERE name = 'bubble') AS idle_ns
            FROM ranking GROUP BY ALL
        ),
        whole AS (
            SELECT run_id, count(*) AS activities, sum(dur_ns) AS device_ns FROM kernels GROUP BY 1
        ),
        idle AS (
            SELECT run_id, sum(idle_ns) AS idle_ns FROM run_totals
            WHERE measure = 'device' GROUP BY 1
        )
        SELECT * FROM ranked JOIN whole USING (run_id) JOIN idle USING (run_id)
        WHERE ranked.activities <> whole.activities OR ranked.device_ns <> whole.device_ns
            OR ranked.idle_ns <> idle.idle_ns
        """
    ).fetchall()
    assert wrong == []


def test_shares_are_of_the_same_time_for_a_whole_recording_and_for_its_steps(
    store_of_samples: duckdb.DuckDBPyConnection,
) -> None:
    runs = store_of_samples.sql(
        "SELECT DISTINCT run_id FROM run_metrics WHERE measure = 'device'"
    ).fetchall()
    assert len(runs) > 10
    for (run,) in runs:
        wrong = store_of_samples.execute(
            """
            WITH whole AS (SELECT * FROM ranking WHERE run_id = $1)
            SELECT * FROM whole FULL JOIN ranking_of_steps($1) AS of_steps
                USING (level, rank, device, name)
            WHERE abs(whole.percent - of_steps.percent) < 1e-9 IS NOT TRUE
                OR whole.calls <> of_steps.calls OR whole.device_ns <> of_steps.device_ns
            """,
            [run],
        ).fetchall()
        assert wrong == [], run


def test_wall_times_of_rankings_are_busy_idle_and_filling_time(
    store_of_samples: duckdb.DuckDBPyConnection,
) -> None:
    wrong = store_of_samples.sql(
        """
        SELECT wall.* FROM ranking_walls AS wall
        INNER JOIN run_totals AS total USING (run_id, rank)
        WHERE wall.device IS NOT DISTINCT FROM total.device
            AND wall.wall_ns <> wall.busy_ns + wall.idle_ns + total.fill_ns
        """
    ).fetchall()
    assert wrong == []


def test_every_event_is_a_row_or_counted(store_of_samples: duckdb.DuckDBPyConnection) -> None:
    wrong = store_of_samples.sql(
        """
        SELECT path, events, complete_events, other_counts, dropped_counts, warnings FROM sources
        WHERE status <> 'ok' OR cardinality(dropped_counts) > 0
            OR events <> complete_events + coalesce(list_sum(map_values(other_counts)), 0)
            OR complete_events <> (SELECT count(*) FROM events WHERE events.run_id = sources.run_id)
            OR coalesce(list_sum(map_values(other_counts)), 0)
            <> (SELECT count(*) FROM other_events AS o WHERE o.run_id = sources.run_id)
        """
    ).fetchall()
    assert wrong == []


def test_an_orphan_kernel_is_a_row_without_op(store_of_samples: duckdb.DuckDBPyConnection) -> None:
    rows = store_of_samples.execute(
        f"""
        SELECT count(*), count(launch_id), count(op) FROM kernels
        WHERE run_id = {RUN} AND link IS NULL
        """,
        ["h100_qwen1.5-0.5b"],
    ).fetchall()
    assert rows == [(509, 0, 0)]


def test_a_graph_launch_keeps_its_kernels_apart(
    store_of_samples: duckdb.DuckDBPyConnection,
) -> None:
    rows = store_of_samples.execute(
        f"""
        SELECT count(*), count(DISTINCT launch_id), count(DISTINCT name) FROM kernels
        WHERE run_id = {RUN} AND is_graph_launch
        """,
        ["mi300_flux1_graph_replay"],
    ).fetchall()
    [(kernels, launches, names)] = rows
    assert kernels > 1000
    assert launches < 20
    ranked = store_of_samples.execute(
        f"SELECT count(*) FROM op_ranking WHERE run_id = {RUN} AND starts_with(op, '(graph) ')",
        ["mi300_flux1_graph_replay"],
    ).fetchone()
    assert ranked == (names,)


def test_symmetric_memory_kernels_are_communication(
    store_of_samples: duckdb.DuckDBPyConnection,
) -> None:
    rows = store_of_samples.execute(
        f"""
        SELECT class, count(*) FROM kernels
        WHERE run_id = {RUN} AND (name LIKE '%multimem%' OR name LIKE '%shot_all_reduce%')
        GROUP BY class
        """,
        ["b200_gptoss"],
    ).fetchall()
    assert [row[0] for row in rows] == ["communication"]
