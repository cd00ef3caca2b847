"""The tables of `ingest profile-analyze`, in the layout of MegEngine's profile_analyze."""

import math
import textwrap
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from tabulate import tabulate

from ingest.cli.analyzed import Analysis, Record
from ingest.units import printable

HEADERS = (
    "cumulative", "operator info", "computation", "FLOPS", "memory", "bandwidth", "in_shapes",
    "out_shapes",
)  # fmt: skip
PREFIXES = ("", "K", "M", "G", "T", "P")
NAME_WIDTH = 30
BAR = 15
UNKNOWN = "N/A"
HEAD_LINES = 3  # above the rows of a grid


def summary(analysis: Analysis, has_copies: bool, is_wiki: bool) -> str:
    """Return a table of the total times; with `has_copies`, also sum and mean of copy times."""
    rows: list[tuple[str, Any]] = [
        ("total device time", _or_unknown(analysis.total_device)),
        ("total host time", _or_unknown(analysis.total_host)),
    ]
    if has_copies:
        rows += [
            ("copy time", _sum_and_mean(*analysis.copies["end"])),
            ("copy wait time", _sum_and_mean(*analysis.copies["kern"])),
        ]
    return _wiki_table(rows, ["name", "value"]) if is_wiki else tabulate(rows)


def names(record: Record) -> str:
    """Return name, type and id of an operator, or of a group of operators, in one line."""
    return " ".join(info(record).values())


def info(record: Record) -> dict[str, str]:
    """Return name, type and id of an operator, or type and count of a group of operators."""
    if record.count is not None:
        kind = printable(str(_or_unknown(record.type)))
        return {"type": kind, "count": str(record.count), "id": UNKNOWN}
    named = {"name": record.name, "type": record.type, "id": record.opr_id}
    return {key: printable(str(_or_unknown(value))) for key, value in named.items()}


def details(records: Sequence[Record], side: str) -> str:
    """Return a grid with one row, of several lines, for each record."""
    rows = [
        (
            f"#{number}\n{record.time:.3}\n{_percent(record.ratio)}",
            f"{record.cumulative:.3}\n{_percent(record.cumulative_ratio)}",
            "\n".join(map(_wrapped, info(record).values())),
            _with_unit(record.computation, 1000, "FLO"),
            _with_unit(record.flops, 1000, "FLOPS"),
            _with_unit(record.memory, 1024, "byte", "iB"),
            _with_unit(record.bandwidth, 1024, "byte/s", "iB/s"),
            _shapes(record.in_shapes, record.in_layouts, "\n"),
            _shapes(record.out_shapes, None, "\n"),
        )
        for number, record in enumerate(records)
    ]
    return _grid(rows, (f"{side} self time", *HEADERS))


def wiki(records: Sequence[Record]) -> str:
    """Return a table for a wiki, with bars of `#` next to the numbers."""
    most = {
        name: max(filter(_is_number, (getattr(record, name) for record in records)), default=0)
        for name in ("time", "flops", "bandwidth")
    }
    rows = [
        {
            "#": number,
            "time": f"{record.time:.3}",
            "ratio": _percent(record.ratio),
            "time bar": _bar(record.time, most["time"]),
            "cum-time": record.cumulative,
            "cum-time ratio": _or_unknown(record.cumulative_ratio),
            **{f"opr {key}": value.replace("|", "\\|") for key, value in info(record).items()},
            "computation (MFLO)": _scaled(record.computation, 1000),
            "MFLOPS": _scaled(record.flops, 1000),
            "MFLOPS-bar": _bar(record.flops, most["flops"]),
            "memory (MB)": _scaled(record.memory, 1024),
            "bandwidth (MiB/s)": _scaled(record.bandwidth, 1024),
            "bandwidth bar": _bar(record.bandwidth, most["bandwidth"]),
            "in_shapes": _shapes(record.in_shapes, record.in_layouts, ", "),
            "out_shapes": _shapes(record.out_shapes, None, ", "),
        }
        for number, record in enumerate(records)
    ]
    if not rows:
        return "(no operators)"
    return _wiki_table([list(row.values()) for row in rows], list(rows[0]))


def _wiki_table(rows: Sequence[Sequence[Any]], headers: Sequence[str]) -> str:
    lines = tabulate(rows, headers=headers, tablefmt="orgtbl").split("\n")
    lines[1] = lines[1].replace("+", "|")
    return "\n".join(lines)


def _grid(rows: Sequence[Sequence[str]], headers: Sequence[str]) -> str:
    """Draw a grid with rulers between rows only.

    `tabulate` can draw rows of several lines itself, but makes their columns narrower.
    """
    lines: list[Sequence[str]] = []
    first_lines = set()
    for row in rows:
        first_lines.add(len(lines))
        lines += zip_longest(*(cell.split("\n") for cell in row), fillvalue="")
    drawn = tabulate(lines, headers=headers, tablefmt="fancy_grid", disable_numparse=True)
    head, body = drawn.split("\n")[:HEAD_LINES], drawn.split("\n")[HEAD_LINES:]
    kept = [
        line
        for number, line in enumerate(body)
        if number % 2 == 0 or (number + 1) // 2 in first_lines or number == len(body) - 1
    ]
    return "\n".join(head + kept)


def _wrapped(text: str) -> str:
    return "\n-  ".join(textwrap.wrap(text, NAME_WIDTH))


def _with_unit(number: float | None, base: int, unit: str, prefixed: str | None = None) -> str:
    """Return a number and, on the next line, its unit.

    A scaled number gets a prefix (K, M, …) and then `prefixed`, if there is one, as its unit.
    """
    if number is None:
        return f"{UNKNOWN}\n{unit}"
    power = 0
    while math.isfinite(number) and number >= base and power + 1 < len(PREFIXES):
        number /= base
        power += 1
    return f"{number:.2f}\n{PREFIXES[power]}{prefixed if power and prefixed else unit}"


def _shapes(shapes: Any, layouts: Any, separator: str) -> str:
    if not isinstance(shapes, list):
        return str(shapes)
    texts = []
    known = layouts if isinstance(layouts, list) else []
    for shape, layout in zip_longest(shapes, known[: len(shapes)]):
        text = "{" + _joined(shape) + "}"
        texts.append(f"{text}\n -[{_joined(layout)}]" if layout else text)
    return separator.join(texts)


def _joined(numbers: Any) -> str:
    return ",".join(map(str, numbers)) if isinstance(numbers, list) else str(numbers)


def _percent(ratio: float | None) -> str:
    return UNKNOWN if ratio is None else f"{ratio * 100:.1f}%"


def _scaled(number: float | None, base: int) -> str:
    return UNKNOWN if number is None else f"{number / base**2:.1f}"


def _bar(number: float | None, most: float) -> str:
    """Return a bar for a number; empty if it is not finite or not positive."""
    return "#" * int(number / most * BAR) if number and _is_number(number) and number > 0 else ""


def _is_number(number: float | None) -> bool:
    return number is not None and math.isfinite(number)


def _sum_and_mean(total: float | None, mean: float | None) -> str:
    return UNKNOWN if total is None or mean is None else f"tot={total:.4f} avg={mean:.4f}"


def _or_unknown(value: float | str | None) -> float | str:
    return UNKNOWN if value is None else value
