"""Matrix products of each data type, and why a device cannot compute one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

TF32 = "tf32"
FLOAT8 = "float8_e4m3fn"
INT8 = "int8"
DTYPES = ("float32", TF32, "bfloat16", "float16", FLOAT8, INT8, "float64")
TF32_CAPABILITY = 8  # the first compute capability of NVIDIA with TF32
NO_TF32_ON_CPU = "only GPUs of NVIDIA compute in TF32"
NO_TF32_ON_ROCM = "torch does not say whether ROCm computes in TF32"


class UnsupportedError(Exception):
    """A product that the device cannot compute. The message is the reason."""


@contextmanager
def product(dtype: str, width: int, device: torch.device) -> Iterator[Callable[[], object]]:
    """Yield a function that multiplies two square matrices of `width` rows, within the body.

    `dtype` is one of `DTYPES`. On CUDA, the function returns before the product is computed. Raises
    UnsupportedError, or the error of torch, if the device cannot compute the product.
    """
    import torch

    if dtype == TF32 and (reason := _no_tf32(device)):
        raise UnsupportedError(reason)
    # Random values, because multiplying zeros takes less power, and a GPU then clocks higher than
    # in real work.
    left, right = (_random(dtype, width, device) for _ in range(2))
    # The second matrix is transposed, as the weights of a linear layer are. Float8 needs this.
    right = right.t()
    matmul = torch.backends.cuda.matmul
    with_tf32 = matmul.allow_tf32
    matmul.allow_tf32 = dtype == TF32
    try:
        if dtype == FLOAT8:
            scale = torch.ones((), device=device)
            yield lambda: torch._scaled_mm(
                left,
                right,
                scale_a=scale,
                scale_b=scale,
                out_dtype=torch.bfloat16,
                use_fast_accum=device.type == "cuda",  # as in inference; faster on Hopper
            )
        elif dtype == INT8:
            yield lambda: torch._int_mm(left, right)
        else:
            yield lambda: torch.mm(left, right)
    finally:
        matmul.allow_tf32 = with_tf32


def _random(dtype: str, width: int, device: torch.device) -> torch.Tensor:
    import torch

    if dtype == INT8:
        return torch.randint(-128, 128, (width, width), dtype=torch.int8, device=device)
    of_torch = torch.float32 if dtype == TF32 else getattr(torch, dtype)
    return torch.randn(width, width, device=device).to(of_torch)


def _no_tf32(device: torch.device) -> str | None:
    """Return why the device does not compute in TF32, or None if it does."""
    import torch

    if device.type == "cpu":
        return NO_TF32_ON_CPU
    if torch.version.hip:
        return NO_TF32_ON_ROCM
    major, minor = torch.cuda.get_device_capability(device)
    if major < TF32_CAPABILITY:
        return f"TF32 needs compute capability {TF32_CAPABILITY}.0; this device has {major}.{minor}"
    return None
