"""Small traces in which the host waits, or works in several threads, and their paths."""

from tests.builders.events import Event
from tests.ingest.conversion.critical_path.small_events import (
    A_10,
    BACKWARD,
    BEGIN,
    COPY,
    LAUNCH,
    PAGEABLE,
    STEP,
    SYNC,
    TO_A,
    WHOLE,
    A,
    Row,
    call,
    on_device,
    op,
    recorded,
)

WAITS_AND_THREADS: dict[str, tuple[list[Event], list[Row]]] = {
    # Waiting for the device.
    "a wait for a kernel": (
        [STEP, *A, call(30, 85, 9, SYNC)],
        [*TO_A, ("sync", SYNC, 5), ("host", WHOLE, 15)],
    ),
    "a wait in which nothing ended": (
        [STEP, *A_10, call(40, 85, 9, SYNC)],
        [*BEGIN, ("host", WHOLE, 28), ("unexplained", SYNC, 45), ("host", WHOLE, 15)],
    ),
    "a wait for the stream of a kernel": (
        [STEP, *A, call(30, 85, 9, "cudaStreamSynchronize"), recorded("Stream Sync", 30, 9, 7)],
        [*TO_A, ("sync", "cudaStreamSynchronize", 5), ("host", WHOLE, 15)],
    ),
    "a wait for another stream": (
        [
            *[
                STEP,
                *A,
                call(30, 85, 9, "cudaStreamSynchronize"),
                recorded("Stream Sync", 30, 9, 8),
            ],
            *[call(12, 14, 2), on_device("B", 20, 25, 2, stream=8)],
        ],
        [
            *[*BEGIN, ("host", LAUNCH, 2), ("host", WHOLE, 16)],
            *[("unexplained", "cudaStreamSynchronize", 55), ("host", WHOLE, 15)],
        ],
    ),
    "a wait does not wait for what was launched later": (
        [
            *[STEP, call(30, 85, 9, SYNC), op("b", 35, 45, tid=2), call(40, 42, 1, tid=2)],
            on_device("K", 50, 80, 1),
        ],
        [("host", WHOLE, 30), ("unexplained", SYNC, 55), ("host", WHOLE, 15)],
    ),
    "a wait for what was launched before the recording": (
        [STEP, on_device("A", 5, 80), call(30, 85, 9, SYNC)],
        [("unexplained", None, 5), ("compute", "A", 75), ("sync", SYNC, 5), ("host", WHOLE, 15)],
    ),
    "a copy that blocks": (
        [STEP, call(10, 60, 1, COPY), on_device(PAGEABLE, 20, 50, 1)],
        [
            ("host", WHOLE, 10),
            ("launch", COPY, 10),
            ("copy", PAGEABLE, 30),
            ("sync", COPY, 10),
            ("host", WHOLE, 40),
        ],
    ),
    "a copy that does not block": (
        [STEP, call(10, 20, 1, COPY), on_device("Memcpy DtoH (Device -> Pinned)", 15, 150, 1)],
        [
            ("host", WHOLE, 10),
            ("launch", COPY, 5),
            ("copy", "Memcpy DtoH (Device -> Pinned)", 135),
        ],
    ),
    # Threads.
    "backward on its thread, while the main one is free": (
        [
            *[STEP, op("mm", 10, 30), op(BACKWARD, 35, 80, 2), op("mm_backward", 40, 70, 2)],
            op("adam", 85, 95),
        ],
        [
            ("host", WHOLE, 10),
            ("host", "mm", 20),
            ("thread", None, 5),
            ("host", BACKWARD, 5),
            ("host", "mm_backward", 30),
            ("host", BACKWARD, 10),
            ("host", None, 5),
            ("host", "adam", 10),
            ("host", WHOLE, 5),
        ],
    ),
    "backward on its thread, while the main one works": (
        [STEP, op("mm", 10, 90), op(BACKWARD, 35, 80, 2)],
        [("host", WHOLE, 10), ("host", "mm", 80), ("host", WHOLE, 10)],
    ),
    "another thread launches": (
        [
            *[STEP, op("mm", 10, 20), op("b", 30, 60, 2), call(40, 42, 1, tid=2)],
            on_device("K", 45, 200, 1),
        ],
        [
            ("host", WHOLE, 10),
            ("host", "mm", 10),
            ("thread", None, 10),
            ("host", "b", 10),
            ("host", LAUNCH, 2),
            ("launch", "K", 3),
            ("compute", "K", 155),
        ],
    ),
}
