"""The difference between two outputs that should be equal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def distance(base: np.ndarray, other: np.ndarray) -> dict[str, Any]:
    """Return the distance of two arrays of the same shape.

    `max_abs` and `mean_abs` are the maximum and mean absolute difference, in the unit of the
    arrays. `psnr_db` is the peak signal-to-noise ratio in dB. The peak is the range of `base`, or 1
    if `base` is an image with values from 0 to 1. The key is absent for equal arrays. If the arrays
    cannot be compared, the only key is `missing`, with the reason.
    """
    import numpy as np

    if base.shape != other.shape:
        return {"missing": f"shape {other.shape} instead of {base.shape}"}
    one, two = base.astype(np.float64), other.astype(np.float64)
    for name, values in (("the base", one), ("the output", two)):
        if wrong := int((~np.isfinite(values)).sum()):
            return {"missing": f"{wrong:,} of {values.size:,} values of {name} are not finite"}
    if not one.size:
        return {"missing": "the output is empty"}
    difference = np.abs(one - two)
    low, high = float(one.min()), float(one.max())
    peak = 1.0 if low >= 0 and high <= 1 else high - low
    square = float((difference**2).mean())
    found: dict[str, Any] = {
        "max_abs": float(difference.max()),
        "mean_abs": float(difference.mean()),
    }
    if square and peak:
        found["psnr_db"] = 20 * math.log10(peak) - 10 * math.log10(square)
    return found


def farthest(base: Path, others: Sequence[Path]) -> dict[str, Any]:
    """Return the largest distance of several outputs (.npy files) from the output `base`."""
    import numpy as np

    first = np.load(base)
    found = [distance(first, np.load(path)) for path in others]
    for each in found:
        if "missing" in each:
            return each
    return max(found, key=lambda each: each["mean_abs"], default={"missing": "no output"})
