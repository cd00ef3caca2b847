"""The parts of each step: samples compared with plain Python, and a small trace for each rule."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from tests.builders.events import Event, host, kernel
from tests.conftest import Traces
from tests.ingest.sql.runs import metrics_in_python
from tests.ingest.sql.runs.test_run_metrics import SAMPLES
from tests.ingest.sql.steps import parts_in_python
from tests.ingest.sql.steps.test_steps import launched, step
from tests.samples import COMPILED, EAGER, Samples

COUNTED = (
    *("bubbles", "activities", "kernels", "launches", "graph_launches", "launch_call_ns"),
    *("short_kernels", "exposed_communication_ns", "exposed_copy_ns"),
)
Found = dict[int | None, dict[int | None, Counter[str]]]


@pytest.fixture(scope="module")
def compared(sampled: Samples) -> Path:
    return sampled.store(EAGER, f"{COMPILED}-rank0")


def found_in(connection: duckdb.DuckDBPyConnection, condition: str = "") -> Found:
    """Return device → step → part → ns. All causes of idle time are one part, `idle`."""
    found: Found = defaultdict(lambda: defaultdict(Counter))
    for device, number, part, ns in connection.sql(
        f"SELECT device, step, if(is_idle, 'idle', part), ns FROM step_parts {condition}"
    ).fetchall():
        found[device][number][part] += ns
    return found


def dictionaries(relation: duckdb.DuckDBPyRelation) -> list[dict[str, Any]]:
    """Return the rows of a relation as dictionaries."""
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def is_median_of(step: dict[str, Any], metrics: dict[str, Any]) -> bool:
    return bool(step["is_median"] and step["device"] == metrics["device"])


@pytest.mark.parametrize("name", SAMPLES)
def test_parts_of_a_sample_are_exact(
    name: str, sampled: Samples, sample_store: Path, compared: Path
) -> None:
    [path] = sampled.files(name)
    with ingest.connect(compared if path.parent.name == "compile" else sample_store) as connection:
        condition = f"WHERE run_id = (SELECT run_id FROM sources WHERE path = '{path}')"
        found = found_in(connection, condition)
        steps = dictionaries(connection.sql(f"FROM step_metrics {condition}"))
        medians = dictionaries(connection.sql(f"FROM run_metrics {condition}"))
        of_median = dictionaries(connection.sql(f"FROM run_parts {condition}"))
        windows = dictionaries(connection.sql(f"FROM measured_windows {condition}"))
    events, step_name = metrics_in_python.read(path), SAMPLES[name][2]
    expected = parts_in_python.parts(events, step_name)
    assert {device: parts_in_python.nonzero(parts) for device, parts in found.items()} == {
        device: parts_in_python.nonzero(parts) for device, parts in expected.items()
    }
    counts = parts_in_python.counts(events, step_name)
    for row in steps:
        known = counts.get(row["device"], {}).get(row["step"], Counter())
        recorded = parts_in_python.recorded(events, row["device"])
        assert {key: row[key] for key in COUNTED} == {
            key: known[key] if key in recorded else None for key in COUNTED
        }
    for row in medians:
        parts = expected[row["device"]]
        median = parts_in_python.median_step(parts, is_whole=step_name is None)
        assert row["step"] == median
        assert row["wall_ns"] == sum(parts[median].values())
        busy = ("compute", "communication", "copy", "compiled_code", "overlap")
        assert row["busy_ns"] == sum(parts[median][part] for part in busy)
        assert [step["step"] for step in steps if is_median_of(step, row)] == [median]
        of_device = [window for window in windows if window["device"] == row["device"]]
        assert [window["median_step"] for window in of_device] == [median]
        ours = [part for part in of_median if part["device"] == row["device"]]
        assert sum(part["ns"] for part in ours) == row["wall_ns"]
        idle = sum(part["ns"] for part in ours if part["is_idle"])
        assert idle == row["bubble_ns"] == parts[median]["idle"]


def test_parts_add_up_to_the_run(sample_store: Path) -> None:
    with ingest.connect(sample_store) as connection:
        wrong = connection.sql(
            """
            SELECT totals.run_id, totals.wall_ns, parts.wall_ns
            FROM run_totals AS totals
            INNER JOIN (
                SELECT run_id, rank, device, sum(wall_end_ns - wall_start_ns) AS wall_ns
                FROM measured_windows GROUP BY ALL
            ) AS parts
                ON totals.run_id = parts.run_id
                AND totals.rank = parts.rank
                AND totals.device IS NOT DISTINCT FROM parts.device
            WHERE totals.wall_ns <> parts.wall_ns
            """
        ).fetchall()
        metrics = connection.sql(
            """
            SELECT metrics.run_id FROM run_metrics AS metrics
            INNER JOIN (
                SELECT
                    run_id, rank, device,
                    sum(ns) AS wall_ns,
                    sum(ns) FILTER (WHERE is_idle) AS bubble_ns,
                    sum(ns) FILTER (WHERE part = 'compute') AS compute_ns,
                    -sum(ns) FILTER (WHERE part = 'overlap') AS overlap_ns
                FROM run_parts GROUP BY ALL
            ) AS parts
                ON metrics.run_id = parts.run_id
                AND metrics.rank = parts.rank
                AND metrics.device IS NOT DISTINCT FROM parts.device
            WHERE (metrics.wall_ns, metrics.bubble_ns, metrics.compute_ns, metrics.overlap_ns)
                <> (parts.wall_ns, parts.bubble_ns, parts.compute_ns, parts.overlap_ns)
            """
        ).fetchall()
    assert (wrong, metrics) == ([], [])


def parts_of(traces: Traces, *events: Event) -> dict[int | None, dict[str, int]]:
    """Return step → part → µs for the only device."""
    [parts] = found_in(traces.add(list(events))).values()
    return {
        number: {part: ns // 1000 for part, ns in by_part.items()}
        for number, by_part in parts_in_python.nonzero(parts).items()
    }


def test_a_gap_is_divided_at_the_start_of_a_step(traces: Traces) -> None:
    found = parts_of(
        traces,
        step(0, 0, 100),
        step(1, 100, 100),
        *launched("first", 10, 20, 30),
        *launched("second", 120, 140, 10),
    )
    assert found == {
        0: {"lead": 20, "compute": 30, "idle": 50},
        1: {"idle": 40, "compute": 10, "tail": 50},
    }


def test_a_gap_of_work_launched_ahead_belongs_to_its_step(traces: Traces) -> None:
    found = parts_of(
        traces,
        step(0, 0, 30),
        step(1, 30, 20),
        *launched("first", 10, 60, 10),
        *launched("second", 40, 75, 10),
    )
    assert found == {0: {"lead": 60, "compute": 10}, 1: {"idle": 5, "compute": 10}}


def test_time_between_steps_belongs_to_no_step(traces: Traces) -> None:
    found = parts_of(
        traces,
        *(host(f"denoise {n}", "user_annotation", 100 * n, 60) for n in range(2)),
        *launched("first", 10, 20, 30),
        *launched("between", 70, 75, 5),
        *launched("second", 110, 120, 30),
    )
    assert found == {
        0: {"lead": 20, "compute": 30, "idle": 10},
        None: {"idle": 15 + 20, "compute": 5},
        1: {"idle": 20, "compute": 30, "tail": 10},
    }


def test_a_step_without_work_has_only_idle_time(traces: Traces) -> None:
    found = parts_of(
        traces,
        step(0, 0, 100),
        step(1, 100, 50),
        step(2, 150, 50),
        *launched("first", 10, 20, 30),
        *launched("last", 160, 170, 30),
    )
    assert found == {
        0: {"lead": 20, "compute": 30, "idle": 50},
        1: {"idle": 50},
        2: {"idle": 20, "compute": 30},
    }


def test_overlap_counts_for_the_later_step(traces: Traces) -> None:
    found = parts_of(
        traces,
        step(0, 0, 50),
        step(1, 50, 50),
        *launched("first", 10, 20, 50),
        host("cudaLaunchKernel", "cuda_runtime", 55, 1, {"correlation": 55}),
        kernel("second", 60, 40, stream=9, correlation=55),
    )
    assert found == {0: {"lead": 20, "compute": 50}, 1: {"compute": 40, "overlap": -10}}


def test_every_step_has_every_part(traces: Traces) -> None:
    connection = traces.add([step(0, 0, 50), step(1, 50, 50), *launched("first", 10, 20, 5)])
    [(least, most)] = connection.sql(
        """
        SELECT min(rows), max(rows)
        FROM (SELECT count(*) AS rows FROM step_parts GROUP BY step)
        """
    ).fetchall()
    [(of_device,)] = connection.sql("SELECT count(*) FROM parts WHERE is_of_device").fetchall()
    assert least == most == of_device


def test_metrics_of_steps(traces: Traces) -> None:
    connection = traces.add(
        [
            step(0, 0, 100),
            step(1, 100, 100),
            *launched("first", 10, 20, 30),
            *launched("second", 120, 140, 80),
        ]
    )
    start = connection.sql("SELECT min(start_ns) FROM steps").fetchall()[0][0]
    assert connection.sql(
        """
        SELECT step, start_ns, dur_ns, work_end_ns, wall_ns, busy_ns, idle_ns, kernels, launches,
            launch_call_ns
        FROM step_metrics ORDER BY step
        """
    ).fetchall() == [
        (0, start, 100_000, start + 100_000, 100_000, 30_000, 50_000, 1, 1, 1_000),
        (1, start + 100_000, 100_000, start + 220_000, 120_000, 80_000, 40_000, 1, 1, 1_000),
    ]


def memory(at: float, size: int, total: int) -> Event:
    """Return a `[memory]` event of the device."""
    args = {"Device Type": 1, "Device Id": 0, "Addr": abs(size), "Bytes": size}
    args |= {"Total Allocated": total, "Total Reserved": 4096}
    return {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": at, "args": args}


def test_two_files_of_a_rank_have_separate_steps_and_peaks(traces: Traces, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for number, (name, peak) in enumerate([("first", 1000), ("second", 700)]):
        start = 1000 * number
        events = [
            step(0, start, 100),
            *launched("k", start + 10, start + 20, 30 + number),
            memory(start + 15, peak, peak),
            memory(start + 60, -peak, 0),
        ]
        traces.write(events, name, distributedInfo={"rank": 0}).rename(run / f"{name}.json")
    traces.store.add(run)
    with ingest.connect(traces.store.path) as connection:
        assert connection.sql(
            "SELECT rank, step, busy_ns, peak_bytes FROM step_metrics ORDER BY start_ns"
        ).fetchall() == [(0, 0, 30_000, 1000), (0, 0, 31_000, 700)]
        assert connection.sql("SELECT steps, busy_ns, peak_bytes FROM run_metrics").fetchall() == [
            (2, 30_000, 1000)  # the median of two steps is the shorter one
        ]


def test_steps_have_peaks_if_memory_was_recorded(traces: Traces) -> None:
    connection = traces.add(
        [
            *(step(number, 100 * number, 100) for number in (1, 2, 3, 4)),
            *(
                event
                for n in (1, 2, 3, 4)
                for event in launched("k", 100 * n + 10, 100 * n + 20, 9)
            ),
            memory(105, 1000, 1000),
            memory(150, 500, 1500),
            memory(190, -500, 1000),
            memory(350, 200, 1200),
        ]
    )
    assert connection.sql("SELECT step, peak_bytes FROM step_metrics ORDER BY step").fetchall() == [
        (1, 1500),
        (2, 1000),  # nothing changed
        (3, 1200),
        (4, None),  # after the recording
    ]
    assert connection.sql("SELECT peak_bytes FROM run_metrics").fetchall() == [(1500,)]
