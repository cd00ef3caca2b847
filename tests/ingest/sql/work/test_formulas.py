"""Formulas of operators that no CPU runs, and whose work counts, on small traces.

Expected figures are arithmetic from the definition of the operator. Arguments come in the order of
its schema: in torch, or in the sources of vLLM, SGLang, flash-attention, xformers and AITER.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.builders.events import Event, op
from tests.builders.relations import built

HERE = Path(__file__).parent
BF16, F32, HALF, F8 = "c10::BFloat16", "float", "c10::Half", "c10::Float8_e4m3fn"
COMPLEX = "c10::complex<float>"
I8, I32, I64, BOOL = "signed char", "int", "long int", "bool"
WORK = """
    SELECT ops.name, formula, flops, bytes_read, bytes_written, bytes_at_most
    FROM op_work INNER JOIN ops ON op_id = event_id
    ORDER BY ops.start_ns
"""


class Tensor(NamedTuple):
    """An argument that is a tensor."""

    type: str
    shape: Sequence[int | str]


class Tensors(NamedTuple):
    """An argument that is a list of tensors."""

    shapes: Sequence[Sequence[int]]


# A tensor, tensors, the text of a number or list, or nothing.
Argument = Tensor | Tensors | str | None


def bf16(*shape: int) -> Tensor:
    return Tensor(BF16, shape)


def f32(*shape: int) -> Tensor:
    return Tensor(F32, shape)


def half(*shape: int) -> Tensor:
    return Tensor(HALF, shape)


def f8(*shape: int) -> Tensor:
    return Tensor(F8, shape)


def u8(*shape: int) -> Tensor:
    return Tensor("unsigned char", shape)


def i8(*shape: int) -> Tensor:
    return Tensor(I8, shape)


def i32(*shape: int) -> Tensor:
    return Tensor(I32, shape)


def i64(*shape: int) -> Tensor:
    return Tensor(I64, shape)


def call(name: str, *arguments: Argument, ts: float = 1, dur: float = 1, tid: int = 1) -> Event:
    """Return the event of a call, with its arguments as torch records them."""
    recorded = [recorded_as(argument) for argument in arguments]
    keys = ("Input Dims", "Input type", "Concrete Inputs")
    args = dict(zip(keys, map(list, zip(*recorded, strict=True)), strict=True))
    return op(name, ts, dur, tid=tid, args=args)


def recorded_as(argument: Argument) -> tuple[Sequence[Any], str, str]:
    """Return the dimensions, the type and the value of an argument, as torch records them."""
    match argument:
        case Tensor(type, shape):
            return shape, type, ""
        case Tensors(shapes):
            return shapes, "TensorList", ""
        case None:
            return [], "", ""
        case _:
            return [], "ScalarList" if argument.startswith("[") else "Scalar", argument


class Case(NamedTuple):
    """A call, and its work: operations, bytes read, bytes written, and bytes at most."""

    name: str
    arguments: tuple[Argument, ...]
    flops: int | None
    read: int | None
    written: int | None
    at_most: int | None = None


# [m, k] times [k, n]
M, K, N = 32, 64, 16
PRODUCT = 2 * M * K * N
GROUPS = i32(2)
PRODUCTS = [
    Case("aten::mm", (bf16(M, K), bf16(K, N)), PRODUCT, 2 * (M * K + K * N), 2 * M * N),
    Case("aten::_int_mm", (i8(M, K), i8(K, N)), PRODUCT, M * K + K * N, 4 * M * N),
    Case("aten::mv", (f32(M, K), f32(K)), 2 * M * K, 4 * (M * K + K), 4 * M),
    Case("aten::dot", (f32(K), f32(K)), 2 * K, 4 * 2 * K, 4),
    Case(
        "aten::addbmm",
        (bf16(M, N), bf16(3, M, K), bf16(3, K, N)),
        3 * PRODUCT,
        2 * (M * N + 3 * M * K + 3 * K * N),
        2 * M * N,
    ),
    Case(
        "mkldnn::_linear_pointwise",
        (bf16(2, M, K), bf16(N, K), bf16(N), "relu", "[]", None),
        2 * PRODUCT,
        2 * (2 * M * K + N * K + N),
        2 * 2 * M * N,
    ),
    Case(
        "vllm::rocm_unquantized_gemm",
        (bf16(M, K), bf16(N, K), None),
        PRODUCT,
        2 * (M * K + N * K),
        2 * M * N,
    ),
    Case(
        "aten::_scaled_mm",
        (f8(M, K), f8(K, N), f32(M, 1), f32(1, N), bf16(N), None, "15", "True"),
        PRODUCT,
        M * K + K * N + 4 * (M + N) + 2 * N,
        2 * M * N,
    ),
    Case(
        "aten::_scaled_mm",
        (f8(M, K), f8(K, N), f32(), f32(), None, None, "6", "False"),
        PRODUCT,
        M * K + K * N + 4 + 4,
        4 * M * N,
    ),
    Case(
        "aten::_scaled_mm",
        (f8(M, K), f8(K, N), f32(), f32(), None, None, None, "False"),
        PRODUCT,
        M * K + K * N + 4 + 4,
        M * N,
    ),
    Case(
        "aten::_scaled_mm_v2",
        (f8(M, K), f8(K, N), Tensors([[M, 1]]), "[1]", "[0]", Tensors([[1, N]]), "[1]", "[0]"),
        PRODUCT,
        M * K + K * N,
        None,
    ),
    Case(
        "_C::cutlass_scaled_mm",
        (bf16(M, N), f8(M, K), f8(K, N), f32(M, 1), f32(1, N), bf16(N)),
        PRODUCT,
        M * K + K * N + 4 * (M + N) + 2 * N,
        2 * M * N,
    ),
    Case(
        "_C::cutlass_scaled_mm_azp",
        (bf16(M, N), i8(M, K), i8(K, N), f32(M, 1), f32(1, N), i32(1, N), None, None),
        PRODUCT,
        M * K + K * N + 4 * (M + N) + 4 * N,
        2 * M * N,
    ),
    Case(
        "sgl_kernel::fp8_scaled_mm",
        (f8(M, K), f8(K, N), f32(M, 1), f32(1, N), "15", bf16(N)),
        PRODUCT,
        M * K + K * N + 4 * (M + N) + 2 * N,
        2 * M * N,
    ),
    Case(
        "sgl_kernel::int8_scaled_mm",
        (i8(M, K), i8(K, N), f32(M, 1), f32(1, N), "6", None),
        PRODUCT,
        M * K + K * N + 4 * (M + N),
        4 * M * N,
    ),
    # The weight is [N / 8, K / (16 * tiles), 32, tiles / 2], here with 2 tiles.
    Case(
        "aten::_weight_int4pack_mm",
        (bf16(M, K), i32(N // 8, K // 32, 32, 1), "32", bf16(K // 32, N, 2)),
        PRODUCT,
        2 * M * K + N * K // 2 + 2 * (K // 32 * N * 2),
        2 * M * N,
    ),
    # Eight weights in an integer: of a row, or of a column.
    Case(
        "_C::awq_gemm",
        (half(M, K), i32(K, N // 8), half(2, N), i32(2, N // 8), "8"),
        PRODUCT,
        2 * M * K + K * N // 2 + 2 * 2 * N + 2 * N // 2,
        2 * M * N,
    ),
    Case(
        "_C::gptq_gemm",
        (half(M, K), i32(K // 8, N), i32(2, N // 8), half(2, N), i32(K), "True", "4"),
        PRODUCT,
        2 * M * K + K * N // 2 + 2 * N // 2 + 2 * 2 * N + 4 * K,
        2 * M * N,
    ),
    # Groups of rows, of matrices, of columns, and of the axis that is summed
    Case(
        "aten::_grouped_mm",
        (bf16(M, K), bf16(2, K, N), GROUPS, None, None),
        PRODUCT,
        2 * (M * K + 2 * K * N),
        2 * M * N,
    ),
    Case(
        "aten::_grouped_mm",
        (bf16(2, M, K), bf16(2, K, N), None, None, None),
        2 * PRODUCT,
        2 * (2 * M * K + 2 * K * N),
        2 * 2 * M * N,
    ),
    Case(
        "aten::_grouped_mm",
        (bf16(2, M, K), bf16(K, N), GROUPS, None, None),
        PRODUCT,
        2 * (2 * M * K + K * N),
        2 * M * N,
    ),
    Case(
        "aten::_grouped_mm",
        (bf16(M, K), bf16(K, N), GROUPS, None, "6"),
        PRODUCT,
        2 * (M * K + K * N),
        4 * 2 * M * N,
    ),
    Case(
        "aten::_scaled_grouped_mm",
        (f8(M, K), f8(2, K, N), f32(M), f32(2, N), GROUPS, None, None, "15", "True"),
        PRODUCT,
        M * K + 2 * K * N + 4 * (M + 2 * N),
        None,
    ),
    # 3 tokens of 8 numbers go to 2 of 4 experts with 5 hidden numbers, each with a gate.
    Case(
        "vllm::outplace_fused_experts",
        (bf16(3, 8), bf16(4, 2 * 5, 8), bf16(4, 8, 5), f32(3, 2), i32(3, 2), "silu"),
        3 * 2 * (2 * 8 * (2 * 5) + 2 * 5 * 8),
        None,
        2 * 3 * 8,
    ),
    # Two factors, and others, and the result
    Case(
        "triton_tem_fused_mm_0",
        (bf16(M, K), bf16(K, N), bf16(M, N), "32", "64"),
        PRODUCT,
        None,
        None,
        2 * (M * K + K * N + M * N),
    ),
    Case(
        "triton_tem_fused_bmm_1",
        (bf16(3, M, K), bf16(3, K, N), bf16(3, M, N)),
        3 * PRODUCT,
        None,
        None,
        2 * 3 * (M * K + K * N + M * N),
    ),
    Case(
        "triton_tem_fused_addmm_relu_2",
        (bf16(N), bf16(M, K), bf16(K, N), bf16(M, N), "7"),
        PRODUCT,
        None,
        None,
        2 * (N + M * K + K * N + M * N),
    ),
    Case(
        "triton_tem_fused_baddbmm_3",
        (bf16(3, M, N), bf16(3, M, K), bf16(3, K, N), bf16(3, M, N)),
        3 * PRODUCT,
        None,
        None,
        2 * 3 * (M * N + M * K + K * N + M * N),
    ),
]

# 4 channels become 6, with a kernel of 3 x 3: of 9 x 11 places, 5 x 13 are left with a padding of
# (1, 2) and a stride of (2, 1).
IMAGE, KERNEL, RESULT = bf16(2, 4, 9, 11), bf16(6, 4, 3, 3), bf16(2, 6, 5, 13)
STRIDE, PADDING, DILATION = "[2, 1]", "[1, 2]", "[1, 1]"
CONVOLVED = 2 * (2 * 6 * 5 * 13) * (4 * 3 * 3)
READ = 2 * (2 * 4 * 9 * 11 + 6 * 4 * 3 * 3)
WRITTEN = 2 * (2 * 6 * 5 * 13)
SETTINGS = (STRIDE, PADDING, DILATION)
CONVOLUTIONS = [
    Case(
        "aten::convolution",
        (IMAGE, KERNEL, bf16(6), *SETTINGS, "False", "[0, 0]", "1"),
        CONVOLVED,
        READ + 2 * 6,
        WRITTEN,
    ),
    Case(
        "aten::miopen_convolution",
        (IMAGE, KERNEL, None, PADDING, STRIDE, DILATION, "1", "False", "False"),
        CONVOLVED,
        READ,
        WRITTEN,
    ),
    Case(
        "aten::mkldnn_convolution",
        (IMAGE, KERNEL, bf16(6), PADDING, STRIDE, DILATION, "1"),
        CONVOLVED,
        READ + 2 * 6,
        WRITTEN,
    ),
    Case(
        "aten::cudnn_convolution",
        (IMAGE, KERNEL, PADDING, STRIDE, DILATION, "1", "False", "False", "True"),
        CONVOLVED,
        READ,
        WRITTEN,
    ),
    # Each channel for itself
    Case(
        "aten::cudnn_convolution",
        (IMAGE, bf16(4, 1, 3, 3), PADDING, STRIDE, DILATION, "4", "False", "False", "True"),
        2 * (2 * 4 * 5 * 13) * (1 * 3 * 3),
        2 * (2 * 4 * 9 * 11 + 4 * 3 * 3),
        2 * (2 * 4 * 5 * 13),
    ),
    Case(
        "aten::cudnn_convolution_relu",
        (IMAGE, KERNEL, bf16(6), *SETTINGS, "1"),
        CONVOLVED,
        READ + 2 * 6,
        WRITTEN,
    ),
    Case(
        "aten::miopen_convolution_relu",
        (IMAGE, KERNEL, None, *SETTINGS, "1"),
        CONVOLVED,
        READ,
        WRITTEN,
    ),
    Case(
        "aten::cudnn_convolution_backward_input",
        ("[2, 4, 9, 11]", RESULT, KERNEL, PADDING, STRIDE, DILATION, "1"),
        CONVOLVED,
        2 * (2 * 6 * 5 * 13 + 6 * 4 * 3 * 3),
        None,
    ),
    Case(
        "aten::cudnn_convolution_backward_weight",
        ("[6, 4, 3, 3]", RESULT, IMAGE, PADDING, STRIDE, DILATION, "1"),
        None,
        2 * (2 * 6 * 5 * 13 + 2 * 4 * 9 * 11),
        None,
    ),
    Case(
        "triton_tem_fused_convolution_0",
        (IMAGE, KERNEL, RESULT),
        CONVOLVED,
        None,
        None,
        READ + WRITTEN,
    ),
]

# 2 batches, 4 heads, 7 queries and 9 keys of 8 numbers, and values of 6
QUERY, KEYS, VALUES = bf16(2, 4, 7, 8), bf16(2, 4, 9, 8), bf16(2, 4, 9, 6)
OUTPUT, SUMS = bf16(2, 4, 7, 6), f32(2, 4, 7)
MASK = bf16(7, 9)
ATTENTION = 2 * (2 * 4) * 7 * 9 * (8 + 6)
INPUTS = 2 * (2 * 4) * (7 * 8 + 9 * 8 + 9 * 6)
OUTPUTS = 2 * (2 * 4) * 7 * 6
# The same with the heads after the length
QUERY_2, KEYS_2, VALUES_2 = bf16(2, 7, 4, 8), bf16(2, 9, 4, 8), bf16(2, 9, 4, 6)
OUTPUT_2 = bf16(2, 7, 4, 6)
# Sequences one after another: 14 queries, 18 keys
QUERY_3, KEYS_3, VALUES_3 = bf16(14, 4, 8), bf16(18, 4, 8), bf16(18, 4, 6)
ENDS = i32(3)
FORWARD = [
    Case("aten::scaled_dot_product_attention", (QUERY, KEYS, VALUES), ATTENTION, INPUTS, OUTPUTS),
    Case(
        "aten::_scaled_dot_product_flash_attention",
        (QUERY, KEYS, VALUES, "0.", "True", "False", None),
        ATTENTION,
        INPUTS,
        OUTPUTS,
    ),
    Case(
        "aten::_scaled_dot_product_efficient_attention",
        (QUERY, KEYS, VALUES, MASK, "True", "0.", "False", None),
        ATTENTION,
        INPUTS + 2 * 7 * 9,
        OUTPUTS,
    ),
    Case(
        "aten::_scaled_dot_product_cudnn_attention",
        (QUERY, KEYS, VALUES, None, "True", "0.", "False", "False", None),
        ATTENTION,
        INPUTS,
        OUTPUTS,
    ),
    Case(
        "aten::_scaled_dot_product_fused_attention_overrideable",
        (QUERY, KEYS, VALUES, MASK, "0.", "False", "False", None),
        ATTENTION,
        INPUTS + 2 * 7 * 9,
        OUTPUTS,
    ),
    Case(
        "aten::_flash_attention_forward",
        (QUERY_2, KEYS_2, VALUES_2, None, None, "7", "9", "0.", "False", "False"),
        ATTENTION,
        INPUTS,
        OUTPUTS,
    ),
    Case(
        "aten::_flash_attention_forward",
        (QUERY_3, KEYS_3, VALUES_3, ENDS, ENDS, "7", "9", "0.", "False", "False"),
        None,
        INPUTS,
        OUTPUTS,
    ),
    Case(
        "flash_attn::_flash_attn_forward",
        (QUERY_2, KEYS_2, VALUES_2, "0.", "0.35", "True", "-1", "-1", "0.", None, "False"),
        ATTENTION,
        INPUTS,
        OUTPUTS,
    ),
    Case(
        "aten::_efficient_attention_forward",
        (QUERY_2, KEYS_2, VALUES_2, bf16(2, 4, 7, 9), None, None, None, None, "0.", "0", "False"),
        ATTENTION,
        INPUTS + 2 * (2 * 4 * 7 * 9),
        OUTPUTS,
    ),
    Case(
        "xformers::efficient_attention_forward_cutlass",
        (QUERY_2, KEYS_2, VALUES_2, None, ENDS, ENDS, "7", "9", "0.", "0", "False"),
        None,
        INPUTS,
        OUTPUTS,
    ),
]
BACKWARD_READ = INPUTS + 2 * OUTPUTS
# The scores again; from those, the gradients of values and scores; from the latter, two gradients.
BACKWARD_FLOPS = 2 * (2 * 4) * 7 * 9 * (8 + 6 + 6 + 8 + 8)
BACKWARD = [
    Case(
        "aten::_scaled_dot_product_flash_attention_backward",
        (OUTPUT, QUERY, KEYS, VALUES, OUTPUT, SUMS, None, None, "7", "9", "0.", "False"),
        BACKWARD_FLOPS,
        BACKWARD_READ,
        INPUTS,
    ),
    Case(
        "aten::_scaled_dot_product_efficient_attention_backward",
        (OUTPUT, QUERY, KEYS, VALUES, None, OUTPUT, SUMS, i64(), i64(), "0.", "[True, True]"),
        BACKWARD_FLOPS,
        BACKWARD_READ,
        INPUTS,
    ),
    Case(
        "aten::_scaled_dot_product_cudnn_attention_backward",
        (OUTPUT, QUERY, KEYS, VALUES, OUTPUT, SUMS, i64(), i64(), None, None, None, "7", "9"),
        BACKWARD_FLOPS,
        BACKWARD_READ,
        INPUTS,
    ),
    Case(
        "aten::_scaled_dot_product_fused_attention_overrideable_backward",
        (OUTPUT, QUERY, KEYS, VALUES, None, "[True, True, True, False]", OUTPUT, SUMS),
        BACKWARD_FLOPS,
        BACKWARD_READ,
        INPUTS,
    ),
    Case(
        "aten::_flash_attention_backward",
        (OUTPUT_2, QUERY_2, KEYS_2, VALUES_2, OUTPUT_2, SUMS, None, None, "7", "9"),
        BACKWARD_FLOPS,
        BACKWARD_READ,
        INPUTS,
    ),
    Case(
        "flash_attn::_flash_attn_backward",
        (OUTPUT_2, QUERY_2, KEYS_2, VALUES_2, OUTPUT_2, SUMS, QUERY_2, KEYS_2, VALUES_2, "0."),
        BACKWARD_FLOPS,
        BACKWARD_READ,
        INPUTS,
    ),
    Case(
        "aten::_efficient_attention_backward",
        (OUTPUT_2, QUERY_2, KEYS_2, VALUES_2, None, OUTPUT_2, None, None, "7", "9", SUMS),
        BACKWARD_FLOPS,
        BACKWARD_READ,
        INPUTS,
    ),
]
ATTENTIONS = FORWARD + BACKWARD

# 24 rows of 8 numbers
ROWS, LAST, COUNT = bf16(3, 8, 8), bf16(8), 3 * 8 * 8
CHANNELS = f32(4)
NORMS = [
    Case("aten::layer_norm", (ROWS, "[8]", LAST, LAST), 5 * COUNT, 2 * COUNT + 2 * 16, 2 * COUNT),
    Case("aten::rms_norm", (ROWS, "[8]", LAST, "1e-5"), 3 * COUNT, 2 * COUNT + 16, 2 * COUNT),
    Case("aten::_softmax", (ROWS, "-1", "False"), 5 * COUNT, 2 * COUNT, 2 * COUNT),
    Case("aten::_softmax", (half(3, 8, 8), "-1", "True"), 5 * COUNT, 2 * COUNT, 4 * COUNT),
    Case(
        "aten::_softmax_backward_data",
        (ROWS, ROWS, "-1", "15"),
        4 * COUNT,
        2 * 2 * COUNT,
        2 * COUNT,
    ),
    Case(
        "aten::group_norm",
        (bf16(2, 4, 9), "2", bf16(4), bf16(4), "1e-5", "True"),
        5 * 72,
        2 * (72 + 4 + 4),
        2 * 72,
    ),
    Case(
        "aiter::_groupnorm_run",
        (bf16(2, 4, 9), "2", bf16(4), bf16(4), "1e-5"),
        5 * 72,
        2 * (72 + 4 + 4),
        2 * 72,
    ),
    # Newer versions have the result and a workspace first.
    Case(
        "aiter::_groupnorm_run",
        (bf16(2, 4, 9), f32(64), bf16(2, 4, 9), "2", bf16(4), bf16(4), "1e-5"),
        5 * 72,
        2 * (72 + 4 + 4),
        2 * 72,
    ),
    Case("_C::rms_norm", (ROWS, ROWS, LAST, "1e-6"), 3 * COUNT, 2 * COUNT + 16, 2 * COUNT),
    Case("sgl_kernel::rmsnorm", (ROWS, ROWS, LAST, "1e-6"), 3 * COUNT, 2 * COUNT + 16, 2 * COUNT),
    Case(
        "_C::fused_add_rms_norm",
        (ROWS, ROWS, LAST, "1e-6"),
        4 * COUNT,
        2 * 2 * COUNT + 16,
        2 * 2 * COUNT,
    ),
    Case(
        "aten::cudnn_batch_norm",
        (f32(2, 4, 9), CHANNELS, CHANNELS, CHANNELS, CHANNELS, "True", "0.1", "1e-5"),
        5 * 72,
        4 * (72 + 4 + 4),
        4 * 72,
    ),
    Case(
        "aten::miopen_batch_norm",
        (f32(2, 4, 9), CHANNELS, CHANNELS, CHANNELS, CHANNELS, "False", "0.1", "1e-5"),
        2 * 72,
        4 * (72 + 4 + 4),
        4 * 72,
    ),
    Case(
        "aten::cudnn_batch_norm_backward",
        (f32(2, 4, 9), f32(2, 4, 9), CHANNELS, CHANNELS, CHANNELS, CHANNELS, CHANNELS, "1e-5"),
        9 * 72,
        4 * 2 * 72,
        4 * 72,
    ),
]

LISTS = Tensors([[3, 4], [5]])
ELEMENTWISE = [
    Case("aten::gelu", (bf16(3, 4), "tanh"), 12, 24, 24),
    Case("aten::isnan", (bf16(3, 4),), 12, 24, 12),
    Case("aten::add", (f32(3, 1, 4), f32(5, 1), "1"), 60, 4 * (12 + 5), 4 * 60),
    Case("aten::mul_", (half(3, 4), f32(4)), 12, 24 + 16, 24),
    Case("aten::lt", (f32(3, 1), f32(4)), 12, 4 * (3 + 4), 12),
    Case("aten::where", (Tensor(BOOL, [3, 1]), f32(4), "0."), 12, 3 + 16, 4 * 12),
    Case("aten::addcmul", (f32(3, 4), f32(4), f32(3, 1), "1"), 12, 4 * (12 + 4 + 3), 4 * 12),
    Case("aten::_fused_dropout", (bf16(3, 4), "0.5", None), 12, 24, 24 + 12),
    Case("_C::silu_and_mul", (bf16(3, 8), bf16(3, 16)), 2 * 24, 2 * 48, 2 * 24),
    Case("sgl_kernel::gelu_tanh_and_mul", (bf16(3, 8), bf16(3, 16)), 2 * 24, 2 * 48, 2 * 24),
    Case("_C::static_scaled_fp8_quant", (f8(3, 8), bf16(3, 8), f32(1)), 24, 48 + 4, 24),
    Case("_C::dynamic_scaled_fp8_quant", (f8(3, 8), bf16(3, 8), f32(1)), 24, 48 + 4, 24),
    # A row of 6 elements takes two words, and 8 bytes for scale and bias.
    Case("fbgemm::FloatToFP8RowwiseQuantized", (f32(5, 6), "True"), 30, 4 * 30, 5 * (8 + 8)),
    Case("fbgemm::FP8RowwiseQuantizedToFloat", (u8(5, 16), "True"), 5 * 8, 5 * 16, 4 * 5 * 8),
    Case("fbgemm::FloatToHFP8Quantized", (f32(30), "4", "14", "1.9"), 30, 4 * 30, 30),
    Case("fbgemm::HFP8QuantizedToFloat", (u8(30), "4", "14"), 30, 30, 4 * 30),
    # One score and one index for each of 3 targets; the scores of other classes are not read.
    Case("aten::nll_loss_forward", (f32(3, 9), i64(3), None, "1", "-100"), 3, 4 * 3 + 8 * 3, None),
    Case("aten::mse_loss", (f32(3, 4), f32(3, 4), "1"), 12, 2 * 48, 4),
    Case("aten::_foreach_add_", (LISTS, LISTS, "1"), 12 + 5, None, None),
    Case("aten::_foreach_sqrt", (LISTS,), 12 + 5, None, None),
    Case("aten::_fused_adam_", (LISTS, LISTS, LISTS, LISTS), 13 * (12 + 5), None, None),
    Case("aten::_fused_adamw_", (LISTS, LISTS, LISTS, LISTS), 13 * (12 + 5), None, None),
    Case("aten::_fused_sgd_", (LISTS, LISTS, LISTS), 4 * (12 + 5), None, None),
    # 5 tokens, 4 heads of queries and 2 of keys with 8 numbers, and 8 cosines and sines for each
    Case(
        "_C::rotary_embedding",
        (i64(5), bf16(5, 32), bf16(5, 16), "8", bf16(100, 8), "True"),
        3 * (5 * 32 + 5 * 16),
        8 * 5 + 2 * 5 * 32 + 2 * 5 * 16 + 2 * 5 * 8,
        2 * 5 * 32 + 2 * 5 * 16,
    ),
    Case(
        "_C::rotary_embedding",
        (i64(5), bf16(5, 32), None, "8", bf16(100, 8), "True"),
        3 * 5 * 32,
        8 * 5 + 2 * 5 * 32 + 2 * 5 * 8,
        2 * 5 * 32,
    ),
    Case(
        "triton_poi_fused_add_gelu_7",
        (bf16(3, 4), bf16(4), bf16(3, 4), "12"),
        None,
        None,
        None,
        2 * (12 + 4 + 12),
    ),
    Case("triton_red_fused_sum_1", (f32(3, 4), f32(3), "3", "4"), None, None, None, 4 * (12 + 3)),
]

DATA = [
    Case("aten::sum", (bf16(3, 4, 5), "[0, -1]", "False", None), 60, 2 * 60, 2 * 4),
    Case("aten::sum", (bf16(3, 4, 5), None), 60, 2 * 60, 2),
    Case("aten::sum", (bf16(3, 4, 5), "[-1]", "True", "6"), 60, 2 * 60, 4 * 12),
    Case("aten::max", (bf16(3, 4), "1", "False"), 12, 2 * 12, (2 + 8) * 3),
    Case("aten::cumsum", (i32(3, 4), "1", None), 12, 4 * 12, 8 * 12),
    Case("aten::index", (f32(9, 4), Tensors([[3]])), 0, None, None),
    Case("aten::index_put_", (f32(9, 4), Tensors([[3]]), f32(3, 4), "False"), 0, None, None),
    Case("aten::cat", (Tensors([[3, 4], [3, 5]]), "1"), 0, None, None),
    # 5 tokens of 2 heads of 8 numbers, into blocks of 16 with 8-bit numbers
    Case(
        "_C_cache_ops::reshape_and_cache_flash",
        (bf16(5, 2, 8), bf16(5, 2, 8), f8(9, 16, 2, 8), f8(9, 16, 2, 8), i64(5), "fp8", f32()),
        0,
        2 * 2 * 80 + 8 * 5,
        2 * 80,
    ),
    Case("fbgemm::permute_pooled_embs_auto_grad", (f32(2, 8), i64(3), i64(2)), 0, 64, 64),
    Case("fbgemm::permute_2D_sparse_data", (i32(3), i32(2, 4), i64(9), None), 0, None, None),
    Case("fbgemm::bounds_check_indices", (i64(2), i64(9), i64(5), "1"), 0, 8 * (2 + 9 + 5), 0),
    Case("aten::embedding", (bf16(1000, 8), i64(2, 3), "-1"), 0, 8 * 6 + 2 * 6 * 8, 2 * 6 * 8),
    Case("aten::upsample_nearest2d", (bf16(2, 4, 3, 5), None, "[2., 2.]"), 0, 240, 4 * 240),
]
CASES = PRODUCTS + CONVOLUTIONS + ATTENTIONS + NORMS + ELEMENTWISE + DATA
# Nothing of their work follows from what is recorded.
UNKNOWN = [
    ("flash_attn::_flash_attn_varlen_forward", (QUERY_3, KEYS_3, VALUES_3, ENDS, ENDS, "7", "9")),
    ("vllm::unified_attention_with_output", (QUERY_3, KEYS_3, VALUES_3, QUERY_3, "layer")),
    ("fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function", (f32(0), f32(99))),
    ("vllm::moe_forward", (bf16(3, 8), bf16(3, 4), "layer")),
]


def test_work_follows_from_the_definition_of_the_operator() -> None:
    calls = [*((case.name, case.arguments) for case in CASES), *UNKNOWN]
    events = [call(name, *arguments, ts=2 * i) for i, (name, arguments) in enumerate(calls)]
    rows = [(name, *work) for name, _, *work in built(events).sql(WORK).fetchall()]
    expected = [(case.name, case.flops, case.read, case.written, case.at_most) for case in CASES]
    assert rows == expected


@pytest.mark.parametrize("value_size", [8, 6])
def test_attention_backward_is_what_torchs_counter_counts(value_size: int) -> None:
    counter = pytest.importorskip("torch.utils.flop_counter")
    query, keys, values = (2, 4, 7, 8), (2, 4, 9, 8), (2, 4, 9, value_size)
    output = (2, 4, 7, value_size)
    arguments = [bf16(*shape) for shape in (output, query, keys, values)]
    event = call("aten::_scaled_dot_product_flash_attention_backward", *arguments)
    counted = counter.sdpa_backward_flop_count(output, query, keys, values)
    assert [flops for _, _, flops, *_ in built([event]).sql(WORK).fetchall()] == [counted]


# Recorded types of operands, and the names of these types in torch. Left out are `double` without
# axes and a second `long int` of two operands without axes, which are recorded like numbers, and
# pairs whose result has a type of its own.
TYPES = {
    BOOL: "bool",
    "unsigned char": "uint8",
    I8: "int8",
    I32: "int32",
    I64: "int64",
    HALF: "float16",
    BF16: "bfloat16",
    F32: "float32",
    "double": "float64",
    COMPLEX: "complex64",
}
OTHER_RESULTS = (
    {"unsigned char", I8},
    {HALF, BF16},
    {COMPLEX, HALF},
    {COMPLEX, "double"},
)
NUMBERS = {"2": 2, "2.5": 2.5, "True": True}


def test_the_result_of_two_operands_has_the_type_of_torch() -> None:
    torch = pytest.importorskip("torch")

    def example(operand: Argument) -> Any:
        if isinstance(operand, Tensor):
            return torch.ones(operand.shape, dtype=getattr(torch, TYPES[operand.type]))
        return NUMBERS[str(operand)]

    tensors = [Tensor(type, shape) for type in TYPES for shape in ([3], [])]
    tensors.remove(Tensor("double", []))
    pairs: list[tuple[Argument, Argument]] = [
        (one, other)
        for one in tensors
        for other in tensors
        if {one.type, other.type} not in OTHER_RESULTS and (one.shape or other != Tensor(I64, []))
    ]
    pairs += [(tensor, number) for tensor in tensors for number in NUMBERS]
    events = [call("aten::mul", *pair, ts=2 * i) for i, pair in enumerate(pairs)]
    ours = [written for *_, written, _ in built(events).sql(WORK).fetchall()]
    theirs = [torch.mul(*map(example, pair)).nbytes for pair in pairs]
    assert [pair for pair, *two in zip(pairs, ours, theirs, strict=True) if two[0] != two[1]] == []


def test_every_formula_has_a_case() -> None:
    """The programs call operators of torch by name, so their text tells which ones."""
    words = re.findall(r"\w+", (HERE / "measured_operators.py").read_text())
    tested = {f"aten::{word}" for word in words}
    tested |= {case.name for case in CASES} | {name for name, _ in UNKNOWN}
    tested.add("cpp_fused")  # in test_fused.py
    formulas = built([op("x")]).sql("SELECT formula, listed_ops FROM work_formulas").fetchall()
    untested = [
        formula
        for formula, operators in formulas
        if not tested & set(operators)
        and not any(name.startswith(tuple(operators)) for name in tested if "triton_" in name)
    ]
    assert untested == []


MATRICES = (f32(4, 5), f32(5, 6))
LINEAR = call("aten::linear", f32(4, 5), f32(6, 5), f32(6))


def counted(events: Sequence[Event]) -> list[tuple[str, float]]:
    """Return names and starts in microseconds of the operators whose work counts."""
    query = "SELECT name, start_ns / 1000 FROM op_work JOIN ops ON op_id = event_id ORDER BY ALL"
    return built(events).sql(query).fetchall()


def test_work_belongs_to_the_outermost_operator_with_a_number() -> None:
    symbolic = Tensor(F32, ["s0", 6])
    events = [
        # an operator with a formula in another one
        {**LINEAR, "ts": 0, "dur": 9},
        call("aten::addmm", f32(6), *MATRICES, ts=1, dur=5),
        # operators around it that have no formula
        op("aten::conv2d", 10, 9, args={"Input Dims": [[2, 4, 9, 11], [6, 4, 3, 3]]}),
        op("aten::_convolution_mode", 11, 7, args={"Input Dims": [[2, 4, 9, 11], [6, 4, 3, 3]]}),
        call(
            "aten::convolution",
            *(IMAGE, KERNEL, None, "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"),
            ts=12,
            dur=5,
        ),
        call("aten::mkldnn_convolution", IMAGE, KERNEL, None, "[1, 1]", "[1, 1]", ts=13),
        # attention, as products and a softmax
        call("aten::scaled_dot_product_attention", QUERY, KEYS, VALUES, ts=20, dur=9),
        call("aten::bmm", f32(8, 7, 8), f32(8, 8, 9), ts=21, dur=2),
        call("aten::_softmax", f32(8, 7, 9), "-1", "False", ts=23, dur=2),
        call("aten::bmm", f32(8, 7, 9), f32(8, 9, 6), ts=25, dur=2),
        # an operator with a formula, but without a number
        call("aten::arange", "5", None, None, None, "False", ts=30, dur=9),
        call("aten::arange", "0", "5", "1", i64(0), ts=31),
        call("aten::mm", f32(4, 5), symbolic, ts=40, dur=9),
        call("aten::mm", *MATRICES, ts=41, dur=2),
        call("aten::mm", *MATRICES, ts=44, dur=2),
    ]
    assert counted(events) == [
        ("aten::arange", 31),
        ("aten::convolution", 12),
        ("aten::linear", 0),
        ("aten::mm", 41),
        ("aten::mm", 44),
        ("aten::scaled_dot_product_attention", 20),
    ]


def test_an_operator_without_operations_and_bytes_hides_none_with_bytes() -> None:
    """Of operators that only know that they have no operations, those inside know more."""
    index = ("aten::index", f32(8, 4), Tensors([[3]]))
    put = (f32(8, 4), Tensors([[3]]), f32(3, 4), "False")
    copy = (f32(8), f32(8), "False")
    events = [
        call(*index, ts=0, dur=9),
        call("aten::copy_", *copy, ts=2, dur=2),
        call("aten::mm", *MATRICES, ts=5, dur=2),
        # in one another: both give way
        call("aten::index_put_", *put, ts=10, dur=9),
        call("aten::_index_put_impl_", *put, "False", ts=11, dur=7),
        call("aten::copy_", *copy, ts=12, dur=2),
        # no operator inside has bytes: the outer one counts
        call("aten::index_put_", *put, ts=20, dur=9),
        call("aten::_index_put_impl_", *put, "False", ts=21, dur=7),
        call("aten::stack", Tensors([[3], [3]]), "0", ts=30, dur=9),
        call("aten::cat", Tensors([[1, 3], [1, 3]]), "0", ts=31, dur=7),
        # one after another, or overlapping a little
        call(*index, ts=40, dur=5),
        call("aten::copy_", *copy, ts=45, dur=4),
        call(*index, ts=50, dur=5),
        call("aten::copy_", *copy, ts=54, dur=4),
        # on another thread
        call(*index, ts=60, dur=9),
        call("aten::copy_", *copy, ts=62, dur=2, tid=2),
        # with operations
        call("aten::_foreach_add_", Tensors([[8]]), "1", ts=70, dur=9),
        call("aten::add_", f32(8), "1", "1", ts=71, dur=2),
    ]
    assert counted(events) == [
        ("aten::_foreach_add_", 70),
        ("aten::copy_", 2),
        ("aten::copy_", 12),
        ("aten::copy_", 45),
        ("aten::copy_", 54),
        ("aten::copy_", 62),
        ("aten::index", 40),
        ("aten::index", 50),
        ("aten::index", 60),
        ("aten::index_put_", 20),
        ("aten::mm", 5),
        ("aten::stack", 30),
    ]


def test_work_counts_once_where_operators_start_or_end_together() -> None:
    events = [
        # the longer one is around the other one, and the earlier one in the file
        call("aten::mm", *MATRICES, ts=0, dur=5),
        {**LINEAR, "ts": 0, "dur": 9},
        {**LINEAR, "ts": 10, "dur": 9},
        call("aten::mm", *MATRICES, ts=10, dur=9),
        # without a length: inside of another one, at its end, and alone
        {**LINEAR, "ts": 20, "dur": 9},
        call("aten::mm", *MATRICES, ts=20, dur=0),
        call("aten::mm", *MATRICES, ts=25, dur=0),
        call("aten::mv", f32(4, 5), f32(5), ts=29, dur=0),
        call("aten::dot", f32(5), f32(5), ts=30, dur=0),
        # one after another
        call("aten::bmm", f32(1, 4, 5), f32(1, 5, 6), ts=40, dur=5),
        call("aten::bmm", f32(1, 4, 5), f32(1, 5, 6), ts=45, dur=5),
    ]
    assert counted(events) == [
        ("aten::bmm", 40),
        ("aten::bmm", 45),
        ("aten::dot", 30),
        ("aten::linear", 0),
        ("aten::linear", 10),
        ("aten::linear", 20),
        ("aten::mv", 29),
    ]


def test_operators_of_two_threads_do_not_contain_each_other() -> None:
    events = [
        {**LINEAR, "ts": 0, "dur": 9},
        call("aten::mm", *MATRICES, ts=1, tid=2, dur=5),
        call("aten::mm", *MATRICES, ts=1, tid=1, dur=5),
    ]
    assert counted(events) == [("aten::linear", 0), ("aten::mm", 1)]


def test_formulas_know_how_many_arguments_operators_have() -> None:
    """More are the stack of TorchScript. Two operands are two of at most four arguments."""
    torch = pytest.importorskip("torch")
    arguments: dict[str, int] = {}
    for schema in torch._C._jit_get_all_schemas():
        arguments[schema.name] = max(arguments.get(schema.name, 0), len(schema.arguments))
    query = r"""
        SELECT formula, listed_ops, regexp_extract(requires_sql, 'len.d. <= (\d+)$', 1)
        FROM work_formulas WHERE formula NOT LIKE 'binary%' AND formula NOT LIKE '%_in_place'
    """
    for formula, operators, most in built([op("x")]).sql(query).fetchall():
        known = [arguments[name] for name in operators if name in arguments]
        assert (formula, most or "") == (formula, str(max(known)) if known else "")


def test_formulas_name_each_operator_once() -> None:
    rows = built([op("x")]).sql("SELECT unnest(listed_ops) FROM work_formulas").fetchall()
    assert len(rows) == len(set(rows))
