"""Labels that `capture` puts around the stages of a pipeline. Times are µs."""

from tests.builders.events import Event, host


def mark(name: str, start: float, dur: float, tid: int = 1) -> Event:
    """Return a label of `capture`, or a step."""
    return host(name, "user_annotation", start, dur, tid=tid)


CALL = (
    mark("pipeline: Flux", 0, 100),
    mark("stage: encode", 10, 10),
    mark("stage: denoise", 30, 40),
    mark("ProfilerStep#0", 31, 19),
    mark("block: Double", 35, 5),
    mark("block: Double", 40, 5),
    mark("block: Single", 45, 5),
    mark("ProfilerStep#1", 50, 20),
    mark("block: Double", 55, 10),
    mark("stage: decode", 80, 15),
)
