"""The views that only pages use, compared with the tables and with separately computed metrics."""

from typing import Any

import duckdb
import pytest

import ingest
from tests.helpers.samples import TWO_RANKS, Samples

RUNS = (
    "h100_owlv2",
    "v100_resnet50_workers0",
    "v100_resnet50_workers4",
    "flux_eager_full",
    "flux_compiled_steady_bs5",
    TWO_RANKS,
)


@pytest.fixture(scope="module")
def store(sampled: Samples) -> duckdb.DuckDBPyConnection:
    """A connection to a store of runs with one device, with two ranks, and of a host alone."""
    return ingest.connect(sampled.store(*RUNS))


@pytest.fixture(scope="module")
def owlv2(sampled: Samples) -> str:
    """The id of the run on an H100."""
    return ingest.Store(sampled.store(*RUNS)).find("h100_owlv2")


def rows(store: duckdb.DuckDBPyConnection, query: str) -> list[Any]:
    return store.cursor().execute(query).fetchall()


def test_the_parts_of_a_devices_time_add_up_to_its_span(store):
    assert rows(store, "FROM device_totals") != []
    assert (
        rows(
            store,
            """
            SELECT * FROM (
                SELECT run_id, rank, device, sum(part_ns) AS parts_ns FROM device_split GROUP BY ALL
            ) JOIN device_totals USING (run_id, rank, device) WHERE parts_ns <> span_ns
            """,
        )
        == []
    )


@pytest.mark.parametrize("bins", [1, 7, 240])
def test_occupancy_over_time_adds_up_to_the_split(store, bins):
    for run, rank, device, start, end in rows(
        store, "SELECT run_id, rank, device, start_ns, end_ns FROM device_totals"
    ):
        occupancy = dict(
            rows(
                store,
                f"SELECT part, sum(part_ns)::BIGINT FROM "
                f"device_occupancy('{run}', {rank}, {device}, {start}, {end}, {bins}) "
                "GROUP BY part",
            )
        )
        split = rows(
            store,
            f"SELECT replace(part, 'exposed_', ''), part_ns FROM device_split "
            f"WHERE run_id = '{run}' AND rank = {rank} AND part <> 'idle'",
        )
        causes = rows(
            store,
            f"SELECT cause, idle_ns FROM bubble_causes WHERE run_id = '{run}' AND rank = {rank}",
        )
        assert occupancy == {part: ns for part, ns in split + causes if ns}


@pytest.mark.parametrize("bins", [1, 240])
def test_host_occupancy_over_time_adds_up_to_the_parts(store, bins):
    for run, start, end in rows(
        store,
        "SELECT run_id, start_ns, end_ns FROM measured_windows WHERE measure = 'host'",
    ):
        time_range = f"'{run}', 0, {start}, {end}"
        in_bins = f"host_occupancy({time_range}, {bins})"
        seen = rows(store, f"SELECT part, sum(part_ns)::BIGINT FROM {in_bins} GROUP BY part")
        parts = rows(
            store,
            "SELECT part, sum(ns)::BIGINT FROM step_parts "
            f"WHERE run_id = '{run}' AND is_idle IS NOT NULL GROUP BY part HAVING sum(ns) <> 0",
        )
        assert sorted(seen) == sorted(parts)
        idle = rows(
            store, f"SELECT count(*) FROM host_stretches_between({time_range}) WHERE is_idle"
        )
        assert idle == rows(store, f"SELECT sum(bubbles) FROM step_metrics WHERE run_id = '{run}'")


def test_occupancy_fills_exactly_the_time_range(store, owlv2):
    ((start,),) = rows(store, f"SELECT start_ns FROM device_totals WHERE run_id = '{owlv2}'")
    since, until = start + 100_000_000, start + 150_000_000
    inside = rows(
        store,
        f"SELECT bin, sum(percent), min(start_ns), max(end_ns) FROM "
        f"device_occupancy('{owlv2}', 0, 0, {since}, {until}, 50) GROUP BY bin",
    )
    assert sorted(row[0] for row in inside) == list(range(50))
    assert {round(row[1], 6) for row in inside} == {100}
    assert (min(row[2] for row in inside), max(row[3] for row in inside)) == (since, until)


@pytest.mark.parametrize(
    ("finer", "coarser"),
    [
        ("class_ranking", "ranking"),
        ("class_ranking_over_all", "ranking_over_all"),
        ("op_kernels", "ranking"),
    ],
)
def test_finer_rankings_add_up_to_the_ranking(store, finer, coarser):
    keys = "run_id, level, name" + ("" if "over_all" in finer else ", rank, device")
    per_name = "SELECT {0}, sum(device_ns), sum(calls) FROM {1} {2} GROUP BY ALL ORDER BY ALL"
    condition = "WHERE name <> 'bubble'"
    found = rows(store, per_name.format(keys, finer, condition))
    assert found == rows(store, per_name.format(keys, coarser, condition))
    assert found


def test_shapes_and_calls_cover_all_activities_with_an_operator(store):
    for view in ("op_shapes", "op_calls"):
        assert rows(
            store, f"SELECT level, sum(device_ns) FROM {view} GROUP BY level ORDER BY 1"
        ) == (
            rows(
                store,
                "SELECT level, sum(dur_ns) FROM ranked_kernels WHERE owner_id IS NOT NULL "
                "GROUP BY level ORDER BY level",
            )
        )


def test_launch_shapes_cover_every_activity(store):
    assert rows(store, "SELECT sum(device_ns), sum(calls) FROM kernel_shapes") == rows(
        store, "SELECT sum(dur_ns), count(*) FROM kernels"
    )


def test_bubble_hosts_cover_every_gap(store):
    assert rows(store, "SELECT sum(idle_ns), sum(bubbles) FROM bubble_hosts") == rows(
        store, "SELECT sum(dur_ns), count(*) FROM bubbles WHERE NOT is_edge"
    )


def test_host_shapes_cover_every_operator(store):
    assert rows(store, "SELECT sum(self_ns), sum(calls) FROM host_op_shapes") == rows(
        store, "SELECT sum(self_ns), sum(calls) FROM host_op_ranking"
    )


def test_compiled_graphs_rank_with_the_compiled_code_of_the_whole_run(store):
    ranked = rows(
        store,
        """
        SELECT run_id, rank, sum(self_ns) FROM host_op_ranking
        WHERE name LIKE '%CompiledFxGraph%'
            AND run_id IN (SELECT run_id FROM run_totals WHERE measure = 'host')
        GROUP BY ALL ORDER BY ALL
        """,
    )
    assert ranked
    assert ranked == rows(
        store,
        "SELECT run_id, rank, compiled_code_ns FROM run_totals WHERE compiled_code_ns > 0 "
        "ORDER BY ALL",
    )


def test_the_timeline_is_as_long_as_the_span(store, truth, owlv2):
    device = truth["h100_owlv2.json.gz"]["devices"]["0"]
    assert rows(
        store,
        f"SELECT max(end_ns) - min(start_ns), count(*) FILTER (WHERE lane = 'idle'), count(*) "
        f"FROM activity_timeline WHERE run_id = '{owlv2}' "
        "AND (lane <> 'idle' OR (before_kernel IS NOT NULL AND after_kernel IS NOT NULL))",
    ) == [(device["span_ns"], device["gaps"], device["gaps"] + device["activities"])]
