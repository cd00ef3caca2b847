"""Which model a device is, and which peaks it has: by name, size, tags and calibration."""

import json
from typing import Any

import pytest

from ingest import AddOptions
from tests.builders.events import Event, kernel, op
from tests.builders.relations import Relations, Run, built

H100 = ("NVIDIA H100 80GB HBM3", 132, 85_028_831_232)
# A device by name, number of multiprocessors and bytes, and what is known about it.
DEVICES: dict[str, tuple[tuple[str | None, int | None, int | None], str | None, str | None]] = {
    "an H100": (H100, "H100 SXM", None),
    "another H100 by name": (("NVIDIA H100 PCIe", 114, 85_028_831_232), "H100 PCIe", None),
    "an A100 by its board": (("NVIDIA A100-PG509-200", 108, 42_298_834_944), "A100 40GB SXM", None),
    "memory within 3 %": ((H100[0], 132, 83_000_000_000), "H100 SXM", None),
    "less memory": ((H100[0], 132, 82_000_000_000), None, "no_model"),
    "a slice of a GPU": ((H100[0], 60, 42_000_000_000), None, "no_model"),
    "a name inside another": (("NVIDIA H100 80GB HBM3e", 132, 85_028_831_232), None, "no_model"),
    "an unnamed MI300X": (("", 304, 206_141_652_992), "MI300X", None),
    "a virtual MI300X": (("AMD Instinct MI300X VF", 304, 206_141_652_992), "MI300X", None),
    "one of two AMD models": (
        ("AMD Radeon Graphics", 104, 68_702_699_520),
        None,
        "several_models",
    ),
    "another device": (("Fast Chip 1", 10, 1 << 34), None, "no_model"),
    "a device without properties": ((None, None, None), None, "no_properties"),
}


def properties(number: int, name: str | None, multiprocessors: int | None, size: int | None) -> Any:
    """Return what the metadata of a trace say about a device."""
    return {
        "id": number,
        "name": name,
        "numSms": multiprocessors,
        "totalGlobalMem": size,
        "computeMajor": 9,
        "computeMinor": 0,
    }


def launched(device: int = 0) -> list[Event]:
    """Return a product of [1024, 2048] and [2048, 512] with one kernel."""
    shapes = {"Input Dims": [[1024, 2048], [2048, 512]], "Input type": ["c10::BFloat16"] * 2}
    launch = {"cat": "cuda_runtime", "args": {"correlation": 1 + device}}
    return [
        op("aten::mm", 1000 * device, 20, args=shapes),
        op("cudaLaunchKernel", 1000 * device + 1, 5, **launch),
        kernel("gemm", 1000 * device + 30, 100, device=device, correlation=1 + device),
    ]


TRACE = {"deviceProperties": [properties(0, *H100)], "traceEvents": launched()}


@pytest.fixture(scope="module")
def devices() -> Relations:
    """A run with a kernel on each device."""
    known = [device for device, _, _ in DEVICES.values()]
    return built(
        [event for number in range(len(known)) for event in launched(number)],
        deviceProperties=[
            properties(number, *device) for number, device in enumerate(known) if any(device)
        ],
    )


def test_the_model_of_a_device_follows_from_its_name_and_size(devices: Relations) -> None:
    found = devices.sql(
        "SELECT device, model, model_reason FROM device_limits "
        "JOIN devices USING (run_id, device_id) WHERE device IS NOT NULL ORDER BY device"
    ).fetchall()
    assert dict(zip(DEVICES, found, strict=True)) == {
        name: (number, model, reason)
        for number, (name, (_, model, reason)) in enumerate(DEVICES.items())
    }


def test_a_device_of_several_models_lists_them(devices: Relations) -> None:
    ((models,),) = devices.sql(
        "SELECT models FROM device_limits WHERE model_reason = 'several_models'"
    ).fetchall()
    assert models == ["MI210", "MI250 (one half)"]


def test_only_known_models_have_peaks(devices: Relations) -> None:
    found = devices.sql("SELECT DISTINCT device_id FROM device_peaks").fetchall()
    assert {device for (device,) in found} == {
        f"0:{number}" for number, (_, model, _) in enumerate(DEVICES.values()) if model
    }


def test_all_peaks_are_dense_and_each_has_a_source(devices: Relations) -> None:
    """Tensor cores of NVIDIA and matrix cores of AMD double the rate with half the bits."""
    rows = devices.sql("SELECT model, tf32, float16, float8, source FROM device_models").fetchall()
    assert len({model for model, *_ in rows}) == len(rows)
    for model, tf32, float16, float8, source in rows:
        assert source, model
        if tf32 and float16:
            assert float16 == pytest.approx(2 * tf32, rel=0.02), model
        if float8 and float16:
            assert float8 == pytest.approx(2 * float16, rel=0.02), model


def test_tags_give_a_run_its_own_peaks() -> None:
    tags: dict[str, str | None] = {
        "peak_bfloat16": "500",
        "peak_bandwidth": "2",
        "peak_float32": "many",
        "peak_beauty": "3",
    }
    relations = built(Run({"trace.json": TRACE}, AddOptions(tags=tags)))
    assert relations.sql(
        "SELECT precision, tflop_per_s, tflop_per_s_from, datasheet_tflop_per_s FROM device_peaks "
        "WHERE precision IN ('bfloat16', 'float16', 'beauty', 'float32') ORDER BY precision"
    ).fetchall() == [
        ("bfloat16", 500, "tag", 989.4),
        ("float16", 989.4, "datasheet", 989.4),
        ("float32", 66.9, "datasheet", 66.9),
    ]
    assert relations.sql(
        "SELECT tb_per_s, tb_per_s_from, datasheet_tb_per_s, ignored_tags FROM device_limits "
        "WHERE device_id = '0:0'"
    ).fetchall() == [(2, "tag", 3.35, ["peak_beauty", "peak_float32"])]


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1e-300", "1e400", ""])
def test_a_peak_that_no_device_has_is_ignored(text: str) -> None:
    relations = built(Run({"trace.json": TRACE}, AddOptions(tags={"peak_bandwidth": text})))
    assert relations.sql(
        "SELECT tb_per_s, ignored_tags FROM device_limits WHERE device_id = '0:0'"
    ).fetchall() == [(3.35, ["peak_bandwidth"])]


CALIBRATION = {
    "schema": 1,
    "measured_at": "2026-11-30T12:00:00+00:00",
    "devices": [
        {
            "device_type": "cuda",
            "name": H100[0],
            "multiprocessors": 132,
            "memory_bytes": H100[2],
            "flops_per_s": {"bfloat16": 7e14, "float8_e4m3fn": 1.2e15, "float64": 5e13},
            "bytes_per_s": 3e12,
            "launch_ns": 2100,
        }
    ],
}


@pytest.mark.parametrize(
    ("calibration", "measured"),
    [
        (
            CALIBRATION,
            [("bfloat16", 700), ("float64", 50), ("float64_matrix", 50), ("float8", 1200)],
        ),
        ({**CALIBRATION, "devices": [{**CALIBRATION["devices"][0], "multiprocessors": 60}]}, []),
        ({**CALIBRATION, "devices": "none"}, []),
        ("damaged", []),
    ],
)
def test_measured_peaks_stand_beside_those_of_the_datasheet(
    calibration: Any, measured: list[tuple[str, float]]
) -> None:
    files = {
        "run.json": json.dumps({"calibration": calibration}),
        "t-rank0.trace.json": TRACE,
    }
    relations = built(Run(files))
    found = relations.sql(
        "SELECT precision, measured_tflop_per_s FROM device_peaks "
        "WHERE measured_tflop_per_s IS NOT NULL ORDER BY precision"
    ).fetchall()
    assert found == measured
    assert relations.sql(
        "SELECT tflop_per_s_from, tflop_per_s FROM device_peaks WHERE precision = 'bfloat16'"
    ).fetchall() == [("datasheet", 989.4)]
    assert relations.sql(
        "SELECT measured_tb_per_s, measured_launch_ns FROM device_limits WHERE device_id = '0:0'"
    ).fetchall() == [(3, 2100) if measured else (None, None)]


def test_a_host_has_the_peaks_of_its_calibration() -> None:
    host = {"device_type": "cpu", "flops_per_s": {"float32": 1e11}, "bytes_per_s": 1e10}
    shapes = {"Input Dims": [[10, 20], [20, 30]], "Input type": ["float", "float"]}
    files = {
        "run.json": json.dumps({"calibration": {"devices": [host]}}),
        "t-rank0.trace.json": {"traceEvents": [op("aten::mm", 1, 1.2, args=shapes)]},
    }
    assert built(Run(files)).sql(
        "SELECT op, work_ns, precision, at_peak_ns, round(peak_percent, 6), bound "
        "FROM op_efficiency"
    ).fetchall() == [("aten::mm", 1200, "float32", 120, 10, "neither")]
