"""`calibration.json`: what the devices of a machine reach, as `capture calibrate` measured it.

A run carries the measurements of its own device, if the file is in the run directory or in one of
the directories around it.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture.device import identity
from capture.errors import CaptureError
from capture.output.run_directory import CALIBRATION, read_json

if TYPE_CHECKING:
    import torch

SCHEMA = 1
AROUND = 3  # levels: a sweep `runs/<sweep>/<variant>/run` finds the file in `runs`
NUMBERS = ("bytes_per_s", "launch_ns")  # null if they could not be measured


def of_run(directory: Path, device: torch.device) -> dict[str, Any] | None:
    """Return the calibration for a run in `directory` on `device`, or None if there is none.

    It has the content of the file, and under `devices` only the device of the same model. Raises
    CaptureError if the file cannot be read or is not valid.
    """
    absolute = directory.absolute()
    paths = (around / CALIBRATION for around in (absolute, *absolute.parents[:AROUND]))
    path = next((path for path in paths if os.path.isfile(path)), None)
    if path is None:
        return None
    content = read(path)
    model = model_of(identity(device))
    devices = [found for found in content["devices"] if model_of(found) == model]
    return content | {"devices": devices} if devices else None


def model_of(device: dict[str, Any]) -> dict[str, Any]:
    """Return what equal devices have in common: type, name, size, and the threads of a CPU."""
    keys = ("device_type", "name", "multiprocessors", "memory_bytes", "threads")
    return {key: device.get(key) for key in keys}


def read(path: Path) -> dict[str, Any]:
    """Return the content of a calibration.

    Raises CaptureError if the file cannot be read or is not valid.
    """
    try:
        content = read_json(path)
    except RecursionError as error:
        raise CaptureError(f"{path}: cannot be read: nested too deeply") from error
    if fault := _fault(content):
        raise CaptureError(
            f"{path}: is not a valid calibration: {fault}; measure again with `capture calibrate`"
        )
    return content


def _fault(content: dict[str, Any]) -> str | None:
    """Return what is wrong in the content, or None."""
    if content.get("schema") != SCHEMA:
        return f"schema is not {SCHEMA}"
    for key in ("measured_at", "torch_version"):
        if not isinstance(content.get(key), str):
            return f"{key} is not text"
    devices = content.get("devices")
    if not isinstance(devices, list) or not all(isinstance(device, dict) for device in devices):
        return "devices is not a list of objects"
    return next(filter(None, map(_fault_of_device, devices)), None)


def _fault_of_device(device: dict[str, Any]) -> str | None:
    for key in ("flops_per_s", "absent"):
        if not isinstance(device.get(key), dict):
            return f"{key} is not an object"
    for dtype, value in device["flops_per_s"].items():
        if not _is_positive(value):
            return f"flops_per_s of {dtype} is not a positive number"
    for key in NUMBERS:
        if device.get(key) is not None and not _is_positive(device[key]):
            return f"{key} is not a positive number"
    return None


def _is_positive(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < math.inf
