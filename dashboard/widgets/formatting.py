"""How figures and names are written, on every page alike."""

import math
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

import pandas as pd

NONE = "–"
NAME_WIDTH = 60
DURATIONS = ((1e3, "µs"), (1e6, "ms"), (1e9, "s"))  # ns in the unit
SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))

# Streamlit puts icons and arrows in the place of these even where they are escaped.
SUBSTITUTED = re.compile(r":(?=material/|streamlit:)|(?<!\S)[<>~-](?=(?:->|[->=])(?!\S))")
WORD_JOINER = "\u2060"  # no shape and no width

ANONYMOUS = "(anonymous namespace)::"
TENSILE = re.compile(r"(Cijk_\w+?_\w+?_[A-Z]+)_.*?(MT\d+x\d+x\d+)")  # operands, types; tile
GENERIC_HEAD = re.compile(
    r"^(kernel\d*|.*elementwise_kernel.*|reduce_kernel|multi_tensor.*)$", re.I
)
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")  # no shape of their own
TEMPLATE_NOISE = re.compile(
    r"^(\d\w*|[A-Z]|at|native|c10|std|cub|detail|internal|binary_internal|memory|cutlass|gemm"
    r"|void|bool|char|short|int|long|float|double|unsigned|signed|const|true|false|ul"
    r"|\w*(?:Float|float|Half|half|bfloat)\d*|complex|array|Array|lambda|operator"
    r"|gpu_kernel_impl\w*|func_wrapper_t|ReduceOp|\w*(?:Unary|Binary)Functor|TensorIterator\w*"
    r"|OpaqueType|\w*OffsetCalculator|(?:Load|Store)With\w*)$"
)


def missing(value: Any) -> bool:
    """Whether a table's cell holds nothing: None, NaN, NaT or NA."""
    return (
        value is None
        or value is pd.NA
        or value is pd.NaT
        or (isinstance(value, float) and math.isnan(value))
    )


def duration(ns: float | None) -> str:
    """Nanoseconds in the unit that suits, with three significant digits: 1.23 ms."""
    if missing(ns) or ns is None:
        return NONE
    for factor, unit in DURATIONS:
        value = three_digits(ns / factor)
        if abs(float(value.replace(",", ""))) < 1000 or unit == "s":
            return f"{value} {unit}"
    raise AssertionError("the last unit fits every duration")


def position(ns: int, stretch_ns: int) -> str:
    """A moment in milliseconds, with as many decimals as tell the ends of a stretch apart."""
    decimals = max(0, 8 - len(str(stretch_ns)))
    return f"{ns / 1e6:,.{decimals}f} ms"


def three_digits(value: float) -> str:
    """Three significant digits, and all before the point: 0.123, 12.3, 1,234."""
    decimals = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    if 0 < abs(value) < 0.9995:
        decimals = 3
    return f"{value:,.{decimals}f}" if value else "0"


def size(count: float | None) -> str:
    """Bytes as torch prints them: 2.00 MiB."""
    if missing(count) or count is None:
        return NONE
    for factor, unit in SIZES:
        if abs(count) >= factor:
            return f"{count / factor:,.2f} {unit}"
    return f"{count:.0f} bytes"


def percent(value: float | None) -> str:
    """A percentage, 0 to 100, with one decimal: 47.4%."""
    return NONE if value is None or missing(value) else f"{round(value, 1) + 0.0:.1f}%"


def count(value: float | None) -> str:
    """A whole number with thousands separators: 132,104."""
    return NONE if missing(value) else f"{value:,.0f}"


def address(value: float | None) -> str:
    """An address of a device's memory: 0x7f3a00000000."""
    return NONE if value is None or missing(value) else f"{int(value):#x}"


def per_step(value: float | None) -> str:
    """A number of things per step, which need not be whole: 297, 7.5, 0.17."""
    if value is None or missing(value):
        return NONE
    decimals = 0 if value == round(value) or abs(value) >= 100 else 1 if abs(value) >= 1 else 2
    return f"{value:,.{decimals}f}"


def change(value: float | None, written: Callable[[float | None], str] = duration) -> str:
    """A difference, with its sign: +1.23 ms, -4.5%."""
    grows = value is not None and not missing(value) and value > 0
    return f"+{written(value)}" if grows else written(value)


def middle_out(text: str, width: int) -> str:
    """At most `width` characters: the beginning and the end, where similar names differ."""
    text = clipped(text, len(text))
    return (
        text if len(text) <= width else f"{text[: width // 2]}…{text[-(width - width // 2 - 1) :]}"
    )


def counted(number: int, thing: str) -> str:
    """A number of things: 1 file, 1,200 files."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def moment(value: datetime | None) -> str:
    """A point in time, to the second."""
    return NONE if value is None or missing(value) else f"{value:%Y-%m-%d %H:%M:%S}"


def clipped(text: str, width: int = NAME_WIDTH) -> str:
    """At most `width` characters, on one line, with an ellipsis where some are missing."""
    text = CONTROL.sub("\ufffd", " ".join(text[: 4 * width].split()))
    return text if len(text) <= width else text[: width - 1] + "…"


def short_name(name: str | None, width: int = NAME_WIDTH) -> str:
    """An operator's or kernel's name without its namespaces, parameters and template noise.

    Of template arguments only the functor is kept, for kernels that are named after nothing else:
    `void at::native::elementwise_kernel<128, 2, at::native::FillFunctor<int> >(…)` is
    `elementwise_kernel<FillFunctor>`. Of AMD's GEMMs the operands, types and tile are kept.
    """
    if missing(name) or name is None:
        return NONE
    prefix, text = ("(graph) ", name[8:]) if name.startswith("(graph) ") else ("", name)
    text = text.replace(ANONYMOUS, "").removeprefix("void ")
    if tensile := TENSILE.match(text):
        return clipped(f"{prefix}{tensile[1]}_{tensile[2]}", width)
    if text.startswith("std::enable_if"):
        text = re.sub(r"^.*?::type ", "", text)
    qualified = re.split(r"[<(]", text, maxsplit=1)[0]
    is_function = text.rstrip().endswith((")", ">", "const"))
    if qualified == text or not is_function or not re.fullmatch(r"[\w:~]+", qualified):
        return clipped(prefix + text, width)  # no signature of a C++ function
    parts = qualified.split("::")
    head = parts[-1]
    if re.fullmatch(r"kernel\d*", head, re.I) and len(parts) > 1:
        head = "::".join(parts[-2:])
    functor = _functor(text[len(qualified) :]) if GENERIC_HEAD.match(parts[-1]) else None
    if functor and functor.startswith("cutlass"):
        return clipped(prefix + functor, width)  # it names the tile and the types
    return clipped(f"{prefix}{head}<{functor}>" if functor else prefix + head, width)


def _functor(arguments: str) -> str | None:
    if not arguments.startswith("<"):
        return None
    words = re.findall(r"\b\w+\b(?!::)", arguments[:4_000])
    return next((word for word in words if not TEMPLATE_NOISE.match(word)), None)


def short_names(names: Iterable[str], width: int = NAME_WIDTH) -> dict[str, str]:
    """Short names that stay apart: those that would be equal are numbered."""
    return _apart({name: short_name(name, width) for name in names})


def _apart(shortened: dict[str, str]) -> dict[str, str]:
    taken: dict[str, int] = {}
    for name, short in shortened.items():
        taken[short] = taken.get(short, 0) + 1
        if taken[short] > 1:
            shortened[name] = f"{short} ({taken[short]})"
    return shortened


def short_paths(names: Iterable[str], width: int = NAME_WIDTH) -> dict[str, str]:
    """Lines of code and the like, each at most so wide; those that would be equal are numbered."""
    return _apart({name: clipped(name, width) for name in names})


def top_line(rows: Iterable[tuple[str, float, float]]) -> str:
    """Names with their times, ns, and percentages as a line of Markdown."""
    parts = [
        f"{literal(short_name(name))} **{duration(ns)}** ({percent(share)})"
        for name, ns, share in rows
    ]
    return f"Top {len(parts)}: " + " · ".join(parts)


def literal(text: str) -> str:
    """Text for a Markdown place, shown as it is."""
    text = SUBSTITUTED.sub(lambda found: found[0] + WORD_JOINER, " ".join(text.split()))
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~$:&])", r"\\\1", text)
