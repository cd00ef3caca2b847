"""Formatting of numbers, times, sizes and names, for the terminal and for pages.

An unknown value (None, NaN or a missing cell of a data frame) is formatted as a dash.
"""

import json
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from math import floor, log10
from numbers import Number
from typing import TypeGuard, TypeVar

T = TypeVar("T")

UNKNOWN = "–"
TENFOLD = 900  # the increase to ten times a value, in percent
DURATION = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?) ?(ns|us|µs|ms|s)")
TIMES = {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9}  # in ns
SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}  # in bytes

PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}

FULL = 1_000 / 1_024  # the smallest fraction of a size unit that is written in that unit

NAME_WIDTH = 60
LONGEST_CELL = 4_000
# Invisible characters. A name that contains them could clear the terminal's screen, or reverse the
# direction of the text around it.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
SURROGATE = re.compile("[\ud800-\udfff]")

ANONYMOUS = "(anonymous namespace)::"
TENSILE = re.compile(r"(Cijk_\w+?_\w+?_[A-Z]+)_.*?(MT\d+x\d+x\d+)")  # operands, types; tile
GENERIC_HEAD = re.compile(
    r"^(kernel\d*|.*elementwise_kernel.*|reduce_kernel|multi_tensor.*)$", re.I
)
TEMPLATE_NOISE = re.compile(
    r"^(\d\w*|[A-Z]|at|native|c10|std|cub|detail|internal|binary_internal|memory|cutlass|gemm"
    r"|void|bool|char|short|int|long|float|double|unsigned|signed|const|true|false|ul"
    r"|\w*(?:Float|float|Half|half|bfloat)\d*|complex|array|Array|lambda|operator"
    r"|gpu_kernel_impl\w*|func_wrapper_t|ReduceOp|\w*(?:Unary|Binary)Functor|TensorIterator\w*"
    r"|OpaqueType|\w*OffsetCalculator|(?:Load|Store)With\w*)$"
)


def duration(ns: float | None, smallest: str = "ns") -> str:
    """Format a time with three significant digits, in a unit of at least `smallest`: 12.3 ms."""
    if not _is_known(ns):
        return UNKNOWN
    length = max(abs(float(f"{ns:.3g}")), TIMES[smallest])  # 999.9 µs are 1.00 ms
    unit = [unit for unit, factor in TIMES.items() if factor <= length][-1]
    return f"{three_digits(ns / TIMES[unit])} {unit}"


def parse_duration(text: str) -> int:
    """Parse a time with a unit, such as `1.5s`, `20 ms` or `10us`, and return it in ns.

    Raise ValueError for any other text.
    """
    found = DURATION.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text!r} is not a time with a unit, such as 1.5s, 20ms or 10us")
    return round(Decimal(found[1]) * TIMES[found[2].replace("us", "µs")])


def size(count: float | None, ones: str = "B") -> str:
    """Format a number of bytes as torch does: 2.00 MiB. 1,000 MiB or more are in GiB.

    `ones` is the unit of less than a KiB.
    """
    if not _is_known(count):
        return UNKNOWN
    for unit, factor in reversed(SIZES.items()):
        least = factor if unit == "KiB" else FULL * factor
        if abs(count) >= least > FULL:
            return f"{count / factor:,.2f} {unit}"
    return f"{count:.0f} {ones}"


def percent(value: float | None, decimals: int = 1) -> str:
    """Format a percentage, such as 47.4 for 47.4%."""
    if not _is_known(value):
        return UNKNOWN
    return f"{round(value, decimals) + 0.0:,.{decimals}f}%"  # + 0.0: no -0.0%


def times(value: float | None) -> str:
    """Format a factor: 1.84×."""
    return f"{value:.2f}×" if _is_known(value) else UNKNOWN


def count(value: float | None) -> str:
    """Format a whole number: 132,104."""
    return f"{value:,.0f}" if _is_known(value) else UNKNOWN


def counted(number: int, noun: str) -> str:
    """Format a number with a noun, which gets an `s` if needed: 1 file, 1,200 files."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def number_ranges(numbers: Iterable[int], most: int | None = None) -> str:
    """Format increasing numbers, such as ranks: 0 to 5, 7 and 9.

    After `most` ranges, say how many numbers follow.
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [
        part
        for run in runs[:most]
        for part in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))
    ]
    if rest := sum(map(len, runs[most:])) if most else 0:
        parts.append(f"{rest:,} more")
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def rate(gb_per_s: float | None) -> str:
    """Format a rate in 10⁹ bytes per second: 8.37 GB/s."""
    return f"{three_digits(gb_per_s)} GB/s" if _is_known(gb_per_s) else UNKNOWN


def operations(count: float | None) -> str:
    """Format a number of floating-point operations: 1.77 MFLO.

    Append `PS` for operations per second.
    """
    if not _is_known(count):
        return UNKNOWN
    size = max(abs(float(f"{count:.3g}")), 1)  # 999,950 are 1.00 M
    prefix = [name for name, factor in PREFIXES.items() if factor <= size][-1]
    return f"{three_digits(count / PREFIXES[prefix])} {prefix}FLO"


def operation_rate(tflop_per_s: float | None) -> str:
    """Format a rate in 10¹² floating-point operations per second: 15.5 GFLOPS."""
    if not _is_known(tflop_per_s):
        return UNKNOWN
    return f"{operations(tflop_per_s * 1e12)}PS"


def bandwidth(tb_per_s: float | None) -> str:
    """Format a rate in 10¹² bytes per second: 3.35 TB/s, 937 GB/s."""
    if not _is_known(tb_per_s):
        return UNKNOWN
    return f"{three_digits(tb_per_s)} TB/s" if tb_per_s >= 1 else rate(tb_per_s * 1e3)


def shapes(input_dims: str | None) -> str:
    """Format the shapes of tensors among recorded inputs (JSON): 16×64, 64×5."""
    if not isinstance(input_dims, str):
        return ""
    listed = [dims for dims in json.loads(input_dims) if isinstance(dims, list) and dims]
    return ", ".join(
        _tensors(dims) if isinstance(dims[0], list) else _sizes(dims) for dims in listed
    )


def _tensors(shapes: list[list[object]]) -> str:
    """Format a list of tensors by its first ones: [512×512, 1024, … of 300]."""
    first = ", ".join(map(_sizes, shapes[:2]))
    return f"[{first}, … of {len(shapes):,}]" if len(shapes) > 2 else f"[{first}]"


def _sizes(dims: list[object]) -> str:
    return "×".join(map(str, dims)) if isinstance(dims, list) else str(dims)


def mean_count(value: float | None) -> str:
    """Format a count, or a mean of counts: 132,104, 7.5, 0.17."""
    if not _is_known(value):
        return UNKNOWN
    decimals = 0 if value % 1 == 0 or abs(value) >= 100 else 1 if abs(value) >= 1 else 2
    return f"{value:,.{decimals}f}"


def amount(value: float | None, unit: str) -> str:
    """Format a metric in its unit: `ns`, `bytes`, `count`, `percent` or `TFLO/s`.

    A time of zero has no unit.
    """
    if not _is_known(value):
        return UNKNOWN
    if unit == "ns":
        return duration(value) if value else "0"
    if unit == "bytes":
        return size(round(value))
    if unit == "percent":
        return percent(value)
    if unit == "TFLO/s":
        return operation_rate(value)
    return f"{value:,.1f}".removesuffix(".0")


def change(value: float | None, written: Callable[[float | None], str]) -> str:
    """Format a difference with its sign, by the formatter `written`: +1.23 ms, -4.5%."""
    return f"+{written(value)}" if _is_known(value) and value > 0 else written(value)


def before_and_after(before: float | None, after: float | None, unit: str) -> str:
    """Format two values of a metric: `4.80 → 5.60 ms`, or one value if both are the same."""
    first, second = amount(before, unit), amount(after, unit)
    if first == second:
        return first
    number, _, written = first.rpartition(" ")
    return f"{number if second.endswith(f' {written}') else first} → {second}"


def percent_change(value: float | None) -> str:
    """Format a change in percent: +12.3%. Ten times or more is written as a factor: ×10.2."""
    if _is_known(value) and value >= TENFOLD:
        return f"×{three_digits(1 + value / 100)}"
    return change(value, percent)


def difference(value: float | None) -> str:
    """Format a small number without a unit, such as a difference: 0.00317, 1.2e-07."""
    return f"{value:.3g}" if _is_known(value) else UNKNOWN


def three_digits(value: float) -> str:
    """Format a number with three significant digits, at most three decimals: 0.123, 1,234."""
    if not value:
        return "0"
    decimals = 2 - floor(log10(abs(float(f"{value:.3g}"))))
    return f"{value:,.{min(max(0, decimals), 3)}f}"


def position(ns: int, interval_ns: int) -> str:
    """Format a time in ms, with enough decimals for an interval of this length."""
    decimals = max(0, 8 - len(str(interval_ns)))
    return f"{ns / TIMES['ms']:,.{decimals}f} ms"


def moment(value: datetime | None) -> str:
    """Format a point in time, to the second."""
    return f"{value:%Y-%m-%d %H:%M:%S}" if _is_known(value) else UNKNOWN


def address(value: float | None) -> str:
    """Format an address in a device's memory: 0x7f3a00000000."""
    return f"{int(value):#x}" if _is_known(value) else UNKNOWN


def as_utf8(text: str) -> str:
    """Escape bytes that are not UTF-8 as `\\xff`, so that text can be stored and printed.

    File names may contain such bytes.
    """
    return SURROGATE.sub(lambda found: ascii(found[0])[1:-1].replace("\\udc", "\\x"), text)


def printable(text: str, longest: int = LONGEST_CELL) -> str:
    """Prepare a name for a terminal: one line, clipped, with control characters escaped."""
    text = as_utf8(text)
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def clipped(text: str, width: int = NAME_WIDTH) -> str:
    """Shorten a text to one line of at most `width` characters, with an ellipsis at the end."""
    text = CONTROL.sub("\ufffd", " ".join(text[: 4 * width].split()))
    return text if len(text) <= width else text[: width - 1] + "…"


def middle_out(text: str, width: int) -> str:
    """Shorten a text to `width` characters. Keep both ends, which differ in similar names."""
    text = clipped(text, len(text))
    if len(text) <= width:
        return text
    return f"{text[: width // 2]}…{text[-(width - width // 2 - 1) :]}"


def short_name(name: str | None, width: int = NAME_WIDTH) -> str:
    """Shorten an operator's or kernel's name: remove namespaces, parameters, template arguments.

    A generic kernel keeps the functor of its template arguments:
    `void at::native::elementwise_kernel<128, 2, at::native::FillFunctor<int> >(…)` becomes
    `elementwise_kernel<FillFunctor>`. AMD's GEMMs keep operands, types and tile.
    """
    if not isinstance(name, str):
        return UNKNOWN
    prefix, text = ("(graph) ", name[8:]) if name.startswith("(graph) ") else ("", name)
    text = text.replace(ANONYMOUS, "").removeprefix("void ")
    if tensile := TENSILE.match(text):
        return clipped(f"{prefix}{tensile[1]}_{tensile[2]}", width)
    if text.startswith("std::enable_if"):
        text = re.sub(r"^.*?::type ", "", text)
    qualified = re.split(r"[<(]", text, maxsplit=1)[0]
    is_function = text.rstrip().endswith((")", ">", "const"))
    if qualified == text or not is_function or not re.fullmatch(r"[\w:~]+", qualified):
        return clipped(prefix + text, width)  # not the signature of a C++ function
    parts = qualified.split("::")
    head = parts[-1]
    if re.fullmatch(r"kernel\d*", head, re.I) and len(parts) > 1:
        head = "::".join(parts[-2:])
    functor = _functor(text[len(qualified) :]) if GENERIC_HEAD.match(parts[-1]) else None
    if functor and functor.startswith("cutlass"):
        return clipped(prefix + functor, width)  # the functor contains the tile and the types
    return clipped(f"{prefix}{head}<{functor}>" if functor else prefix + head, width)


def _functor(arguments: str) -> str | None:
    if not arguments.startswith("<"):
        return None
    words = re.findall(r"\b\w+\b(?!::)", arguments[:4_000])
    return next((word for word in words if not TEMPLATE_NOISE.match(word)), None)


def short_names(names: Iterable[str], width: int = NAME_WIDTH) -> dict[str, str]:
    """Return the short name of each name. Equal short names are numbered."""
    return _apart({name: short_name(name, width) for name in names})


def short_paths(names: Iterable[str], width: int = NAME_WIDTH) -> dict[str, str]:
    """Return a clipped text for each path or line of code. Equal texts are numbered."""
    return _apart({name: clipped(name, width) for name in names})


def _apart(shortened: dict[str, str]) -> dict[str, str]:
    taken: dict[str, int] = {}
    for name, short in shortened.items():
        taken[short] = taken.get(short, 0) + 1
        if taken[short] > 1:
            shortened[name] = f"{short} ({taken[short]})"
    return shortened


def natural_order(name: str) -> list[tuple[str, int]]:
    """Return a sort key for natural order: `rank2` before `rank10`."""
    parts = re.findall(r"([^0-9]*)([0-9]*)", name)
    return [(text, int(digits or -1)) for text, digits in parts] + [(name, 0)]


def _is_known(value: T | None) -> TypeGuard[T]:
    """Return whether a value is present.

    Data frames have NaN, NaT or NA instead of None. NaN and NaT are unequal to themselves.
    """
    return isinstance(value, Number | datetime) and value == value


def rank_name(rank: int, reason: str | None) -> str:
    """Return the name of a rank, with why it is shown, if known.

    `reason` is `run_metrics.default_reason`, or the reason of a worst rank in `rank_diff`.
    """
    why = {
        "straggler": ", the straggler",
        "median": ", the median rank",
        "slowest": ", the slowest",
    }
    return f"rank {rank}{why.get(reason or '', '')}"
