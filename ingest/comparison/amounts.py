"""Figures as people read them: three significant digits in the unit that suits."""

from math import floor, log10

from ingest.terminal.printing import size

TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))


def amount(value: float | None, unit: str) -> str:
    """A figure of this unit (ns, bytes or count); `–` where it is not known."""
    if value is None:
        return "–"
    if unit == "ns":
        return duration(value)
    if unit == "bytes":
        return size(round(value))
    return f"{value:,.1f}".removesuffix(".0")


def duration(ns: float) -> str:
    """A time: 12.3 ms."""
    rounded = abs(float(f"{ns:.3g}"))  # 999.9 µs are 1.00 ms
    for factor, unit in TIMES:
        if rounded >= factor:
            return f"{_three_digits(ns / factor)} {unit}"
    return f"{_three_digits(ns)} ns" if ns else "0"


def change(value: float | None, unit: str) -> str:
    """The same with its sign."""
    return f"+{amount(value, unit)}" if value and value > 0 else amount(value, unit)


def share(percent: float | None) -> str:
    """A percentage with its sign and without `%`; `–` where there is none."""
    return "–" if percent is None else f"{percent:+,.1f}" if percent else "0.0"


def _three_digits(value: float) -> str:
    decimals = 2 - floor(log10(abs(float(f"{value:.3g}"))))
    return f"{value:,.{max(0, decimals)}f}"
