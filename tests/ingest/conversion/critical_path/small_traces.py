"""Small traces with the expected critical paths of their steps. Times are µs."""

from tests.builders.events import Event
from tests.ingest.conversion.critical_path.small_events import (
    A_10,
    BEGIN,
    LAUNCH,
    LOADER,
    STEP,
    TO_A,
    WHOLE,
    A,
    Row,
    call,
    on_device,
    op,
    recorded,
)
from tests.ingest.conversion.critical_path.small_waits import WAITS_AND_THREADS

# The event after A, which stream 8 awaits before B.
RECORD = call(12, 13, 5, "cudaEventRecord")
WAIT = call(13.5, 14, 6, "cudaStreamWaitEvent")
WAITS = recorded(
    "Stream Wait Event",
    13.5,
    6,
    8,
    wait_on_stream=7,
    wait_on_cuda_event_record_corr_id=5,
    wait_on_cuda_event_id=1,
)
B_ELSEWHERE = [call(15, 17, 2), on_device("B", 32, 150, 2, stream=8)]


def awaiting(stream: int, other: int) -> list[Event]:
    """Return events of B on `stream`, which waits for A on `other` and begins as A ends."""
    waits = recorded(
        "Stream Wait Event",
        13.5,
        6,
        stream,
        wait_on_stream=other,
        wait_on_cuda_event_record_corr_id=5,
        wait_on_cuda_event_id=1,
    )
    launches = [call(10, 12, 1), on_device("A", 20, 80, 1, other), RECORD, WAIT, waits]
    return [STEP, *launches, call(15, 17, 2), on_device("B", 80, 150, 2, stream)]


# Description → the events of a step, and its path.
CASES: dict[str, tuple[list[Event], list[Row]]] = {
    # The host.
    "bound by the host": (
        [STEP, op("mm", 10, 30), call(15, 20, 1), on_device("A", 22, 26, 1), op("add", 40, 70)],
        [
            ("host", WHOLE, 10),
            ("host", "mm", 5),
            ("host", LAUNCH, 5),
            ("host", "mm", 10),
            ("host", WHOLE, 10),
            ("host", "add", 30),
            ("host", WHOLE, 30),
        ],
    ),
    "nothing but the step": ([STEP], [("host", WHOLE, 100)]),
    "workers of a loader": (
        [STEP, op(LOADER, 10, 60, category="user_annotation")],
        [("host", WHOLE, 10), ("unexplained", LOADER, 50), ("host", WHOLE, 40)],
    ),
    # The device.
    "bound by the device": (
        [
            *[STEP, *A, call(12, 14, 2), call(14, 16, 3)],
            *[on_device("B", 82, 120, 2), on_device("C", 121, 150, 3)],
        ],
        [
            *TO_A,
            ("queue", "B", 2),
            ("compute", "B", 38),
            ("queue", "C", 1),
            ("compute", "C", 29),
        ],
    ),
    "launched late": (
        [STEP, *A_10, call(60, 62, 2), on_device("B", 65, 160, 2)],
        [
            *BEGIN,
            ("host", WHOLE, 48),
            ("host", LAUNCH, 2),
            ("launch", "B", 3),
            ("compute", "B", 95),
        ],
    ),
    "begins before its call ends": (
        [STEP, call(10, 30, 1), on_device("A", 20, 120, 1)],
        [("host", WHOLE, 10), ("launch", LAUNCH, 10), ("compute", "A", 100)],
    ),
    "begins as its call ends": (
        [STEP, call(10, 20, 1), on_device("A", 20, 120, 1)],
        [("host", WHOLE, 10), ("launch", LAUNCH, 10), ("compute", "A", 100)],
    ),
    "communication": (
        [STEP, *A, call(12, 14, 2), on_device("ncclDevKernel_AllReduce", 82, 120, 2)],
        [
            *TO_A,
            ("queue", "ncclDevKernel_AllReduce", 2),
            ("communication", "ncclDevKernel_AllReduce", 38),
        ],
    ),
    "after another stream, waiting long": (
        [STEP, *A, call(12, 14, 2), on_device("B", 85, 200, 2, stream=8)],
        [*TO_A, ("dependency", "B", 5), ("compute", "B", 115)],
    ),
    "after its own stream, waiting long: nothing ended right before": (
        [STEP, *A_10, call(12, 14, 2), on_device("B", 90, 200, 2)],
        [*BEGIN, *TO_A[2:3], ("compute", "A", 10), ("unexplained", "B", 60), ("compute", "B", 110)],
    ),
    "another stream ended, but long before": (
        [
            *[STEP, *A_10, call(12, 14, 2), on_device("B", 90, 200, 2)],
            *[call(14, 16, 3), on_device("C", 20, 55, 3, stream=8)],
        ],
        [*BEGIN, *TO_A[2:3], ("compute", "A", 10), ("unexplained", "B", 60), ("compute", "B", 110)],
    ),
    # `launch` of any length: the stream had no other work when the call ended.
    "an idle stream waits long after the call, and nothing ended right before": (
        [STEP, *A_10, call(40, 42, 2), on_device("B", 90, 200, 2)],
        [
            *[*BEGIN, ("host", WHOLE, 28), ("host", LAUNCH, 2)],
            *[("unexplained", "B", 48), ("compute", "B", 110)],
        ],
    ),
    "no launches": (
        [STEP, on_device("A", 20, 50), on_device("B", 55, 120)],
        [("unexplained", None, 20), ("compute", "A", 30), ("queue", "B", 5), ("compute", "B", 65)],
    ),
    # Dependencies that CUDA recorded.
    "after a launch, waiting a little": (
        [STEP, *A_10, *B_ELSEWHERE],
        [
            *BEGIN,
            ("host", WHOLE, 3),
            ("host", LAUNCH, 2),
            ("launch", "B", 15),
            ("compute", "B", 118),
        ],
    ),
    "a stream that waits for another": (
        [STEP, *A_10, RECORD, WAIT, WAITS, *B_ELSEWHERE],
        [
            *BEGIN,
            *TO_A[2:3],
            ("compute", "A", 10),
            ("dependency", "B", 2),
            ("compute", "B", 118),
        ],
    ),
    **{
        f"stream {stream} begins as the awaited activity of stream {other} ends": (
            awaiting(stream, other),
            [*TO_A, ("compute", "B", 70)],
        )
        for stream, other in ((7, 8), (8, 7))
    },
    "a stream does not wait for itself": (
        [
            *[STEP, *A_10, call(12, 13, 5, "cudaEventRecord"), WAIT],
            *[recorded("Stream Wait Event", 13.5, 6, 7, wait_on_stream=7), call(15, 17, 2)],
            on_device("B", 32, 150, 2),
        ],
        [*BEGIN, *TO_A[2:3], ("compute", "A", 10), ("queue", "B", 2), ("compute", "B", 118)],
    ),
    "work of the other stream after the recorded event does not count": (
        [
            *[STEP, *A_10, RECORD, WAIT, WAITS, *B_ELSEWHERE],
            *[call(13, 13.5, 3), on_device("A2", 30, 31, 3)],
        ],
        [
            *BEGIN,
            *TO_A[2:3],
            ("compute", "A", 10),
            ("dependency", "B", 2),
            ("compute", "B", 118),
        ],
    ),
    # Without steps.
    "no step": (
        [op("mm", 10, 30), call(15, 20, 1), on_device("A", 25, 60, 1)],
        [("host", "mm", 5), ("host", LAUNCH, 5), ("launch", "A", 5), ("compute", "A", 35)],
    ),
    "no host": (
        [on_device("A", 10, 50, 1), on_device("B", 60, 100, 2)],
        [("compute", "A", 40), ("queue", "B", 10), ("compute", "B", 40)],
    ),
    **WAITS_AND_THREADS,
}
