"""Small traces, and the rows that a query returns for each."""

from typing import Any

import pytest

from tests.builders.events import Event, host, kernel, op
from tests.builders.relations import built, ranks

Row = tuple[Any, ...]
Case = tuple[list[Event], str, list[Row]]  # events, a query, and the expected rows


def call(start: float, end: float, correlation: int, name: str = "cudaLaunchKernel") -> Event:
    duration = round(end - start, 3)
    return host(name, "cuda_runtime", start, duration, {"correlation": correlation})


def ran(start: float, end: float, correlation: int = 0, name: str = "A", **more: Any) -> Event:
    """Return an activity. Its name determines its kind."""
    kinds = {"Memcpy": "gpu_memcpy", "Memset": "gpu_memset"}
    more.setdefault("category", kinds.get(name.split()[0], "kernel"))
    return kernel(name, start, round(end - start, 3), correlation=correlation, **more)


def work(launch: float, start: float, end: float, name: str = "A", **more: Any) -> list[Event]:
    """Return an activity and a call of 1 µs that launches it."""
    correlation = round(launch * 1000)
    return [call(launch, launch + 1, correlation), ran(start, end, correlation, name, **more)]


def under(name: str, start: float, end: float, *launched: list[Event]) -> list[Event]:
    """Return an operator and the events of what it launches."""
    return [op(name, start, end - start), *(event for events in launched for event in events)]


def annotation(name: str, start: float, end: float) -> Event:
    """Return an annotation on the first stream."""
    return op(name, start, end - start, cat="gpu_user_annotation", pid=0, tid=7)


def measured(*kernels: str) -> list[Event]:
    """Return measurements of counters, without kernels."""
    return [
        host(name, "cuda_profiler_range", 100 + number, 1, {"flops": 10.0 * number})
        for number, name in enumerate(kernels, 1)
    ]


def step(number: int, start: float, end: float) -> Event:
    return host(f"ProfilerStep#{number}", "user_annotation", start, end - start)


def rows_of(cases: dict[str, Case]) -> dict[str, list[Row]]:
    """Return the sorted rows of each query. The traces are the ranks of one run."""
    relations = built(ranks(events for events, *_ in cases.values()))
    return {
        title: relations.sql(f"{query} WHERE rank = {rank} ORDER BY ALL").fetchall()
        for rank, (title, (_, query, _)) in enumerate(cases.items())
    }


def close(rows: list[Row]) -> list[Row]:
    """Return rows to compare with, in which fractions are approximate."""
    return [
        tuple(pytest.approx(value) if isinstance(value, float) else value for value in row)
        for row in rows
    ]
