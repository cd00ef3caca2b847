"""Memory of real files, compared with a plain replay, published numbers and torch's own sums."""

import bisect
import gzip
import itertools
import json
import pickle
from collections import Counter
from typing import Any

import duckdb
import pytest

import ingest
from tests.helpers.samples import SNAPSHOTS, Samples
from tests.ingest.sql.memory.replay import replay

PUBLISHED = {
    "full_history_annotations": {
        "start_bytes": 0,
        "peak_bytes": 1_783_664_516,
        "peak_ns": 1763324227392471_000,
        "end_bytes": 1_011_485_828,
        "end_reserved_bytes": 1_897_922_560,
    },
    "train_ctx512": {
        "start_bytes": 5_095_567_360,
        "peak_bytes": 12_426_629_128,
        "peak_ns": 1783874667683056_000,
        "end_bytes": 6_829_260_804,
        "end_reserved_bytes": 12_660_506_624,
    },
}
TOTALS = {
    "full_history_annotations": (61, 1_897_922_560, 883_492_352, 233_375_232),
    "train_ctx512": (400, 12_660_506_624, 5_822_397_952, 1_051_377_152),
}
TRACES_WITH_TOTALS = ("h100_owlv2", "h100_qwen1.5-0.5b", "mi300_owlv2", "flux_eager_full")
WITHOUT_TOTALS = "v100_resnet50_workers0"
TIMELINE = "memory_timeline.raw"


@pytest.fixture(scope="module")
def memory_store(sampled: Samples) -> ingest.Store:
    """Every snapshot, the raw timeline, and the traces that recorded memory, as runs."""
    traces = (*TRACES_WITH_TOTALS, WITHOUT_TOTALS, TIMELINE)
    return ingest.Store(sampled.store(*SNAPSHOTS, *traces))


@pytest.fixture(scope="module")
def connection(memory_store: ingest.Store) -> duckdb.DuckDBPyConnection:
    return ingest.connect(memory_store.path)


def rows(
    connection: duckdb.DuckDBPyConnection, query: str, *parameters: object
) -> list[tuple[Any, ...]]:
    return connection.execute(query, list(parameters)).fetchall()


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_numbers_are_reproduced(memory_store, connection, name):
    run, published = memory_store.find(name), PUBLISHED[name]
    found = rows(
        connection, f"SELECT {', '.join(published)} FROM memory_peak WHERE run_id = $1", run
    )
    assert found == [tuple(published.values())]
    assert rows(
        connection,
        "SELECT segments, bytes, inactive_bytes, stranded_bytes FROM fragmentation "
        "WHERE run_id = $1 AND level = 'device'",
        run,
    ) == [TOTALS[name]]


def test_memory_by_owner_ranks_lines_of_code_at_the_peak(memory_store, connection):
    def top(name: str) -> dict[str, tuple[int, int]]:
        found = rows(
            connection,
            "SELECT name, bytes, allocations FROM memory_by_owner "
            "WHERE run_id = $1 AND level = 'frame'",
            memory_store.find(name),
        )
        return {name: (size, allocations) for name, size, allocations in found}

    lines = top("full_history_annotations")
    assert lines["client.py:176 reset_model"] == (500_957_184, 196)
    assert max(lines.values()) == (500_957_184, 196)
    lines = top("train_ctx512")
    own = {name: held for name, held in lines.items() if not name.startswith("(")}
    assert max(own, key=lambda name: own[name]) == "model.py:39 forward"
    assert own["model.py:39 forward"][0] == 2_179_563_520


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_a_snapshot_is_replayed_as_memory_viz_does(memory_store, connection, samples, name):
    snapshot = pickle.loads((samples / "snapshots" / f"{name}.pickle").read_bytes())
    expected, run = replay(snapshot), memory_store.find(name)
    found = rows(
        connection,
        "SELECT active_bytes, reserved_bytes FROM memory_timeline "
        "WHERE run_id = $1 AND ordinal >= 0 ORDER BY ordinal",
        run,
    )
    assert [active for active, _ in found] == expected.curve
    assert [reserved for _, reserved in found] == expected.reserved
    allocations = rows(
        connection,
        "SELECT origin, address, bytes, alloc_ordinal, free_ordinal FROM memory_allocations "
        "WHERE run_id = $1",
        run,
    )
    assert Counter(allocations) == expected.allocations
    peak = "SELECT start_bytes, peak_bytes, peak_ordinal FROM memory_peak WHERE run_id = $1"
    assert rows(connection, peak, run) == [(expected.start_bytes, *expected.peak)]


def test_a_snapshot_that_was_changed_has_a_warning(connection):
    changed = "the file may have been changed since PyTorch wrote it"
    found = dict(
        rows(
            connection,
            "SELECT name, array_to_string(warnings, '; ') FROM sources JOIN runs "
            "USING (run_id) WHERE kind = 'memory_snapshot'",
        )
    )
    assert {name for name, warnings in found.items() if changed in warnings} == {
        "trimmed", "inconsistent_synthetic", "cpp_pickler_protocol2",
    }  # fmt: skip
    assert "has no history" in found["private_pools_no_history"]


def test_owners_add_up_to_the_peak_at_every_level(connection):
    sums = rows(
        connection,
        "SELECT peak.run_id, peak.device_type, peak.device, level, sum(bytes), "
        "any_value(peak_bytes) FROM memory_peak AS peak LEFT JOIN memory_by_owner AS owner "
        "ON peak.run_id = owner.run_id AND peak.source_id = owner.source_id "
        "AND peak.device_type = owner.device_type "
        "AND peak.device IS NOT DISTINCT FROM owner.device WHERE peak_bytes > 0 GROUP BY ALL",
    )
    assert len(sums) > 80
    assert [row for row in sums if row[4] != row[5]] == []


@pytest.mark.parametrize("name", TRACES_WITH_TOTALS)
def test_the_curve_of_a_trace_equals_its_recorded_totals(memory_store, connection, sampled, name):
    [path] = sampled.files(name)
    text = gzip.decompress(path.read_bytes())
    events = [e for e in json.loads(text)["traceEvents"] if e.get("name") == "[memory]"]
    totals: dict[str, list[int]] = {"cpu": [], "cuda:0": []}
    for event in sorted(events, key=lambda event: event["ts"]):
        device = "cuda:0" if event["args"]["Device Type"] else "cpu"
        totals[device].append(event["args"]["Total Allocated"])
    run = memory_store.find(name)
    for device_type, expected in (("cpu", totals["cpu"]), ("cuda", totals["cuda:0"])):
        found = rows(
            connection,
            "SELECT allocated_bytes, change_bytes FROM memory_events "
            "WHERE run_id = $1 AND device_type = $2 ORDER BY ordinal",
            run,
            device_type,
        )
        assert [total for total, _ in found] == expected
        for (before, _), (after, change) in itertools.pairwise(found):
            assert after - before == change


def test_traces_without_totals_are_summed_up(memory_store, connection, sampled):
    [path] = sampled.files(WITHOUT_TOTALS)
    text = gzip.decompress(path.read_bytes())
    events = [e for e in json.loads(text)["traceEvents"] if e.get("name") == "[memory]"]
    changes = [e["args"]["Bytes"] for e in events if e["args"]["Device Type"] == 1]
    sums = list(itertools.accumulate(changes))
    ((start, peak, allocations),) = rows(
        connection,
        "SELECT start_bytes, peak_bytes, allocations FROM memory_peak "
        "WHERE run_id = $1 AND device_type = 'cuda' AND device = 0",
        memory_store.find(WITHOUT_TOTALS),
    )
    assert (start, peak) == (max(0, -min(sums)), max(sums) - min(0, *sums))
    assert allocations == 0


def test_memory_by_op_equals_torchs_counts(memory_store, connection, samples):
    expected = samples / "expected" / "key_averages" / "flux_eager_full.key_averages.json.gz"
    averages = json.loads(gzip.decompress(expected.read_bytes()))["key_averages"]
    annotations = {
        name
        for (name,) in rows(
            connection,
            "SELECT DISTINCT name FROM ops WHERE run_id = $1 AND category = 'user_annotation'",
            memory_store.find("flux_eager_full"),
        )
    }
    found = {
        op: counts
        for op, *counts in rows(
            connection,
            "SELECT op, calls, total_bytes, self_bytes FROM memory_by_op WHERE run_id = $1",
            memory_store.find("flux_eager_full"),
        )
    }
    compared = 0
    for average in averages:
        if (name := average["key"]) not in found:
            continue
        compared += 1
        calls, total, own = found[name]
        assert (name, calls, total) == (name, average["count"], average["cpu_memory_usage"])
        if name not in annotations:  # torch subtracts the Python frames inside annotations
            assert (name, own) == (name, average["self_cpu_memory_usage"])
    assert compared > 90


def test_a_memory_timeline_has_categories_and_no_addresses(memory_store, connection, samples):
    text = gzip.decompress((samples / "traces" / f"{TIMELINE}.json.gz").read_bytes())
    recorded = json.loads(text)
    total, curve = 0, []
    for _, _, change, _ in recorded:
        total += change
        curve.append(total)
    run = memory_store.find(TIMELINE)
    found = rows(
        connection,
        "SELECT allocated_bytes FROM memory_timeline WHERE run_id = $1 AND ordinal >= 0 "
        "ORDER BY ordinal",
        run,
    )
    assert [row[0] for row in found] == curve
    peak = rows(
        connection, "SELECT peak_bytes, allocations FROM memory_peak WHERE run_id = $1", run
    )
    assert peak == [(3_082_832_104, 0)]
    at_peak: Counter[int] = Counter()
    for _, _, change, category in recorded[: curve.index(max(curve)) + 1]:
        at_peak[category] += change
    held = dict(
        rows(
            connection,
            "SELECT name, bytes FROM memory_by_owner WHERE run_id = $1 AND level = 'category'",
            run,
        )
    )
    assert held["PARAMETER"] == at_peak[0]
    assert held["ACTIVATION"] == at_peak[4]
    assert held.get("GRADIENT", 0) == at_peak[5]
    actions = dict(
        rows(
            connection,
            "SELECT action, count(*) FROM memory_events WHERE run_id = $1 GROUP BY 1",
            run,
        )
    )
    numbers = Counter(action for _, action, _, _ in recorded)
    names = ("PREEXISTING", "CREATE", "INCREMENT_VERSION", "DESTROY")
    assert actions == {name: numbers[code] for code, name in enumerate(names, 1)}


@pytest.mark.parametrize("name", ["train_ctx512", "full_history_annotations"])
def test_a_drawn_curve_matches_the_full_curve(memory_store, connection, samples, name):
    snapshot = pickle.loads((samples / "snapshots" / f"{name}.pickle").read_bytes())
    expected, run = replay(snapshot), memory_store.find(name)
    arguments = (run, 0, "0:0", "order", 0, len(expected.curve), 200)
    kept = rows(
        connection,
        "SELECT ordinal, used_bytes FROM memory_curve($1, $2, $3, $4, $5, $6, $7) "
        "WHERE ordinal >= 0",
        *arguments,
    )
    assert len(kept) <= 5 * 200
    assert all(expected.curve[ordinal] == used for ordinal, used in kept)
    assert max(used for _, used in kept) == expected.peak[0]
    bands = rows(
        connection,
        "SELECT ordinal, sum(bytes), count(*), min(bytes) "
        "FROM memory_by_owner_over_time($1, $2, $3, 'frame', $4, $5, $6, $7, 8) "
        "WHERE ordinal >= 0 GROUP BY 1",
        *arguments,
    )
    assert len(bands) >= 200
    for ordinal, used, count, least in bands:
        assert (used, count) == (expected.curve[ordinal], 9)
        assert least >= 0


@pytest.mark.parametrize(("name", "most"), [("train_ctx512", 40), ("full_history_annotations", 7)])
def test_the_largest_allocations_are_drawn_over_their_lives(
    memory_store, connection, samples, name, most
):
    snapshot = pickle.loads((samples / "snapshots" / f"{name}.pickle").read_bytes())
    expected, run = replay(snapshot), memory_store.find(name)
    found = rows(
        connection,
        "SELECT ordinal, allocation_id, allocation_ordinal, bytes, below_bytes "
        "FROM memory_by_allocation_over_time($1, 0, '0:0', 'order', 0, $2, 200, $3) "
        "ORDER BY ordinal, allocation_ordinal",
        run,
        len(expected.curve),
        most,
    )
    moments: dict[int, list[tuple[Any, ...]]] = {}
    for ordinal, *band in found:
        moments.setdefault(ordinal, []).append(tuple(band))
    assert len(moments) >= 200
    for ordinal, bands in moments.items():
        sizes = [size for _, _, size, _ in bands]
        assert sum(sizes) == (expected.curve[ordinal] if ordinal >= 0 else expected.start_bytes)
        assert [below for *_, below in bands] == [0, *itertools.accumulate(sizes)][:-1]
        assert [each for each, *_ in bands].index(None) == len(bands) - 1
    lives = {
        allocation: life
        for allocation, *life in rows(
            connection,
            "SELECT allocation_id, bytes, coalesce(alloc_ordinal, -1), "
            "coalesce(free_ordinal, 1_000_000) FROM memory_allocations WHERE run_id = $1",
            run,
        )
    }
    seen = {
        allocation: [ordinal for ordinal in moments if start <= ordinal < end]
        for allocation, (_, start, end) in lives.items()
    }
    largest = sorted((lives[one][0] for one, at in seen.items() if at), reverse=True)[:most]
    drawn = {band[0] for bands in moments.values() for band in bands} - {None}
    assert sorted((lives[one][0] for one in drawn), reverse=True) == largest
    for one in drawn:
        in_use = [ordinal for ordinal, bands in moments.items() if one in (b[0] for b in bands)]
        assert in_use == seen[one]
    by_age = sorted(drawn, key=lambda one: (lives[one][1], one))
    ordinals = {band[0]: band[1] for bands in moments.values() for band in bands}
    assert [ordinals[one] for one in by_age] == list(range(len(drawn)))


@pytest.mark.parametrize("name", PUBLISHED)
def test_fragmentation_advice_counts_free_memory_in_used_segments_at_the_peak(
    memory_store, connection, samples, name
):
    snapshot = pickle.loads((samples / "snapshots" / f"{name}.pickle").read_bytes())
    expected = replay(snapshot)
    peak = expected.peak[1]
    segments = {each["address"]: each["total_size"] for each in snapshot["segments"]}
    for event in reversed(snapshot["device_traces"][0][peak + 1 :]):  # backwards from the end
        if event["action"] == "segment_alloc":
            del segments[event["addr"]]
        elif event["action"] == "segment_free":
            segments[event["addr"]] = event["size"]
    starts = sorted(segments)
    used = dict.fromkeys(starts, 0)
    for _, address, size, start, end in expected.allocations.elements():
        if (start is None or start <= peak) and (end is None or end > peak):
            used[starts[bisect.bisect(starts, address) - 1]] += size
    stranded = sum(segments[start] - size for start, size in used.items() if size)
    found = rows(
        connection,
        "SELECT kind, bytes, percent FROM memory_advice WHERE run_id = $1 AND kind <> 'leak' "
        "ORDER BY kind",
        memory_store.find(name),
    )
    percent = 100 * stranded / expected.peak[0]
    assert found[:2] == [
        ("expandable_segments", stranded, pytest.approx(percent)),
        ("fragmentation", stranded, pytest.approx(percent)),
    ]


def test_allocations_at_a_moment_add_up_to_the_curve(memory_store, connection):
    run = memory_store.find("train_ctx512")
    for moment in (1783874667683056_000, 1783874667700000_000, 1783874667912969_000):
        ((expected,),) = rows(
            connection,
            "SELECT arg_max(active_bytes, ordinal) FROM memory_timeline "
            "WHERE run_id = $1 AND time_ns <= $2",
            run,
            moment,
        )
        held = (
            "WITH moment AS (FROM memory_moments($1, $2)) "
            "SELECT sum(bytes) FROM memory_allocations_at('moment')"
        )
        assert rows(connection, held, run, moment) == [(expected,)]


def test_the_layout_fills_the_reserved_memory(memory_store, connection):
    run = memory_store.find("train_ctx512")
    for ordinal in (-1, 3485, 12_000, 22_331):
        found = rows(
            connection,
            "WITH moment AS (FROM memory_timeline WHERE run_id = $1 AND ordinal = $2) "
            "SELECT sum(bytes), sum(bytes) FILTER (WHERE state <> 'free'), "
            "count(DISTINCT segment_address), min(bytes) FROM memory_layout_at('moment')",
            run,
            ordinal,
        )
        ((reserved, active),) = rows(
            connection,
            "SELECT reserved_bytes, active_bytes FROM memory_timeline "
            "WHERE run_id = $1 AND ordinal = $2",
            run,
            ordinal,
        )
        ((pieces, used, segments, least),) = found
        assert (pieces, used) == (reserved, active)
        assert segments == (399 if ordinal < 3737 else 400)
        assert least > 0


def test_memory_diff_compares_two_runs(memory_store, connection):
    base, other = memory_store.find("train_ctx128"), memory_store.find("train_ctx512")
    found = {
        (level, name): (before, after, change)
        for level, name, before, after, change in rows(
            connection,
            "SELECT level, name, base_bytes, other_bytes, change_bytes FROM memory_diff($1, $2)",
            base,
            other,
        )
    }
    assert found["curve", "peak"] == (7_013_335_044, 12_426_629_128, 5_413_294_084)
    assert found["frame", "model.py:39 forward"][1] == 2_179_563_520
    lines = [sizes for (level, _), sizes in found.items() if level == "frame"]
    assert sum(before for before, _, _ in lines) == 7_013_335_044
    assert sum(after for _, after, _ in lines) == 12_426_629_128
    same = rows(connection, "FROM memory_diff($1, $1) WHERE change_bytes <> 0", base)
    assert same == []
