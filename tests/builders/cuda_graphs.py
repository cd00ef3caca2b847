"""Captures and replays of CUDA graphs, as events of torch's traces. Times are µs."""

from collections.abc import Sequence
from typing import Any

from tests.builders.events import Event, host, kernel, op

Launch = tuple[str, str | None]  # the operator around it, and the name of its kernel if recorded
# The name of the kernel, its stream, and further arguments.
Activity = tuple[str, int] | tuple[str, int, dict[str, Any]]


def capture(launches: Sequence[Launch], ts: float = 0, dims: Any = None) -> list[Event]:
    """Return a capture that records the launches, 10 µs each, each in an operator."""
    end = ts + 10 * len(launches) + 10
    events = [
        host("cudaStreamBeginCapture", "cuda_runtime", ts, 1, {"correlation": 1}),
        host("cudaStreamEndCapture", "cuda_runtime", end, 1, {"correlation": 2}),
    ]
    for number, (operator, name) in enumerate(launches, 1):
        at = ts + 10 * number
        named = {} if name is None else {"kernel": name}
        shaped = {} if dims is None else {"args": {"Input Dims": dims}}
        events += [
            op(operator, at, 5, **shaped),
            host("cudaLaunchKernel", "cuda_runtime", at + 1, 1, {"correlation": 0, **named}),
        ]
    return events


def replay(activities: Sequence[Activity], ts: float = 500, correlation: int = 900) -> list[Event]:
    """Return a launch of a graph and its activities, 10 µs each, one after the other."""
    events = [host("cudaGraphLaunch", "cuda_runtime", ts, 5, {"correlation": correlation})]
    for number, (name, stream, *more) in enumerate(activities, 1):
        at = ts + 10 * number
        event = kernel(name, at, 8, stream=stream, correlation=correlation)
        event["args"] |= more[0] if more else {}
        events.append(event)
    return events
