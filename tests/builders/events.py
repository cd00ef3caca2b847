"""Complete events in the form of torch's traces. Times are µs."""

from typing import Any

Event = dict[str, Any]


def op(name: str, ts: float = 1, dur: float = 1, **more: Any) -> Event:
    """Return an operator on the host's first thread. `more` adds or overrides keys."""
    where = {"pid": 1, "tid": 1, "ts": ts, "dur": dur}
    return {"ph": "X", "cat": "cpu_op", "name": name, **where, **more}


def host(
    name: str,
    category: str,
    ts: float,
    dur: float,
    args: dict[str, Any] | None = None,
    tid: int = 1,
) -> Event:
    """Return an event of any category on a thread of the host."""
    return op(name, ts, dur, cat=category, tid=tid, args=args or {})


def frame(name: str, ts: float, dur: float, tid: int = 1) -> Event:
    """Return a Python frame."""
    return host(name, "python_function", ts, dur, tid=tid)


def kernel(
    name: str,
    ts: float,
    dur: float,
    category: str = "kernel",
    device: int = 0,
    stream: int = 7,
    **args: Any,
) -> Event:
    """Return a device activity. `args` are e.g. `correlation`."""
    location = {"device": device, "stream": stream, **args}
    return op(name, ts, dur, cat=category, pid=device, tid=stream, args=location)
