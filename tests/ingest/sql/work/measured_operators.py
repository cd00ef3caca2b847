"""Operators on the CPU under the profiler, with the bytes of their arguments and results.

    python measured_operators.py TRACE.json

Each call runs in an annotation, `call: <number>`. Prints a JSON list with an entry for each call:
the operator, a note that tells calls of it apart, and the bytes that it has to read and write.
These come from the tensors: of an argument, each element in memory counts once.
"""

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils._pytree import tree_leaves

BOOL, BYTE, INT, LONG = torch.bool, torch.uint8, torch.int32, torch.int64
HALF, BF16, FLOAT, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64


def tensor(*shape: int, dtype: torch.dtype = FLOAT) -> Tensor:
    return (torch.rand(shape) + 1).to(dtype)


def index(*shape: int, below: int = 2) -> Tensor:
    return torch.randint(below, shape)


def bytes_of(value: object) -> int:
    """Return the bytes of the tensors in a value. Elements that share memory count once."""
    return sum(
        tensor.element_size() * len(set(places_of(tensor).tolist()))
        for tensor in tree_leaves(value)
        if isinstance(tensor, Tensor)
    )


def places_of(tensor: Tensor) -> Tensor:
    """Return the places of the elements in the storage of a tensor."""
    places = torch.zeros((), dtype=LONG)
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        places = places[..., None] + torch.arange(size) * stride
    return places.flatten()


class Call:
    """A call of an operator, before it runs. `note` tells calls of an operator apart."""

    def __init__(
        self,
        name: str,
        *arguments: Any,
        note: str = "",
        function: Callable[..., Any] | None = None,
        read: object = None,
        written: object = None,
        **options: Any,
    ) -> None:
        self.name, self.note = name, note
        self.function = function or getattr(torch.ops.aten, name)
        self.arguments, self.options = arguments, options
        inputs = {name: value for name, value in options.items() if name != "out"}
        self.read = as_bytes((arguments, inputs) if read is None else read)
        self.written = written

    def run(self) -> None:
        self.result = self.function(*self.arguments, **self.options)

    def measured(self) -> dict[str, Any]:
        written = as_bytes(self.result if self.written is None else self.written)
        return {
            "operator": f"aten::{self.name}",
            "note": self.note,
            "read": self.read,
            "written": written,
        }


def as_bytes(value: object) -> int:
    return value if isinstance(value, int) else bytes_of(value)


UNARY = """
abs acos asin atan bitwise_not ceil celu clamp clamp_max clamp_min cos cosh elu erf exp exp2
expm1 floor gelu hardsigmoid hardswish hardtanh leaky_relu log log10 log1p log2 mish nan_to_num
neg reciprocal relu relu6 round rsqrt selu sgn sigmoid sign silu sin sinh softplus sqrt square
tan tanh tril triu trunc
"""
BINARY = """
add atan2 bitwise_and bitwise_or bitwise_xor div floor_divide fmax fmin fmod maximum minimum
mul pow remainder rsub sub
"""
COMPARISONS = "eq ge gt le logical_and logical_or logical_xor lt ne"
BACKWARD: dict[str, tuple[Any, ...]] = {
    "gelu_backward": (),
    "hardsigmoid_backward": (),
    "hardswish_backward": (),
    "hardtanh_backward": (0, 1),
    "leaky_relu_backward": (0.1, False),
    "mish_backward": (),
    "sigmoid_backward": (),
    "silu_backward": (),
    "softplus_backward": (1, 20),
    "tanh_backward": (),
    "threshold_backward": (0,),
}
NO_IN_PLACE = {"fmax", "fmin", "maximum", "minimum", "rsub"}
NO_NUMBERS = NO_IN_PLACE - {"rsub"} | {"atan2"}
EXTRA: dict[str, tuple[Any, ...]] = {"clamp": (0, 1), "clamp_max": (1,), "clamp_min": (0,)}


def unary() -> Iterator[Call]:
    for name in UNARY.split():
        bits = name == "bitwise_not"
        dtype = INT if bits else BF16
        more = EXTRA.get(name, ())
        yield Call(name, tensor(3, 1, 4, dtype=dtype).expand(3, 5, 4), *more, note="expanded")
        yield Call(name, tensor(4, 6, dtype=INT if bits else DOUBLE).t(), *more, note="transposed")
        yield Call(
            f"{name}_" if hasattr(torch.ops.aten, f"{name}_") else name,
            tensor(2, 3, dtype=dtype),
            *more,
            note="in place",
        )
    yield Call("relu", tensor(2, 3, dtype=INT), note="integers")
    yield Call("exp", tensor(0, 3), note="empty")
    yield Call("exp", tensor(), note="no axes")
    yield Call("sin", tensor(3), out=tensor(3), note="out")
    yield Call("sqrt", tensor(3, dtype=LONG), note="of integers")
    yield Call("clamp", tensor(3, 4), tensor(4), None, note="a tensor below")
    yield Call("clamp", tensor(3, 4), None, tensor(), note="a tensor above")
    for name in ("isfinite", "isinf", "isnan", "logical_not"):
        yield Call(name, tensor(3, 4, dtype=HALF), note="half")
    yield Call("logical_not_", tensor(3, dtype=BOOL), note="in place")
    yield Call("logical_not_", tensor(3), note="floats in place")


def binary() -> Iterator[Call]:
    for name in BINARY.split():
        dtype = INT if name.startswith("bitwise") else HALF
        column, row = tensor(4, 1, dtype=dtype), tensor(5, dtype=dtype)
        yield Call(name, column, row, note="broadcast")
        if name not in NO_NUMBERS:
            yield Call(name, tensor(4, 5, dtype=dtype), 2, note="a number")
        yield Call(name, tensor(4, 5, dtype=dtype), tensor(dtype=dtype), note="no axes")
        if name not in NO_IN_PLACE:
            yield Call(f"{name}_", tensor(4, 5, dtype=dtype), row.expand(4, 5), note="in place")
    yield from (Call(name, tensor(3, 4), tensor(3, 4), *more) for name, more in BACKWARD.items())
    yield Call("elu_backward", tensor(3, 4), 1, 1, 1, False, tensor(3, 4))
    yield Call("add", tensor(3, 4), tensor(4), out=tensor(3, 4), note="out")
    yield Call("add", tensor(0, 4), tensor(1, 4), note="empty")
    yield Call("add", tensor(), tensor(), note="neither has axes")
    yield Call("add", tensor(3, 1, 2), tensor(2, 1), alpha=2, note="three axes")
    yield Call("mul", tensor(3), 2.0, function=torch.mul, note="a float")
    yield Call("mul", tensor(3), 2, function=torch.mul, note="an int")
    yield Call("mul", tensor(3), tensor(3, dtype=DOUBLE), note="wider second")
    yield Call("mul", tensor(3, dtype=BF16), tensor(3), note="wider second, narrow")
    yield Call("mul", tensor(3), tensor(3, dtype=LONG), note="integers and floats")
    yield Call("mul", tensor(3, dtype=LONG), 2.0, note="integers and a float")
    yield Call("mul", tensor(3, dtype=BOOL), 2, note="bool and an int")
    yield Call("mul", tensor(3, dtype=HALF), tensor(3, dtype=BF16), note="half and bfloat16")
    yield Call("div", tensor(3, dtype=LONG), tensor(3, dtype=LONG), note="integers")
    yield Call("mul_", tensor(3, dtype=HALF), tensor(3), note="wider second, in place")
    yield Call("mul", tensor(3, dtype=HALF), tensor(3, dtype=HALF), out=tensor(3), note="wider out")
    yield Call("pow", 2, tensor(3), note="a number first")
    yield Call("rsub", tensor(3), 1.0, function=torch.rsub, note="a float")
    for name in COMPARISONS.split():
        yield Call(name, tensor(4, 1), tensor(5), note="broadcast")
        yield Call(f"{name}_", tensor(4, dtype=BOOL), tensor(4, dtype=BOOL), note="in place")
    yield Call("gt", tensor(4, dtype=DOUBLE), 1, note="a number")
    yield Call("eq_", tensor(4), tensor(4), note="floats in place")


def elementwise() -> Iterator[Call]:
    is_wanted = index(3, 1).bool()
    yield Call("where", is_wanted, tensor(4), tensor(3, 4), note="broadcast")
    yield Call("where", is_wanted, tensor(4, dtype=HALF), tensor(dtype=HALF), note="no axes")
    yield Call(
        "where", is_wanted, tensor(4, dtype=HALF), 0.0, function=torch.where, note="a number"
    )
    yield Call("where", is_wanted, 0.0, tensor(4), function=torch.where, note="a number first")
    yield Call("addcmul", tensor(3, 1), tensor(4), tensor(3, 4), value=2)
    yield Call("addcdiv", tensor(3, 4), tensor(4), tensor(3, 1))
    yield Call("addcmul_", tensor(3, 4), tensor(4), tensor(3, 4), value=2)
    yield Call("addcdiv_", tensor(3, 4), tensor(4), tensor(3, 1))
    yield Call("lerp", tensor(3, 4), tensor(4), tensor(3, 1))
    yield Call("lerp", tensor(3, 4), tensor(4), 0.5, note="a number")
    yield Call("lerp_", tensor(3, 4), tensor(4), 0.5)
    mask = index(3).bool()
    yield Call("masked_fill_", tensor(2, 3), mask, 1.0, read=mask)
    source = tensor(6)
    yield Call("masked_scatter_", tensor(2, 3), mask, source, note="not a fill")
    yield Call("native_dropout", tensor(3, 4), 0.5, True)
    yield Call("native_dropout_backward", tensor(3, 4), index(3, 4).bool(), 2.0)
    for name, more in (
        ("bernoulli_", (0.5,)),
        ("normal_", ()),
        ("random_", ()),
        ("uniform_", ()),
        ("exponential_", ()),
    ):
        yield Call(name, tensor(3, 4, dtype=HALF), *more, read=0)
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss"):
        pair = (tensor(3, 4), tensor(3, 4))
        if name != "l1_loss":
            yield Call(name, *pair, 0, note="none")
            yield Call(name, *pair, 2, note="sum")
        yield Call(name, *pair, note="mean")
    losses = (tensor(), tensor(3, 4), tensor(3, 4))
    yield Call("mse_loss_backward", *losses, 1)
    yield Call("smooth_l1_loss_backward", *losses, 1, 1.0)
    yield Call("log_sigmoid_forward", tensor(3, 4))


def products() -> Iterator[Call]:
    yield Call("mm", tensor(4, 5, dtype=BF16), tensor(6, 5, dtype=BF16).t())
    yield Call("mm", tensor(4, 5), tensor(5, 6), out=tensor(4, 6), note="out")
    yield Call("mm", tensor(4, 0), tensor(0, 6), note="empty")
    yield Call("_int_mm", tensor(32, 8, dtype=torch.int8), tensor(8, 16, dtype=torch.int8))
    yield Call("mv", tensor(4, 5), tensor(5))
    yield Call("addmv", tensor(4), tensor(4, 5), tensor(5))
    yield Call("dot", tensor(5), tensor(5))
    yield Call("vdot", tensor(5), tensor(5))
    yield Call("bmm", tensor(1, 4, 5).expand(2, 4, 5), tensor(2, 5, 6))
    yield Call("addmm", tensor(6), tensor(4, 5), tensor(5, 6))
    yield Call("_addmm_activation", tensor(6), tensor(4, 5), tensor(5, 6))
    yield Call("baddbmm", tensor(1, 4, 6), tensor(2, 4, 5), tensor(2, 5, 6))
    yield Call("addbmm", tensor(4, 6), tensor(2, 4, 5), tensor(2, 5, 6))
    yield Call("linear", tensor(2, 3, 5, dtype=HALF), tensor(6, 5, dtype=HALF))
    yield Call("linear", tensor(2, 3, 5), tensor(6, 5), tensor(6), note="bias")
    yield Call("linear", tensor(5), tensor(6, 5), note="a vector")
    yield Call(
        "_weight_int8pack_mm",
        tensor(4, 32, dtype=BF16),
        tensor(8, 32, dtype=torch.int8),
        tensor(8, dtype=BF16),
    )
    for dtype, note in ((BF16, "bfloat16"), (None, "")):
        first = tensor(16, 32, dtype=torch.float8_e4m3fn)
        second = tensor(16, 32, dtype=torch.float8_e4m3fn).t()
        yield Call("_scaled_mm", first, second, tensor(), tensor(), out_dtype=dtype, note=note)
    for note, ends, *shapes in (
        ("rows of each group", [2, 6], (6, 16), (2, 16, 8)),
        ("matrices of the same size", None, (2, 6, 16), (2, 16, 8)),
        ("sums of each group", [8, 16], (8, 16), (16, 8)),
        ("columns of each group", [4, 8], (2, 6, 16), (16, 8)),
    ):
        factors = [tensor(*shape, dtype=BF16) for shape in shapes]
        offsets = None if ends is None else torch.tensor(ends, dtype=INT)
        yield Call("_grouped_mm", *factors, offsets, read=factors, note=note)


def convolutions() -> Iterator[Call]:
    image, weight = tensor(2, 4, 9, 11), tensor(6, 4, 3, 3)
    plain = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    strided = ([2, 1], [1, 2], [2, 1], False, [0, 0], 1)
    upwards = ([2, 2], [1, 1], [1, 1], True, [1, 0], 2)
    up_weight = tensor(4, 3, 3, 3)
    for bias in (None, tensor(6)):
        yield Call("convolution", image, weight, bias, *plain, note=f"bias {bias is not None}")
        yield Call("convolution", image, weight, bias, *strided, note=f"strided {bias is not None}")
        yield Call("convolution", image, up_weight, bias, *upwards, note=f"up {bias is not None}")
    yield Call(
        "convolution",
        tensor(2, 4, 9),
        tensor(6, 2, 3),
        None,
        [1],
        [0],
        [1],
        False,
        [0],
        2,
        note="one axis",
    )
    gradient = functional.conv2d(image, weight)
    for wanted in ([True, True, True], [True, False, False], [False, True, True]):
        read = [gradient] + [weight] * wanted[0] + [image] * wanted[1]
        yield Call(
            "convolution_backward",
            gradient,
            image,
            weight,
            [6],
            *plain,
            wanted,
            read=read,
            note=str(wanted),
        )
    up = functional.conv_transpose2d(image, up_weight, None, [2, 2], [1, 1], [1, 0], 2)
    yield Call(
        "convolution_backward", up, image, up_weight, [6], *upwards, [True, True, True], note="up"
    )
    yield Call("mkldnn_convolution", image, weight, tensor(6), [1, 2], [2, 1], [1, 1], 1)


def norms() -> Iterator[Call]:
    image = tensor(2, 4, 3, 5)
    channel = tensor(4)
    for dtype in (FLOAT, BF16):
        x, last = tensor(2, 3, 8, dtype=dtype), tensor(8, dtype=dtype)
        yield Call("layer_norm", x, [8], last, last.clone())
        yield Call("layer_norm", x, [8], None, None)
        yield Call("layer_norm", x, [8], last)
        yield Call("rms_norm", x, [8], last)
        yield Call("rms_norm", x, [8])
    yield Call("_fused_rms_norm", tensor(3, 8), [8], tensor(8), 1e-5)
    yield Call("native_layer_norm", tensor(3, 8), [8], tensor(8), tensor(8), 1e-5)
    yield Call("group_norm", image, 2, channel, channel.clone())
    yield Call("group_norm", image, 2)
    yield Call("native_group_norm", image, channel, channel.clone(), 2, 4, 15, 2, 1e-5)
    yield Call(
        "native_batch_norm",
        image,
        channel,
        channel.clone(),
        channel.clone(),
        channel.clone(),
        True,
        0.1,
        1e-5,
    )
    yield Call(
        "native_batch_norm",
        image,
        channel,
        channel.clone(),
        channel.clone(),
        channel.clone(),
        False,
        0.1,
        1e-5,
        note="inference",
    )
    yield Call("_native_batch_norm_legit", image, channel, channel.clone(), True, 0.1, 1e-5)
    yield Call(
        "_batch_norm_with_update",
        image,
        channel,
        channel.clone(),
        channel.clone(),
        channel.clone(),
        0.1,
        1e-5,
    )
    rows, all_wanted = tensor(3, 8), [True, True, True]
    mean = tensor(3, 1)
    yield Call(
        "native_layer_norm_backward",
        rows,
        rows.clone(),
        [8],
        mean,
        mean.clone(),
        tensor(8),
        tensor(8),
        all_wanted,
    )
    yield Call(
        "native_group_norm_backward",
        image,
        image.clone(),
        tensor(2, 2),
        tensor(2, 2),
        channel,
        2,
        4,
        15,
        2,
        all_wanted,
    )
    yield Call(
        "native_batch_norm_backward",
        image,
        image.clone(),
        channel,
        channel.clone(),
        channel.clone(),
        channel.clone(),
        channel.clone(),
        True,
        1e-5,
        all_wanted,
    )
    yield Call("_softmax", tensor(3, 4, dtype=HALF), -1, False)
    yield Call("_log_softmax", tensor(3, 4), 0, False)
    yield Call("_softmax_backward_data", tensor(3, 4), tensor(3, 4), -1, FLOAT)
    yield Call("_log_softmax_backward_data", tensor(3, 4), tensor(3, 4), -1, FLOAT)


def reductions() -> Iterator[Call]:
    x = tensor(3, 1, 5).expand(3, 4, 5)
    for name in ("amax", "amin", "logsumexp", "mean", "nansum", "std", "sum", "var"):
        yield Call(name, x, [-1], note="last axis")
        yield Call(name, x.double(), [0, 2], keepdim=True, note="two axes, kept")
    for name in ("mean", "nansum", "prod", "std", "sum", "var", "max", "min"):
        yield Call(name, tensor(3, 4, dtype=BF16), note="all")
    yield Call("prod", x, -2, note="an axis")
    yield Call("sum", x, [], note="no axes")
    yield Call("amax", x, [], note="no axes")
    yield Call("sum", tensor(0, 4), [0], note="empty")
    yield Call("sum", x, [0], out=tensor(4, 5), note="out")
    yield Call("sum", tensor(3, 4, dtype=INT), note="integers")
    yield Call("sum", tensor(3, 4, dtype=BOOL), [1], note="bool")
    yield Call("prod", tensor(3, 4, dtype=INT), 1, note="integers")
    yield Call("sum", tensor(3, 4, dtype=HALF), [1], dtype=FLOAT, note="dtype")
    yield Call("sum", tensor(3, 4, dtype=HALF), dtype=FLOAT, note="dtype, all")
    yield Call("mean", tensor(3, 4, dtype=HALF), [1], dtype=FLOAT, note="dtype")
    yield Call("std", x, [1], correction=0, note="correction")
    yield Call("var_mean", x, [1], correction=0)
    yield Call("std_mean", tensor(3, 4, dtype=BF16), note="all")
    for name in ("all", "any"):
        yield Call(name, tensor(3, 4, dtype=BOOL))
        yield Call(name, tensor(3, 4), -1, note="an axis")
        yield Call(name, tensor(3, 4), [0, 1], note="two axes")
    for name in ("argmax", "argmin"):
        yield Call(name, tensor(3, 4, dtype=HALF))
        yield Call(name, tensor(3, 4), -1, True, note="an axis")
    for name in ("max", "min"):
        yield Call(name, x, -1, note="an axis")
        yield Call(name, tensor(3, 1), tensor(4), note="two tensors")
    yield Call("linalg_vector_norm", x)
    yield Call("linalg_vector_norm", x, 2, [-1], True, note="an axis")
    yield Call("linalg_vector_norm", tensor(3, 4, dtype=BF16), 2, [-1], dtype=FLOAT, note="dtype")
    for name in ("cumsum", "cumprod"):
        yield Call(name, x, 1)
        yield Call(name, tensor(3, dtype=INT), 0, note="integers")
    yield Call("cumsum", tensor(3, dtype=HALF), 0, dtype=FLOAT, note="dtype")


def pooling() -> Iterator[Call]:
    image = tensor(2, 4, 9, 11)
    for note, more in (
        ("all settings", ([3, 3], [2, 2], [1, 1], [1, 1])),
        ("a stride", ([3, 3], [2, 2])),
        ("a kernel", ([3, 3],)),
        ("one for all axes", (3, 2, 1)),
        ("ceil", ([3, 3], [2, 2], [1, 1], [1, 1], True)),
        ("larger by ceil", ([2, 2], [2, 2], [0, 0], [1, 1], True)),
    ):
        yield Call("max_pool2d_with_indices", image, *more, note=note)
    yield Call("max_pool2d_with_indices", image[0], [3, 3], [2, 2], note="one image")
    yield Call("max_pool3d_with_indices", tensor(2, 4, 5, 6, 7), [2, 2, 2], [2, 2, 2])
    pooled, places = torch.ops.aten.max_pool2d_with_indices(image, [3, 3], [2, 2])
    yield Call(
        "max_pool2d_with_indices_backward",
        pooled,
        image,
        [3, 3],
        [2, 2],
        [0, 0],
        [1, 1],
        False,
        places,
        read=(pooled, places),
    )
    yield Call("_adaptive_avg_pool2d", image, [2, 3])
    yield Call("_adaptive_avg_pool2d", image[0], [2, 3], note="one image")
    yield Call("_adaptive_avg_pool3d", tensor(2, 4, 5, 6, 7), [2, 3, 2])
    yield Call("adaptive_avg_pool1d", tensor(2, 4, 9), [3])
    scales = {
        "upsample_nearest1d": 1,
        "_upsample_nearest_exact1d": 1,
        "upsample_nearest2d": 2,
        "_upsample_nearest_exact2d": 2,
        "upsample_nearest3d": 3,
    }
    for name, axes in scales.items():
        image = tensor(2, 4, *[3] * axes, dtype=BF16)
        yield Call(name, image, [6] * axes)
        yield Call(name, image, None, [2.0] * axes, note="scales")
    yield Call("upsample_linear1d", tensor(2, 4, 3), [6], False)
    for name in (
        "upsample_bilinear2d",
        "upsample_bicubic2d",
        "_upsample_bilinear2d_aa",
        "_upsample_bicubic2d_aa",
    ):
        yield Call(name, tensor(2, 4, 3, 5), [6, 10], False)
        yield Call(name, tensor(2, 4, 3, 5), None, False, [2.0, 2.0], note="scales")


def gathers() -> Iterator[Call]:
    table, few = tensor(1000, 8, dtype=BF16), index(2, 3, below=1000)
    rows = 6 * 8 * 2
    yield Call("embedding", table, few, read=bytes_of(few) + rows)
    yield Call("embedding_dense_backward", tensor(2, 3, 8), few, 1000, -1, False)
    picked = torch.tensor([3, 0, 3])
    for axis in (0, 1, -1):
        source = tensor(4, 5, 6)
        size = source.numel() // source.shape[axis] * 3 * 4
        yield Call(
            "index_select", source, axis, picked, read=bytes_of(picked) + size, note=f"axis {axis}"
        )
    yield Call("index_select", tensor(5), 0, picked, read=bytes_of(picked) + 12, note="a vector")
    places = index(2, 3)
    yield Call("gather", tensor(4, 5), 0, places, read=bytes_of(places) + 24)
    yield Call(
        "scatter_", tensor(4, 5), 0, places, tensor(2, 3), read=bytes_of(places) + 24, written=24
    )
    yield Call(
        "scatter_",
        tensor(4, 5),
        0,
        places,
        tensor(4, 5),
        read=bytes_of(places) + 24,
        written=24,
        note="larger source",
    )
    yield Call("scatter_", tensor(4, 5), 0, places, 2.0, read=places, written=24, note="a number")
    yield Call(
        "scatter_add_",
        tensor(4, 5),
        0,
        places,
        tensor(2, 3),
        read=bytes_of(places) + 48,
        written=24,
    )
    added = tensor(3, 5)
    yield Call(
        "index_add_", tensor(4, 5), 0, picked, added, read=bytes_of(picked) + 2 * 60, written=60
    )
    yield Call(
        "index_copy_", tensor(4, 5), 0, picked, added, read=bytes_of(picked) + 60, written=60
    )
    row = tensor(5).expand(3, 5)
    yield Call(
        "index_add_",
        tensor(4, 5),
        0,
        picked,
        row,
        note="a repeated row",
        read=bytes_of(picked) + 20 + 60,
        written=60,
    )


def copies() -> Iterator[Call]:
    for source in (tensor(3, 4), tensor(4), tensor(3, 4, dtype=HALF), tensor()):
        yield Call("copy_", tensor(3, 4), source, read=source, note=f"{source.dtype} {source.ndim}")
    yield Call("copy_", tensor(3, 0), tensor(3, 0), note="empty")
    yield Call("fill_", tensor(3, 4, dtype=HALF), 1, read=0)
    yield Call("fill_", tensor(3, 4), tensor(), note="a tensor", read=tensor())
    yield Call("zero_", tensor(64, 64), read=0)
    yield Call("_local_scalar_dense", tensor(dtype=LONG), written=8)
    yield Call("_local_scalar_dense", tensor(dtype=DOUBLE), written=8, note="double")
    for arguments in ((7,), (2, 7), (2, 7, 3), (7, 2, -2), (0, 1, 0.3)):
        yield Call("arange", *arguments, note=str(arguments))
    yield Call("arange", 5, dtype=INT, note="dtype")
    yield Call("eye", 3)
    yield Call("eye", 3, 4, note="not square")


def attention() -> Iterator[Call]:
    query, key, value = tensor(2, 4, 7, 8), tensor(2, 4, 9, 8), tensor(2, 4, 9, 8)
    mask = tensor(7, 9)
    yield Call("scaled_dot_product_attention", query, key, value)
    for attn_mask in (mask, tensor(2, 4, 7, 9), mask.bool()):
        yield Call(
            "scaled_dot_product_attention",
            query,
            key,
            value,
            attn_mask=attn_mask,
            note=f"mask {attn_mask.ndim} {attn_mask.dtype}",
        )
    shared = tensor(2, 2, 9, 8)
    yield Call(
        "scaled_dot_product_attention",
        query,
        shared,
        shared.clone(),
        enable_gqa=True,
        note="grouped queries",
    )
    yield Call("_scaled_dot_product_attention_math", query, key, value, mask)
    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    output, sums = flash(query, key, value)
    name = "_scaled_dot_product_flash_attention_for_cpu"
    yield Call(name, query, key, value)
    yield Call(name, query, key, value, attn_mask=mask, note="mask")
    for gradient in (output.clone(), torch.ones(()).expand(output.shape)):
        yield Call(
            f"{name}_backward",
            gradient,
            query,
            key,
            value,
            output,
            sums,
            0.0,
            False,
            note=f"stride {gradient.stride(-1)}",
        )


GROUPS = (
    unary,
    binary,
    elementwise,
    products,
    convolutions,
    norms,
    reductions,
    pooling,
    gathers,
    copies,
    attention,
)


def main() -> None:
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    calls = [call for group in GROUPS for call in group()]
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        for number, call in enumerate(calls):
            with record_function(f"call: {number}"):
                call.run()
    profiler.export_chrome_trace(sys.argv[1])
    print(json.dumps([call.measured() for call in calls]))


if __name__ == "__main__":
    main()
