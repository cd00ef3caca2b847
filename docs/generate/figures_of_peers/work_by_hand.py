"""Computes the work of a call from its recorded arguments, without tracehouse's formulas.

Without a rule, the results are those of `op_work` for the operators of the samples. A rule of
TraceLens changes them.
"""

import json
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from typing import Any

BIAS = "counts the addition of the bias as operations"
CAUSAL = "halves attention with a causal mask"
COPIES = "counts each element of a copy as an operation"
CHANNELS = "adds 6 operations and 4 elements for each channel to `layer_norm`"
GENERATED = "counts operators in the name of a generated kernel, but none of its bytes"
NUMBERS = "counts 8 bytes for a number"
REPEATED = "counts elements that a stride of 0 repeats"
ONE_RESULT = "counts one element as the result of a reduction"
BOOLEANS = "gives no bytes if a type is boolean"
RULES = (
    BIAS,
    CAUSAL,
    COPIES,
    CHANNELS,
    GENERATED,
    NUMBERS,
    REPEATED,
    ONE_RESULT,
    BOOLEANS,
)

SIZES = {"bool": 1, "c10::BFloat16": 2, "int": 4, "float": 4, "long int": 8, "double": 8}
AXES = {"aten::mean": 1, "aten::linalg_norm": 2}  # reductions: the argument with the axes
IN_NAME = ("add", "lt", "mul", "sub")  # what TraceLens counts of the kernel in the samples


@dataclass(frozen=True)
class Call:
    """A call of an operator."""

    name: str
    shapes: Any
    types: Any
    strides: Any
    values: Any


def flops_of(call: Call, rules: Set[str]) -> int | None:
    """Return the floating-point operations of a call; a multiplication and an addition are two."""
    match call.name, call.shapes:
        case "aten::mm", [[m, k], [_, n]]:
            return 2 * _product([m, n, k])
        case "aten::bmm", [[batch, m, k], [_, _, n]]:
            return 2 * _product([batch, m, n, k])
        case "aten::addmm", [_, [m, k], [_, n], *_]:
            return 2 * _product([m, n, k]) + (_product([m, n]) if BIAS in rules else 0)
        case "aten::convolution", [_, [_, *of_channel], *_]:
            return 2 * _product(_result(call)) * _product(of_channel)
        case "aten::_scaled_dot_product_flash_attention", [query, [_, _, keys, _], *_]:
            is_halved = CAUSAL in rules and call.values[4] == "True"
            return 4 * _product([*query, keys]) // (2 if is_halved else 1)
        case "aten::layer_norm", [shape, *_]:
            return 5 * _product(shape) + (6 * _product(shape[-1:]) if CHANNELS in rules else 0)
        case "aten::copy_", [shape, *_]:
            return _product(shape) if COPIES in rules else 0
        case name, [shape, *_] if name.startswith("triton_"):
            known = sum(part in IN_NAME for part in name.split("_"))
            return known * _product(shape) if GENERATED in rules else None
        case name, [shape, *_]:
            return _product(shape) if name in AXES else _product(_result(call))
    return None


def bytes_of(call: Call, rules: Set[str]) -> int | None:
    """Return the bytes of the inputs and of the result."""
    if BOOLEANS in rules and "bool" in call.types:
        return None
    inputs = list(_inputs(call, rules))
    if call.name.startswith("triton_"):
        return 0 if GENERATED in rules else sum(inputs)
    size = SIZES[call.types[0]]
    if call.name == "aten::copy_":
        inputs = inputs[1:]
    result = 1 if ONE_RESULT in rules and call.name in AXES else _product(_result(call))
    if CHANNELS in rules and call.name == "aten::layer_norm":
        result += 4 * call.shapes[0][-1]
    return sum(inputs) + result * size


def _inputs(call: Call, rules: Set[str]) -> Iterator[int]:
    """Return the bytes of each tensor among the arguments."""
    for shape, kind, strides in zip(call.shapes, call.types, call.strides, strict=True):
        if kind == "double" and not shape:
            yield 8 if NUMBERS in rules else 0
        elif kind in SIZES:
            axes = zip(shape, strides, strict=True)
            yield SIZES[kind] * _product(
                size if stride or REPEATED in rules else 1 for size, stride in axes
            )


def _result(call: Call) -> list[int]:
    """Return the shape of the result."""
    match call.name, call.shapes:
        case "aten::mm" | "aten::bmm", [[*batch, m, _], [*_, n]]:
            return [*batch, m, n]
        case "aten::addmm", [_, [m, _], [_, n], *_]:
            return [m, n]
        case "aten::convolution", [[images, _, *sizes], [channels, _, *kernel], *_]:
            strides, padding, dilation = map(json.loads, call.values[3:6])
            axes = zip(sizes, kernel, strides, padding, dilation, strict=True)
            return [
                images,
                channels,
                *(
                    (size + 2 * pad - gap * (tap - 1) - 1) // step + 1
                    for size, tap, step, pad, gap in axes
                ),
            ]
        case name, [shape, *_] if name in AXES:
            reduced = [axis % len(shape) for axis in json.loads(call.values[AXES[name]])]
            return [size for axis, size in enumerate(shape) if axis not in reduced]
        case "aten::add" | "aten::div" | "aten::mul" | "aten::sub", [one, other, *_]:
            pairs = zip_longest(reversed(one), reversed(other), fillvalue=1)
            return [second if first == 1 else first for first, second in pairs]
    return call.shapes[0]  # type: ignore[no-any-return]


def _product(sizes: Iterable[int]) -> int:
    return prod(sizes)
