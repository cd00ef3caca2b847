"""Advice on the steps of the view, and the texts of its kinds."""

from typing import Any

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets.view import View
from ingest.server import Query, select

# The best first. The gain on the critical path is closer to the truth than the bound.
ORDER = "is_reachable DESC, coalesce(gain_ns, bound_ns) DESC, bound_ns DESC, kind"


def kinds() -> dict[str, Any]:
    """Return the rows of `advice_kinds` by kind."""
    return {kind.kind: kind for kind in data.rows(select("*", "advice_kinds")).itertuples()}


def title(kind: Any, on_host: bool) -> str:
    """Return the title of a kind of advice, as it is for runs with or without a device."""
    return str(
        kind.host_title if on_host and not formatting.missing(kind.host_title) else kind.title
    )


def pieces(view: View) -> Query:
    """Return the query for advice on the view's steps, best first."""
    columns = "kind, bound_ns, gain_ns, is_reachable, percent, finding, remedy, cause, kernel, op"
    if view.is_median:  # faster, because the store has an index of it
        return select(columns, "advice", view.where(), order_by=ORDER)
    return _of_steps(columns, view, is_advice=True, order_by=ORDER)


def others(view: View) -> Query:
    """Return the query for checks of the view's steps without advice."""
    columns = "kind, bound_ns, percent, unknown_reason"
    order = f"unknown_reason IS NOT NULL, {ORDER}"
    return _of_steps(columns, view, is_advice=False, order_by=order)


def _of_steps(columns: str, view: View, *, is_advice: bool, order_by: str) -> Query:
    return select(
        columns,
        "advice_of_steps",
        {**view.of_device(), "is_advice": is_advice},
        arguments=(view.run, *view.steps.bounds),
        order_by=order_by,
    )
