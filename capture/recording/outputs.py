"""The output of a call as one numeric array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

DIFFUSERS = ("images", "frames")  # the names of a pipeline's output


def as_array(made: Any) -> np.ndarray | None:
    """Return the tensors, arrays, images and numbers in `made` as one float32 or float64 array.

    A single item keeps its shape. Several items become one vector. Without any, return None. Image
    pixels are from 0 to 1. Complex numbers become pairs in an additional last dimension.
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
        values = made.detach().cpu().to_dense()
        if values.is_complex():
            values = torch.view_as_real(values.resolve_conj())
        is_narrow = values.is_floating_point() and values.dtype.itemsize < 8
        yield (values.float() if is_narrow else values.double()).numpy()
    elif isinstance(made, np.ndarray | np.generic | int | float | complex):
        array = np.asarray(made)
        if array.dtype.kind == "c":
            array = np.stack([array.real, array.imag], axis=-1)
        if array.dtype.kind in "biuf":  # other kinds are not numeric
            is_narrow = array.dtype.kind == "f" and array.dtype.itemsize < 8
            yield array.astype(np.float32 if is_narrow else np.float64)
    elif hasattr(made, "getbands"):  # an image of PIL
        pixels = np.asarray(made)
        yield pixels / (255 if pixels.dtype == np.uint8 else 1)
    elif part := next((name for name in DIFFUSERS if getattr(made, name, None) is not None), None):
        yield from _arrays(getattr(made, part))
    elif isinstance(made, Mapping):
        for value in made.values():
            yield from _arrays(value)
    elif isinstance(made, list | tuple):
        for value in made:
            yield from _arrays(value)
