"""Conversion between Arrow and numpy arrays, without a copy and without importing pandas.

`pyarrow.array` and `to_numpy` import pandas if it is installed, which takes longer than adding a
small trace.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def arrow_of(values: npt.NDArray[Any], is_null: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """Convert numbers to an Arrow array of the same type, with NULL where `is_null` is true."""
    valid = None if is_null is None else pa.py_buffer(np.packbits(~is_null, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, data])


def numpy_of(column: pa.Array) -> npt.NDArray[Any]:
    """Return a read-only numpy array of the numbers of an Arrow array without NULLs."""
    return np.from_dlpack(column)
