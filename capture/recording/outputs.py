"""What a call made, as one array of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

DIFFUSERS = ("images", "frames")  # what a pipeline's output is called


def as_array(made: Any) -> np.ndarray | None:
    """Its tensors, arrays, images and numbers; None where there are none.

    A single one keeps its shape, several are one vector. Pixels of images are from 0 to 1.
    """
    import numpy as np

    found = list(_arrays(made))
    if len(found) <= 1:
        return found[0] if found else None
    return np.concatenate([each.reshape(-1) for each in found])


def _arrays(made: Any) -> Iterator[np.ndarray]:
    import numpy as np
    import torch

    if isinstance(made, torch.Tensor):
        values = made.detach().cpu()
        yield (values if values.dtype == torch.float64 else values.float()).numpy()
    elif isinstance(made, np.ndarray | int | float):
        yield np.asarray(made, dtype=np.float64)
    elif hasattr(made, "getbands"):  # an image of PIL
        yield np.asarray(made, dtype=np.float64) / 255
    elif part := next((name for name in DIFFUSERS if getattr(made, name, None) is not None), None):
        yield from _arrays(getattr(made, part))
    elif isinstance(made, Mapping):
        for value in made.values():
            yield from _arrays(value)
    elif isinstance(made, list | tuple):
        for value in made:
            yield from _arrays(value)
