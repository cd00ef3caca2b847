"""Classes, copies, kernels and operators of small traces, with the expected rows."""

from tests.ingest.sql.streams.small import (
    Case,
    annotation,
    call,
    close,
    measured,
    ran,
    rows_of,
    step,
    under,
    work,
)

CLASSES = [
    *(ran(0, 10), ran(5, 20, name="ncclAllReduce", stream=8)),
    *(ran(15, 30, name="Memcpy DtoH", stream=9), ran(28, 35, name="Memset (Device)", stream=7)),
]
COPIES = "SELECT copies, unsized_copies, bytes, device_ns, gb_per_s, min_gb_per_s, max_gb_per_s"
COPIES += " FROM copy_statistics()"
RATE = "SELECT time_ns, copies, gb_per_s FROM copy_bandwidth"
H = "Memcpy HtoD (Pageable -> Device)"
DEVICE: dict[str, Case] = {
    "overlap of classes": (
        CLASSES,
        "SELECT array_to_string(classes, ' '), dur_ns FROM class_overlap()",
        [
            *(("communication", 5000), ("communication compute", 5000)),
            *(("communication memcpy", 5000), ("compute", 5000), ("memcpy", 8000)),
            *(("memcpy memset", 2000), ("memset", 5000)),
        ],
    ),
    "parts of the time": (
        [*CLASSES, ran(45, 50)],
        "SELECT part, ns, percent FROM temporal_breakdown()",
        [
            *(("compute", 15_000, 30), ("exposed_communication", 10_000, 20)),
            *(("exposed_copy", 15_000, 30), ("unknown", 10_000, 20)),
        ],
    ),
    "overlap of communication": (
        CLASSES,
        "SELECT communication_ns, overlapped_ns, exposed_ns, percent FROM communication_overlap()",
        [(15_000, 5000, 10_000, 100 / 3)],
    ),
    "no communication": ([ran(0, 10)], "SELECT * FROM communication_overlap()", []),
    "a copy without bytes": (
        [ran(0, 10, name=H, bytes=1000), ran(20, 40, name=H)],
        COPIES,
        [(2, 1, 1000, 30_000, 0.1, 0.1, 0.1)],
    ),
    "a copy without duration": (
        [ran(0, 10, name=H, bytes=1000), ran(20, 20, name=H, bytes=9000)],
        COPIES,
        [(2, 0, 10_000, 10_000, 0.1, 0.1, 0.1)],
    ),
    "only copies without bytes": (
        [ran(0, 10, name=H)],
        COPIES,
        [(1, 1, None, 10_000, None, None, None)],
    ),
    "no bandwidth without bytes": ([ran(0, 10, name=H)], RATE, []),
    "only copies without duration": (
        [ran(0, 0, name=H, bytes=1)],
        COPIES,
        [(1, 0, 1, 0, None, None, None)],
    ),
    "no bandwidth without duration": (
        [ran(0, 10, name=H, bytes=1000), ran(5, 5, name=H, bytes=9)],
        RATE,
        [(0, 1, 0.1), (10_000, 0, 0)],
    ),
    "two copies at once": (
        [ran(0, 10, name=H, bytes=1000), ran(5, 15, name=H, bytes=3000, stream=8)],
        RATE,
        [(0, 1, 0.1), (5000, 2, 0.4), (10_000, 1, 0.3), (15_000, 0, 0)],
    ),
    "nested annotations": (
        [
            *(annotation("outer", 0, 100), annotation("inner", 0, 50), annotation("inner", 50, 60)),
            *(ran(0, 10), ran(49, 70), ran(60, 61), ran(100, 110), ran(20, 30, stream=8)),
        ],
        "SELECT name, calls, span_ns, leaf_calls, leaf_ns, activities, device_ns"
        " FROM annotation_breakdown",
        [("inner", 2, 60_000, 2, 60_000, 2, 31_000), ("outer", 1, 100_000, 0, 0, 1, 1000)],
    ),
}

SEQUENCES = [
    *under("mm", 10, 20, work(11, 30, 35, "A"), work(12, 35, 40, "B")),
    *under("mm", 20, 30, work(21, 60, 65, "A", stream=8), work(22, 45, 50, "B")),  # in launch order
    *under("mm", 30, 40, work(31, 70, 75, "B")),
]
NESTED = under("outer", 0, 99, work(1, 2, 3, "Z"), SEQUENCES)
SEQUENCE_ROWS = [(["A", "B"], 2, 2, 20_000, 2), (["B"], 1, 1, 5000, 1)]
KERNELS = [ran(0, 5), ran(10, 15), ran(20, 30, name="B"), ran(40, 49, name="C")]
COUNTED = "SELECT kernel, ordinal, value, launch_ns, op, op_stack FROM cupti_counters"
LAUNCHES = under("outer", 1, 90, under("mm", 10, 20, [call(11, 12, 1)]), [call(30, 31, 2)])
WORK: dict[str, Case] = {
    "sequences of an operator": (
        SEQUENCES,
        "SELECT sequence, length, calls, device_ns, len(op_ids) FROM kernel_sequences()",
        [row for row in SEQUENCE_ROWS for _ in ("leaf", "op")],
    ),
    "sequences of the innermost and the outermost operator": (
        NESTED,
        "SELECT level, name, length, calls FROM kernel_sequences()",
        [
            *(("leaf", "mm", 1, 1), ("leaf", "mm", 2, 2)),
            *(("leaf", "outer", 1, 1), ("op", "outer", 6, 1)),
        ],
    ),
    "launch delay of operators": (
        NESTED,
        """
        SELECT
            name, launches, op_to_launch_ns, launch_to_kernel_ns, op_to_kernel_ns, kernel
        FROM op_launch_delay
        """,
        [
            *(("mm", 1, 1000, 39_000, 40_000, "B"), ("mm", 2, 1000, 19_000, 20_000, "A")),
            *(("mm", 2, 1000, 39_000, 40_000, "A"), ("outer", 1, 1000, 1000, 2000, "Z")),
        ],
    ),
    "sequences of an operator in two steps": (
        [
            *(step(0, 0, 50), step(1, 50, 100)),
            *under("mm", 10, 90, work(20, 30, 40, "A"), work(60, 70, 80, "B")),
        ],
        """
        SELECT steps, level, sequence FROM (
            SELECT 'all' AS steps, * FROM kernel_sequences(from_step := 0)
            UNION ALL
            SELECT 'first' AS steps, * FROM kernel_sequences(from_step := 0, to_step := 0)
            UNION ALL
            SELECT 'last' AS steps, * FROM kernel_sequences(from_step := 1)
        )
        """,
        [
            *(("all", "leaf", ["A", "B"]), ("all", "op", ["A", "B"])),
            *(("first", "leaf", ["A"]), ("first", "op", ["A"])),
            *(("last", "leaf", ["B"]), ("last", "op", ["B"])),
        ],
    ),
    "statistics of all kernels": (
        KERNELS,
        "SELECT name, names, calls, total_ns, percent, stddev_ns FROM kernel_statistics()",
        [
            ("A", 1, 2, 10_000, 1000 / 29, 0),
            ("B", 1, 1, 10_000, 1000 / 29, None),
            ("C", 1, 1, 9000, 900 / 29, None),
        ],
    ),
    "statistics of the top kernel": (  # ties are broken by name
        KERNELS,
        "SELECT name, names, calls, total_ns, min_ns, max_ns FROM kernel_statistics(top := 1)",
        [("A", 1, 2, 10_000, 5000, 5000), (None, 2, 2, 19_000, 9000, 10_000)],
    ),
    "counters of as many kernels as launches": (
        [*measured("A", "B"), *LAUNCHES],
        COUNTED,
        [("A", 1, 10, 11_000, "mm", ["outer", "mm"]), ("B", 2, 20, 30_000, "outer", ["outer"])],
    ),
    "counters of more kernels than launches": (
        [*measured("A", "B", "C"), *LAUNCHES],
        COUNTED,
        [(name, n, 10 * n, None, None, None) for n, name in enumerate("ABC", 1)],
    ),
    "a measurement without numbers counts, too": (
        [{**measured("A")[0], "args": {"counter": "?"}}, measured("A", "B")[1], *LAUNCHES],
        COUNTED,
        [("B", 2, 20, 30_000, "outer", ["outer"])],
    ),
}
CASES = DEVICE | WORK


def test_classes_copies_kernels_and_operators() -> None:
    assert rows_of(CASES) == {title: close(rows) for title, (_, _, rows) in CASES.items()}
