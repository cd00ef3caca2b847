"""The parts of each step: a small trace for each rule, and sums of all samples."""

from collections import Counter, defaultdict
from pathlib import Path

import duckdb
import pytest

import ingest
from tests.builders.events import Event, host, kernel
from tests.builders.relations import Relations, built, ranks
from tests.conftest import Traces
from tests.ingest.sql.steps import parts_in_python
from tests.ingest.sql.steps.test_steps import launched, step

Found = dict[int | None, dict[int | None, Counter[str]]]


def found_in(connection: duckdb.DuckDBPyConnection | Relations, condition: str = "") -> Found:
    """Return device → step → part → ns. All causes of idle time are one part, `idle`."""
    found: Found = defaultdict(lambda: defaultdict(Counter))
    for device, number, part, ns in connection.sql(
        f"SELECT device, step, if(is_idle, 'idle', part), ns FROM step_parts {condition}"
    ).fetchall():
        found[device][number][part] += ns
    return found


def test_parts_add_up_to_the_run(sample_store: Path) -> None:
    with ingest.connect(sample_store) as connection:
        wrong = connection.sql(
            """
            SELECT totals.run_id, totals.wall_ns, parts.wall_ns
            FROM run_totals AS totals
            INNER JOIN (
                SELECT run_id, rank, device, sum(end_ns - start_ns) AS wall_ns
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
                    sum(ns) FILTER (WHERE is_idle) AS idle_ns,
                    sum(ns) FILTER (WHERE part = 'compute') AS compute_ns,
                    -sum(ns) FILTER (WHERE part = 'overlap') AS overlap_ns
                FROM run_parts GROUP BY ALL
            ) AS parts
                ON metrics.run_id = parts.run_id
                AND metrics.rank = parts.rank
                AND metrics.device IS NOT DISTINCT FROM parts.device
            WHERE (metrics.wall_ns, metrics.idle_ns, metrics.compute_ns, metrics.overlap_ns)
                <> (parts.wall_ns, parts.idle_ns, parts.compute_ns, parts.overlap_ns)
            """
        ).fetchall()
    assert (wrong, metrics) == ([], [])


# Events, and their parts: step → part → µs.
SMALL: dict[str, tuple[list[Event], dict[int | None, dict[str, int]]]] = {
    "a gap is divided at the start of a step": (
        [
            step(0, 0, 100),
            step(1, 100, 100),
            *launched("first", 10, 20, 30),
            *launched("second", 120, 140, 10),
        ],
        {
            0: {"idle": 20 + 50, "compute": 30},
            1: {"idle": 40 + 50, "compute": 10},
        },
    ),
    "a gap of work launched ahead belongs to its step": (
        [
            step(0, 0, 30),
            step(1, 30, 20),
            *launched("first", 10, 60, 10),
            *launched("second", 40, 75, 10),
        ],
        # In a later step, the device would do the work of the step before until 40.
        {0: {"fill": 40, "idle": 20, "compute": 10}, 1: {"idle": 5, "compute": 10}},
    ),
    "a step without work has only idle time": (
        [
            step(0, 0, 100),
            step(1, 100, 50),
            step(2, 150, 50),
            *launched("first", 10, 20, 30),
            *launched("last", 160, 170, 30),
        ],
        {
            0: {"idle": 20 + 50, "compute": 30},
            1: {"idle": 50},
            2: {"idle": 20, "compute": 30},
        },
    ),
    "time between steps belongs to no step": (
        [
            *(host(f"denoise {n}", "user_annotation", 100 * n, 60) for n in range(2)),
            *launched("first", 10, 20, 30),
            *launched("between", 70, 75, 5),
            *launched("second", 110, 120, 30),
        ],
        {
            0: {"idle": 20 + 10, "compute": 30},
            None: {"idle": 15 + 20, "compute": 5},
            1: {"idle": 20 + 10, "compute": 30},
        },
    ),
    "work ends after its step": (
        [
            step(0, 0, 100),
            step(1, 100, 100),
            *launched("first", 10, 20, 30),
            *launched("second", 120, 140, 80),
        ],
        {0: {"idle": 20 + 50, "compute": 30}, 1: {"idle": 40, "compute": 80}},
    ),
    "work of two steps at once counts until the earlier step ends": (
        [
            step(0, 0, 50),
            step(1, 50, 50),
            *launched("first", 10, 20, 50),
            host("cudaLaunchKernel", "cuda_runtime", 55, 1, {"correlation": 55}),
            kernel("second", 60, 40, stream=9, correlation=55),
        ],
        {0: {"fill": 20, "compute": 50 + 10, "overlap": -10}, 1: {"compute": 30}},
    ),
    "an inner step does not follow the step around it": (
        [
            *(step(0, 0, 100), step(7, 10, 10)),
            *launched("outer", 5, 20, 90),
            *launched("inner", 15, 110, 5),
        ],
        {0: {"fill": 10, "idle": 10, "compute": 90}, 7: {"compute": 5}},
    ),
    "idle time that the step before would hide fills the pipeline": (
        [
            *(step(number, 100 * number, 100) for number in range(3)),
            *launched("a", 10, 15, 5),
            *launched("b", 50, 60, 90),
            *launched("c", 110, 150, 100),
            *launched("d", 210, 250, 100),
        ],
        {
            0: {"fill": 15 + 30, "idle": 10, "compute": 5 + 90},
            1: {"compute": 100},
            2: {"compute": 100},
        },
    ),
}


@pytest.fixture(scope="module")
def small() -> Relations:
    """A run with a rank for each small trace."""
    return built(ranks(events for events, _ in SMALL.values()))


def test_parts_of_small_traces(small: Relations) -> None:
    found = {}
    for rank, name in enumerate(SMALL):
        [parts] = found_in(small, f"WHERE rank = {rank}").values()
        found[name] = in_us(parts)
    assert found == {name: parts for name, (_, parts) in SMALL.items()}


def in_us(parts: dict[int | None, Counter[str]]) -> dict[int | None, dict[str, int]]:
    """Return step → part → µs."""
    return {
        number: {part: ns // 1000 for part, ns in by_part.items()}
        for number, by_part in parts_in_python.nonzero(parts).items()
    }


def test_a_device_without_a_number_has_parts() -> None:
    call, activity = launched("k", 10, 20, 30)
    del activity["args"]["device"]
    [(device, parts)] = found_in(built([step(0, 0, 100), call, {**activity, "pid": "GPU"}])).items()
    assert (device, in_us(parts)) == (None, {0: {"idle": 70, "compute": 30}})


def test_every_step_has_every_part(small: Relations) -> None:
    [(of_device,)] = small.sql("SELECT count(*) FROM parts WHERE is_of_device").fetchall()
    query = """
        SELECT rank, count(DISTINCT part), count(*) FROM step_parts
        WHERE step IS NOT NULL GROUP BY rank, step
    """
    steps = [len(parts.keys() - {None}) for _, parts in SMALL.values()]
    assert small.by_rank(query) == [[(of_device, of_device)] * number for number in steps]


def test_metrics_of_steps(small: Relations) -> None:
    found = small.by_rank(
        """
        SELECT
            rank, step, start_ns - first_ns, range_ns, lag_ns, work_start_ns - first_ns,
            work_end_ns - first_ns, wall_ns, busy_ns, idle_ns, kernels, launches, launch_call_ns
        FROM step_metrics, (SELECT min(start_ns) AS first_ns FROM steps) ORDER BY step
        """
    )
    assert found[list(SMALL).index("work ends after its step")] == [
        (0, 0, 100_000, 0, 0, 100_000, 100_000, 30_000, 70_000, 1, 1, 1_000),
        (1, 100_000, 100_000, 20_000, 100_000, 220_000, 120_000, 80_000, 40_000, 1, 1, 1_000),
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


def test_steps_have_peaks_if_memory_was_recorded() -> None:
    connection = built(
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
