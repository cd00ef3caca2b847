"""Devices and hosts of a run, and what traces say about them."""

from typing import Any

from tests.builders.events import Event, kernel, op
from tests.builders.relations import built, ranks

A = {"name": "A", "totalGlobalMem": 80, "numSms": 132, "computeMajor": 9, "computeMinor": 0}
B = {"name": "B", "totalGlobalMem": 40, "numSms": 108, "computeMajor": 8, "computeMinor": 6}
OF_A, OF_B, UNKNOWN = ("A", 80, 132, "9.0"), ("B", 40, 108, "8.6"), (None,) * 4


def recording(device: int, *properties: Any) -> dict[str, Any]:
    return {
        "deviceProperties": properties,
        "traceEvents": [op("work", 0, 40), kernel("k", 10, 20, device=device)],
    }


def test_properties_are_found_by_number_or_if_all_devices_are_equal() -> None:
    unreadable = {"id": 2**64, "name": ["?"], "totalGlobalMem": 1e30, "numSms": "many"}
    traces = [
        recording(1, {"id": 0, **A}, {"id": 1, **B}),
        recording(2, {"id": 0, **A}, {"id": 1, **A}),  # the profiler counts the CPUs, too
        recording(2, {"id": 0, **A}, {"id": 1, **B}),
        recording(0, "?", None, unreadable, {"id": 0, **B}),
        recording(0),
        [op("work", 0, 40)],
    ]
    for rank, trace in enumerate(traces):
        if isinstance(trace, dict):
            trace["distributedInfo"] = {"rank": rank}
    found = built(ranks(traces)).sql("FROM devices ORDER BY rank, device_id").fetchall()
    of_device = [OF_B, OF_A, UNKNOWN, OF_B, UNKNOWN]
    numbers = [1, 2, 2, 0, 0]
    expected: list[tuple[object, ...]] = []
    for rank, (number, properties) in enumerate(zip(numbers, of_device, strict=True)):
        expected += [
            ("run", f"{rank}:{number}", rank, None, number, *properties),
            ("run", f"{rank}:host", rank, "cpu", None, *UNKNOWN),
        ]
    expected.append(("run", "5:host", 5, "cpu", None, *UNKNOWN))
    assert found == expected


def allocated(device_type: int, size: int) -> Event:
    args = {"Device Type": device_type, "Device Id": 0, "Addr": 1, "Bytes": size}
    args["Total Allocated"] = size
    return {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5, "args": args}


def test_devices_of_two_types_are_not_compared() -> None:
    runs = {"base": [op("a"), allocated(1, 512)], "other": [op("a"), allocated(12, 1024)]}
    found = built(runs).sql(
        "SELECT device_type, base_bytes, other_bytes FROM memory_diff('base', 'other') "
        "WHERE name = 'peak' ORDER BY ALL"
    )
    assert found.fetchall() == [("cuda", 512, None), ("xpu", None, 1024)]


def test_a_device_of_a_trace_and_of_its_memory_is_one() -> None:
    memory = {"Device Type": 1, "Device Id": 0, "Addr": 1, "Bytes": 512, "Total Allocated": 512}
    events = [
        kernel("k", 10, 20),
        *(
            {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "args": args}
            for ts, args in ((5, memory), (6, {**memory, "Device Type": 0, "Device Id": -1}))
        ),
    ]
    relations = built(events)
    found = relations.sql("SELECT device_id, device_type, device FROM devices ORDER BY 1")
    assert found.fetchall() == [("0:0", "cuda", 0), ("0:host", "cpu", None)]
    joined = relations.sql(
        "SELECT peak.device_id, time.busy_ns, peak.peak_bytes FROM device_time AS time "
        "FULL JOIN memory_peak AS peak USING (run_id, device_id) ORDER BY 1"
    )
    assert joined.fetchall() == [("0:0", 20_000, 512), ("0:host", None, 512)]
