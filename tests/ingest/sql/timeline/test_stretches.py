"""Events and memory in a range of time."""

import pytest

from tests.builders.events import Event, host, kernel, op
from tests.builders.relations import Relations, built


@pytest.fixture(scope="module")
def launches() -> Relations:
    """An operator that launches a short and a long kernel, and ends long before they run."""
    return built(
        [
            op("outer", 0, 30),
            op("inner", 5, 20),
            host("launch short", "cuda_runtime", 6, 1, {"correlation": 1}),
            host("launch long", "cuda_runtime", 8, 1, {"correlation": 2}),
            kernel("short", 100, 2, correlation=1),
            kernel("long", 102, 50, correlation=2),
            op("later", 140, 5),
        ]
    )


@pytest.mark.parametrize(
    ("since_us", "until_us", "shortest_us", "expected"),
    [
        (0, 200, 0, "inner, later, launch long, launch short, long, outer, short"),
        (141, 142, 0, "inner, later, launch long, long, outer"),
        (8.5, 8.6, 0, "inner, launch long, long, outer"),  # the launched kernel runs later
        (0, 200, 10, "inner, launch long, long, outer"),
        (60, 70, 0, ""),
        (145, 146, 0, "inner, launch long, long, outer"),  # the end of an event is exclusive
    ],
)
def test_events_between(
    since_us: float,
    until_us: float,
    shortest_us: float,
    expected: str,
    launches: Relations,
) -> None:
    arguments = [round(us * 1000) for us in (since_us, until_us, shortest_us)]
    [(names,)] = launches.execute(
        "SELECT coalesce(string_agg(name, ', ' ORDER BY name), '') FROM events_between("
        "(SELECT run_id FROM runs), 0, $1, $2, $3)",
        arguments,
    ).fetchall()
    assert names == expected


def memory(ts: float, total: int, device: int = 0) -> Event:
    instant = {"ph": "i", "s": "t", "pid": 1, "tid": 1, "ts": ts}
    args = {
        "Total Allocated": total,
        "Total Reserved": 9_000,
        "Bytes": 1,
        "Addr": round(ts),
        "Device Id": device,
        "Device Type": 1,
    }
    return {"name": "[memory]", "cat": "cpu_instant_event", **instant, "args": args}


def test_memory_over_time_is_the_peak_of_each_interval() -> None:
    events = [memory(5, 300), memory(12, 500), memory(13, 400), memory(38, 100), memory(15, 7, 1)]
    connection = built([op("aten::mm", 0, 100), *events])
    rows = connection.sql(
        "SELECT start_ns, end_ns, used_bytes FROM memory_over_time("
        "(SELECT run_id FROM runs), 0, 0, 10_000, 50_000, 4) ORDER BY bin"
    ).fetchall()
    assert rows == [
        (10_000, 20_000, 500),
        (20_000, 30_000, 400),  # a value holds until the next one
        (30_000, 40_000, 400),
        (40_000, 50_000, 100),
    ]
