"""Conditions on the metrics of a comparison: the gate of `ingest diff --fail-if`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ingest.comparison.metrics import Metric
from ingest.comparison.rank_test import SIGNIFICANT, least_p
from ingest.units import SIZES, TIMES, amount

FORM = re.compile(r"\s*([a-z_]+)\s*([<>])\s*([+-]?)(\d+(?:\.\d+)?)\s*(%|[A-Za-zµ]*)\s*")
UNITS = {
    "ns": {"ns": 1, "us": TIMES["µs"], **TIMES},
    "bytes": SIZES,
    "count": {"": 1},
}
RENAMED = {"generated": "compiled_code"}  # metrics, by the names that older scripts know


@dataclass(frozen=True)
class Condition:
    """A metric beyond a bound, in the metric's unit (ns, bytes, count).

    The bound is of the metric in OTHER (`of` is value), of its change, or of that in percent.
    """

    text: str
    metric: str
    is_above: bool
    of: str
    bound: Fraction
    said: str

    @property
    def needs_change(self) -> bool:
        """Whether a run without any change does not meet it: only chance could make it do so."""
        return self.bound >= 0 if self.is_above else self.bound <= 0


@dataclass(frozen=True)
class Verdict:
    """Whether a condition holds, and why in one line; null where that cannot be told."""

    condition: str
    holds: bool | None
    reason: str


def parse(text: str, metrics: Iterable[Metric]) -> Condition:
    """The condition that `text` writes: a metric, `>` or `<`, and a bound.

    `+5%` and `-5%` bound the change in percent, `+2ms` and `-2ms` the change, and `10ms` what OTHER
    has. Units: ns, us, ms, s; B, KiB, MiB, GiB; counts have none, and 0 needs none. Raises
    ValueError.
    """
    units = {metric.name: metric.unit for metric in metrics}
    if not (match := FORM.fullmatch(text)):
        raise ValueError(f"{text}: is not written as busy>+5%, wall>+2ms or bubble_host>10ms")
    name, relation, sign, number, unit = match.groups()
    name = RENAMED.get(name, name)
    if name not in units:
        raise ValueError(f"{text}: there is no metric {name}; there are {', '.join(units)}")
    if unit == "%":
        if not sign:
            raise ValueError(f"{text}: a percentage is of the change: {sign or '+'}{number}%")
        of, scale = "percent", 1
    else:
        of, scale = "change" if sign else "value", _scale(text, unit, number, units[name])
    bound = Fraction(f"{sign}{number}") * scale
    said = f"{sign}{number} {unit}".rstrip()
    return Condition(text, name, relation == ">", of, bound, said)


def _scale(text: str, unit: str, number: str, kind: str) -> int:
    known: Mapping[str, int] = UNITS[kind]
    if unit in known:
        return known[unit]
    if not unit and not float(number):
        return 1
    names = ", ".join(known)
    what = {"ns": f"a time, in {names}", "bytes": f"memory, in {names}", "count": "a plain number"}
    raise ValueError(f"{text}: the bound is {what[kind]}")


def judge(condition: Condition, metrics: Iterable[Metric], unlike: str | None = None) -> Verdict:
    """Whether the condition holds of a comparison's metrics.

    Of several runs a side, the medians are taken. A bound of the change then holds only if chance
    alone would seldom rank the runs so: the rank test's p is below 0.05; or, where too few runs
    can give such a p, all of OTHER are beyond all of BASE. A condition that a run without any
    change would meet (busy>-5%) asks for an improvement, and needs no such test. Where the sides
    are `unlike`, no change can be judged.
    """
    metric = next(one for one in metrics if one.name == condition.metric).as_amount
    sides = {"OTHER": metric.other_values}
    if condition.of != "value":
        sides = {"BASE": metric.base_values, **sides}
    for side, values in sides.items():
        if missing := sum(value is None for value in values) if values else 1:
            of = f"{missing} of {len(values)} runs of {side}" if len(values) > 1 else side
            reason = f"{metric.name} is not known of {of}: {condition.text} cannot be judged"
            return Verdict(condition.text, None, reason)
    if unlike and condition.of != "value":
        reason = f"{metric.name} is {unlike}"
        return Verdict(condition.text, None, f"{reason}: {condition.text} cannot be judged")
    is_beyond = _is_beyond(condition, metric)
    beyond = f"{'more' if condition.is_above else 'less'} than {condition.said}"
    reason = f"{_said(condition, metric)}: {beyond if is_beyond else f'not {beyond}'}"
    runs = len(metric.base_values), len(metric.other_values)
    if not is_beyond or condition.of == "value" or not condition.needs_change or runs == (1, 1):
        return Verdict(condition.text, is_beyond, reason)
    is_told, how = _is_told(condition, metric)
    return Verdict(condition.text, is_told, f"{reason}{', and ' if is_told else ', but '}{how}")


def _is_beyond(condition: Condition, metric: Metric) -> bool:
    base, other = (Fraction(side or 0) for side in (metric.base, metric.other))
    bound = condition.bound
    if condition.of != "value":
        bound = base + (abs(base) * bound / 100 if condition.of == "percent" else bound)
    return other > bound if condition.is_above else other < bound


def _is_told(condition: Condition, metric: Metric) -> tuple[bool, str]:
    """Whether a change is told from chance, and by what."""
    base = [value for value in metric.base_values if value is not None]
    other = [value for value in metric.other_values if value is not None]
    if least_p(len(base), len(other)) < SIGNIFICANT:
        p = metric.p or 0.0
        return p < SIGNIFICANT, f"p = {p:.2g}"
    apart = min(other) > max(base) if condition.is_above else max(other) < min(base)
    of = f"{len(other)} against {len(base)} runs, too few for a rank test,"
    return apart, f"of {of} {'all' if apart else 'not all'} are beyond"


def _said(condition: Condition, metric: Metric) -> str:
    """`busy is 12.3 ms, 8.1 % more than 11.4 ms`."""
    base, other = metric.base or 0.0, metric.other or 0.0
    said = f"{metric.name} is {amount(other, metric.unit)}"
    if len(metric.other_values) > 1:
        said += f" (median of {len(metric.other_values)})"
    if condition.of == "value":
        return said
    was = amount(base, metric.unit)
    if len(metric.base_values) > 1:
        was += f" (median of {len(metric.base_values)})"
    if other == base:
        return f"{said}, the same as {was}"
    by = amount(abs(other - base), metric.unit)
    if condition.of == "percent":
        if not base:
            return f"{said}, and was 0"
        percent = 100 * abs((other - base) / base)
        by = f"{percent:,.1f} %" if percent >= 0.1 else f"{percent:.2g} %"
    return f"{said}, {by} {'more' if other > base else 'less'} than {was}"
