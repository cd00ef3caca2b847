"""The command `capture calibrate`: measures devices, writes a file and prints a table."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture.calibration.measure import EFFORTS, measured
from capture.calibration.products import DTYPES, INT8
from capture.device import device_name, identity
from capture.errors import CaptureError, capture_extra, say
from capture.output.calibration import SCHEMA, model_of
from capture.output.run_directory import CALIBRATION, default_parent, provisional, write_json
from capture.units import counted, rate, size

if TYPE_CHECKING:
    import torch

NO_CUDA = "--device cuda: torch finds no CUDA or ROCm device; to measure the CPU, use --device cpu"


def calibrate(args: argparse.Namespace) -> None:
    """Measure the devices, write `calibration.json`, and print its path and a table.

    An interrupt leaves an earlier file unchanged. Raises CaptureError if the file cannot be written
    or torch finds no device of the requested type.
    """
    directory = args.out or default_parent()
    with provisional(directory):
        _check_writable(directory)
        chosen = _devices(args.device)
        content = _measured(chosen)
        write_json(directory / CALIBRATION, content)
    print(directory / CALIBRATION)
    for device in content["devices"]:
        for line in table(device):
            print(line, file=sys.stderr)


def _devices(kind: str | None) -> list[torch.device]:
    """Return one device of each model: those of CUDA, or else the CPU."""
    with capture_extra():
        import torch

    has_cuda = torch.cuda.is_available()
    if kind == "cuda" and not has_cuda:
        raise CaptureError(NO_CUDA)
    if kind == "cpu" or not has_cuda:
        return [torch.device("cpu")]
    models: list[dict[str, Any]] = []
    chosen = []
    for index in range(torch.cuda.device_count()):
        device = torch.device("cuda", index)
        if (model := model_of(identity(device))) not in models:
            models.append(model)
            chosen.append(device)
    return chosen


def _measured(devices: list[torch.device]) -> dict[str, Any]:
    """Return the content of the file."""
    import torch

    results = []
    for device in devices:
        say(f"measuring {device_name(device)}, which takes up to a minute")
        results.append(identity(device) | measured(device, EFFORTS[device.type]))
    return {
        "schema": SCHEMA,
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "torch_version": torch.__version__,
        "devices": results,
    }


def _check_writable(directory: Path) -> None:
    """Raise CaptureError if no file can be created in `directory`, before a minute of work."""
    try:
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise CaptureError(f"cannot write {directory / CALIBRATION}: {error.strerror}") from error


def table(device: dict[str, Any]) -> Iterator[str]:
    """Yield the lines about one device of `calibration.json`."""
    yield f"{device['name']} ({_details(device)})"
    absent = device["absent"]
    for dtype in DTYPES:
        flops_per_s = device["flops_per_s"].get(dtype)
        unit = "OP/s" if dtype == INT8 else "FLOP/s"
        yield _row(dtype, flops_per_s and rate(flops_per_s, unit), absent.get(dtype))
    copied, launch_ns = device["bytes_per_s"], device["launch_ns"]
    yield _row("copy", copied and rate(copied, "B/s"), absent.get("bytes_per_s"))
    yield _row("launch", launch_ns and f"{launch_ns:,} ns", absent.get("launch_ns"))


def _details(device: dict[str, Any]) -> str:
    if device["device_type"] == "cpu":
        return f"cpu, {counted(device['threads'], 'thread')}"
    return (
        f"{device['device_type']}:{device['device']}, {device['multiprocessors']} "
        f"multiprocessors, {size(device['memory_bytes'])}"
    )


def _row(name: str, value: str | None, reason: str | None) -> str:
    return f"  {name:<14} {value or f'absent: {reason}'}"
