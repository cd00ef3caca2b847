"""Gaps, launches and queues of small traces, with the expected rows."""

from tests.builders.events import op
from tests.ingest.sql.streams.small import Case, call, close, ran, rows_of, step, work

FIRST = work(40, 50, 100)
GAPS = "SELECT stream, start_ns, dur_ns, launch_delay_ns FROM stream_gaps"
IDLE = "SELECT cause, gaps, idle_ns FROM stream_idle()"
AROUND = """
    SELECT
        (SELECT name FROM kernels WHERE event_id = before_kernel_id),
        (SELECT name FROM kernels WHERE event_id = after_kernel_id)
    FROM stream_gaps
    """
STREAMS: dict[str, Case] = {
    "an unknown launch": ([*FIRST, ran(200, 300)], GAPS, [(7, 100_000, 100_000, None)]),
    "cause of a gap with an unknown launch": (
        [*FIRST, ran(200, 300)],
        IDLE,
        [("unknown", 1, 100_000)],
    ),
    "an operator, but no call": (
        [
            *FIRST,
            op("aten::mm", 90, 9, args={"External id": 3}),
            ran(200, 300, **{"External id": 3}),
        ],
        IDLE,
        [("unknown", 1, 100_000)],
    ),
    "launched late": ([*FIRST, *work(120, 200, 300)], GAPS, [(7, 100_000, 100_000, 20_000)]),
    "cause of a late launch": (
        [*FIRST, *work(100.001, 110, 300)],
        IDLE,
        [("host_wait", 1, 10_000)],
    ),
    "launched when the gap began": (
        [*FIRST, *work(100, 110, 120)],
        IDLE,
        [("kernel_wait", 1, 10_000)],
    ),
    "a gap of 29.999 µs": ([*FIRST, *work(60, 129.999, 140)], IDLE, [("kernel_wait", 1, 29_999)]),
    "a gap of 30 µs": ([*FIRST, *work(60, 130, 140)], IDLE, [("other", 1, 30_000)]),
    "a gap of 30 µs with a limit of 31": (
        [*FIRST, *work(60, 130, 140)],
        "SELECT cause, gaps, idle_ns FROM stream_idle(kernel_wait_ns := 31000)",
        [("kernel_wait", 1, 30_000)],
    ),
    "adjacent activities": ([*FIRST, *work(60, 100, 140)], GAPS, []),
    "an activity inside another": (
        [*FIRST, *work(41, 60, 80), *work(42, 110, 120)],
        GAPS,
        [(7, 100_000, 10_000, -58_000)],
    ),
    "neighbours of a gap": (
        [*FIRST, *work(41, 60, 80, "B"), *work(42, 110, 120, "C")],
        AROUND,
        [("A", "C")],
    ),
    "another stream is busy": (
        [*FIRST, *work(41, 60, 200, stream=8), *work(42, 150, 160)],
        GAPS,
        [(7, 100_000, 50_000, -58_000)],
    ),
}

GRAPH = [call(10, 20, 2, "cudaGraphLaunch"), *(ran(t, t + 5, 2) for t in (30, 50, 70))]
EARLY = [call(10, 12, 2), ran(5, 8, 2)]
TWO_WAIT = [*work(10, 30, 40), *work(20, 40, 50)]
LAUNCHES = """
    SELECT api, launches, activities, call_ns, device_ns, delay_ns, prompt_launches, short_launches
    FROM launch_statistics()
    """
LONG = "SELECT long_calls, long_delays FROM launch_statistics({})"
LIMITS = [call(0, 50, 1), ran(150, 151, 1), call(200, 250.001, 2), ran(350.002, 351, 2)]
QUEUE = "SELECT time_ns, launches, length FROM queue_length"
QUEUE_OF_STEPS = """
    SELECT step, launches, max_length, dur_ns FROM (
        SELECT 1 AS step, * FROM queue_statistics(from_step := 1, to_step := 1)
        UNION ALL
        SELECT 2 AS step, * FROM queue_statistics(from_step := 2, to_step := 2)
    )
    """
QUEUES: dict[str, Case] = {
    "launch of a graph": (
        GRAPH,
        LAUNCHES,
        [("cudaGraphLaunch", 1, 3, 10_000, 15_000, 10_000, 0, 0)],
    ),
    "queue of a graph": (GRAPH, QUEUE, [(10_000, 1, 1), (30_000, 0, 0)]),
    "an activity before its launch": (
        EARLY,
        LAUNCHES,
        [("cudaLaunchKernel", 1, 1, 2000, 3000, 0, 1, 0)],
    ),
    "the queue is never negative": (EARLY, QUEUE, [(5000, 1, 0)]),
    "an activity shorter than its call": (
        [call(0, 5, 1), ran(6, 8, 1)],
        LAUNCHES,
        [("cudaLaunchKernel", 1, 1, 5000, 2000, 1000, 0, 1)],
    ),
    "an activity without a launch": ([ran(5, 8)], "SELECT * FROM launch_calls", []),
    "queue of an activity without a launch": ([ran(5, 8)], QUEUE, []),
    "calls longer than 50 µs and delays longer than 100 µs": (LIMITS, LONG.format(""), [(1, 1)]),
    "calls longer than 49 µs and delays longer than 101 µs": (
        LIMITS,
        LONG.format("long_call_ns := 49000, long_delay_ns := 101000"),
        [(2, 0)],
    ),
    "two launches in the queue": (
        TWO_WAIT,
        QUEUE,
        [(10_000, 1, 1), (20_000, 1, 2), (30_000, 0, 1), (40_000, 0, 0)],
    ),
    "a launch when another activity begins": (
        [*work(10, 20, 40), *work(20, 40, 50)],
        QUEUE,
        [(10_000, 1, 1), (20_000, 1, 1), (40_000, 0, 0)],
    ),
    "statistics of a queue": (
        TWO_WAIT,
        """
        SELECT launches, mean_length, max_length, dur_ns, waiting_ns, full_ns, full_percent
        FROM queue_statistics(full_length := 2)
        """,
        [(2, 4 / 3, 2, 30_000, 30_000, 10_000, 100 / 3)],
    ),
    "statistics by step": (
        [step(1, 0, 25), step(2, 25, 60), *TWO_WAIT],
        QUEUE_OF_STEPS,
        [(1, 2, 2, 15_000), (2, 0, 2, 15_000)],
    ),
    "an activity that begins with the step": (
        [step(1, 0, 30), step(2, 30, 60), *TWO_WAIT],
        QUEUE_OF_STEPS,
        [(1, 2, 2, 20_000), (2, 0, 1, 10_000)],
    ),
}

CASES = STREAMS | QUEUES


def test_gaps_launches_and_queues() -> None:
    assert rows_of(CASES) == {title: close(rows) for title, (_, _, rows) in CASES.items()}
