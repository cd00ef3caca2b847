"""Launch shapes as texts and conditions."""

from collections.abc import Mapping
from typing import Any

from dashboard.drawing import formatting
from dashboard.widgets.view import View
from ingest.server import Scalar, Value, reports


def of_device(view: View) -> dict[str, Scalar]:
    """Return the condition for rows of the view's device."""
    return {"device_id": str(view.measured.device_id)}


def conditions(view: View, row: Mapping[str, Any]) -> dict[str, Value]:
    """Return the conditions for the kernels of a row, in `kernel_efficiency`."""
    return {**in_steps(view), **reports.kernels.of_shape(row)}


def in_steps(view: View) -> dict[str, Value]:
    """Return the conditions for all kernels of the view's device and steps."""
    return {"run_id": view.run, **of_device(view), **view.steps.where()}


def shape_of(row: Mapping[str, Any]) -> str:
    """Return grid and block as a text: 328×3×16 / 256; a dash if they were not recorded."""
    grid, block = sizes(row["grid"]), sizes(row["block"])
    return formatting.NONE if grid is None else f"{grid} / {block or formatting.NONE}"


def sizes(value: Any) -> str | None:
    """Return the sizes in x, y and z as a text, without trailing ones: 328×3×16."""
    if value is None or not hasattr(value, "__len__") or not len(value):
        return None
    numbers = [int(each) for each in value]
    while len(numbers) > 1 and numbers[-1] == 1:
        numbers.pop()
    return "×".join(f"{each:,}" for each in numbers)
