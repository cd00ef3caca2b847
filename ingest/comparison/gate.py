"""Conditions on the metrics of a comparison, for `ingest diff --fail-if`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ingest.comparison.metrics import Metric
from ingest.comparison.rank_test import SIGNIFICANT, least_p
from ingest.units import SIZES, TIMES, amount

FORM = re.compile(r"\s*([a-z_]+)\s*([<>])\s*([+-]?)(\d+(?:\.\d+)?)\s*(%|[A-Za-zµ]*)\s*")
UNITS: Mapping[str, Mapping[str, Fraction | int]] = {
    "ns": {"ns": 1, "us": TIMES["µs"], **TIMES},
    "bytes": SIZES,
    "count": {"": 1},
    "percent": {"%": 1},
    "TFLO/s": {"GFLOPS": Fraction(1, 1000), "TFLOPS": 1, "PFLOPS": 1000},
}
# Earlier names of metrics, which are still accepted.
RENAMED = {"generated": "compiled_code", "bubble": "idle"}
RENAMED_CAUSE = re.compile(r"bubble_(?=[a-z])")


@dataclass(frozen=True)
class Condition:
    """The condition that a quantity is above or below a bound.

    `quantity` is `value` (the metric of OTHER), `change` or `percent` (its change, absolute or
    relative). `bound` is in the metric's unit (ns, bytes, count, percent, TFLO/s) or in percent.
    """

    text: str
    metric: str
    is_above: bool
    quantity: str
    bound: Fraction
    bound_text: str

    @property
    def needs_change(self) -> bool:
        """Whether two equal runs meet the condition only by chance."""
        return self.bound >= 0 if self.is_above else self.bound <= 0


@dataclass(frozen=True)
class Verdict:
    """Whether a condition holds, and the reason in one line. `holds` is None if unknown."""

    condition: str
    holds: bool | None
    reason: str


def parse(text: str, metrics: Iterable[Metric]) -> Condition:
    """Parse a condition: a metric, `>` or `<`, and a bound.

    `+5%` and `-5%` bound the change in percent, `+2ms` and `-2ms` bound the change, and `10ms`
    bounds the value of OTHER; so does `40%` if the metric is a percentage. Units are ns, us, ms, s;
    B, KiB, MiB, GiB; GFLOPS, TFLOPS, PFLOPS. Counts have no unit, and 0 needs none. Raise
    ValueError if `text` is not a condition on one of `metrics`.
    """
    units = {metric.name: metric.unit for metric in metrics}
    if not (match := FORM.fullmatch(text)):
        raise ValueError(
            f"{text}: not a condition; write it like busy>+5%, wall>+2ms or idle_host>10ms"
        )
    name, relation, sign, number, unit = match.groups()
    name = RENAMED_CAUSE.sub("idle_", RENAMED.get(name, name))
    if name not in units:
        raise ValueError(f"{text}: no metric {name}; the metrics are {', '.join(units)}")
    scale: Fraction | int
    if unit == "%" and (sign or units[name] != "percent"):
        if not sign:
            raise ValueError(f"{text}: a percentage needs a sign, as in +{number}%")
        quantity, scale = "percent", 1
    else:
        quantity, scale = "change" if sign else "value", _scale(text, unit, number, units[name])
    bound = Fraction(f"{sign}{number}") * scale
    bound_text = f"{sign}{number} {unit}".rstrip()
    return Condition(text, name, relation == ">", quantity, bound, bound_text)


def _scale(text: str, unit: str, number: str, kind: str) -> Fraction | int:
    known = UNITS[kind]
    if unit in known:
        return known[unit]
    if not unit and not float(number):
        return 1
    names = ", ".join(known)
    form = {
        "ns": f"a time in {names}",
        "bytes": f"an amount of memory in {names}",
        "count": "a number without a unit",
        "percent": "a percentage",
        "TFLO/s": f"a rate in {names}",
    }
    raise ValueError(f"{text}: the bound must be {form[kind]}")


def judge(condition: Condition, metrics: Iterable[Metric], unlike: str | None = None) -> Verdict:
    """Judge a condition on a comparison's metrics.

    If a side has several runs, the medians count. A bound on the change then holds only if the
    change is significant: the rank test's p is below 0.05 or, if there are too few runs for such
    a p, every run of OTHER is beyond every run of BASE. A condition that two equal runs meet
    (busy>-5%) requires an improvement and needs no such test. `unlike` is the reason why no
    change can be judged, or None.
    """
    metric = next(one for one in metrics if one.name == condition.metric).as_amount
    sides = {"OTHER": metric.other_values}
    if condition.quantity != "value":
        sides = {"BASE": metric.base_values, **sides}
    for side, values in sides.items():
        if missing := sum(value is None for value in values) if values else 1:
            runs = f"{missing} of {len(values)} runs of {side}" if len(values) > 1 else side
            reason = f"{condition.text} cannot be judged: {metric.name} is unknown for {runs}"
            return Verdict(condition.text, None, reason)
    if unlike and condition.quantity != "value":
        return Verdict(condition.text, None, f"{condition.text} cannot be judged: {unlike}")
    is_beyond = _is_beyond(condition, metric)
    beyond = f"{'more' if condition.is_above else 'less'} than {condition.bound_text}"
    reason = f"{_sentence(condition, metric)}: {beyond if is_beyond else f'not {beyond}'}"
    is_one_each = len(metric.base_values) == len(metric.other_values) == 1
    needs_test = condition.quantity != "value" and condition.needs_change and not is_one_each
    if not is_beyond or not needs_test:
        return Verdict(condition.text, is_beyond, reason)
    is_significant, how = _significance(condition, metric)
    link = ", and " if is_significant else ", but "
    return Verdict(condition.text, is_significant, f"{reason}{link}{how}")


def _is_beyond(condition: Condition, metric: Metric) -> bool:
    base, other = (Fraction(side or 0) for side in (metric.base, metric.other))
    bound = condition.bound
    if condition.quantity != "value":
        bound = base + (abs(base) * bound / 100 if condition.quantity == "percent" else bound)
    return other > bound if condition.is_above else other < bound


def _significance(condition: Condition, metric: Metric) -> tuple[bool, str]:
    """Return whether a change is significant, and the evidence."""
    base = [value for value in metric.base_values if value is not None]
    other = [value for value in metric.other_values if value is not None]
    if least_p(len(base), len(other)) < SIGNIFICANT:
        p = metric.p or 0.0
        return p < SIGNIFICANT, f"p = {p:.2g}"
    is_apart = min(other) > max(base) if condition.is_above else max(other) < min(base)
    relation = "above" if condition.is_above else "below"
    runs = f"{'every' if is_apart else 'not every'} run of OTHER is {relation} every run of BASE"
    return is_apart, f"{runs} ({len(other)} against {len(base)}: too few for a rank test)"


def _sentence(condition: Condition, metric: Metric) -> str:
    """Describe a metric: `busy is 12.3 ms, 8.1 % more than 11.4 ms`."""
    base, other = metric.base or 0.0, metric.other or 0.0
    value = f"{metric.name} is {amount(other, metric.unit)}"
    if len(metric.other_values) > 1:
        value += f" (median of {len(metric.other_values)})"
    if condition.quantity == "value":
        return value
    base_value = amount(base, metric.unit)
    if len(metric.base_values) > 1:
        base_value += f" (median of {len(metric.base_values)})"
    if other == base:
        return f"{value}, the same as {base_value}"
    difference = amount(abs(other - base), metric.unit)
    if condition.quantity == "percent":
        if not base:
            return f"{value}, and was 0"
        percent = 100 * abs((other - base) / base)
        difference = f"{percent:,.1f} %" if percent >= 0.1 else f"{percent:.2g} %"
    return f"{value}, {difference} {'more' if other > base else 'less'} than {base_value}"
