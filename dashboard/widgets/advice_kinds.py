"""The kinds of advice: titles, colours, and where their evidence is."""

from dataclasses import dataclass

from dashboard.query import Query, select
from dashboard.widgets.view import View

# The best first. The gain on the critical path is closer to the truth than the bound.
ORDER = "is_reachable DESC, coalesce(gain_ns, bound_ns) DESC, bound_ns DESC, kind"


@dataclass(frozen=True)
class Kind:
    """The titles and colour of a kind of advice, and its evidence.

    `evidence` has the name of a view, the columns that identify a row, sums over the steps, and the
    order of the rows.
    """

    title: str
    short: str
    colour: str
    evidence: tuple[str, str, str, str] | None = None


KINDS = {
    "host_bound": Kind("Idle: the host launches late", "host", "host"),
    "small_kernels": Kind(
        "Kernels shorter than their launch",
        "small kernels",
        "launch",
        (
            "short_kernels",
            "name",
            "sum(device_ns)::BIGINT AS device_ns, sum(launch_idle_ns)::BIGINT AS launch_idle_ns, "
            "sum(host_idle_ns)::BIGINT AS host_idle_ns, sum(calls)::BIGINT AS calls",
            "sum(device_ns + launch_idle_ns) DESC, name",
        ),
    ),
    "recompiled": Kind(
        "Compiled while measured",
        "compilation",
        "compile",
        (
            "compilations",
            "compile_id, compiled_frame, is_recompile, dur_ns, reason, evidence",
            "",
            "dur_ns DESC NULLS LAST, compile_id",
        ),
    ),
    "blocking": Kind(
        "Idle: the host waited for the device",
        "waits",
        "sync",
        (
            "waits",
            "wait, copy, wait_frame",
            "sum(idle_ns)::BIGINT AS idle_ns, sum(bubbles)::BIGINT AS bubbles",
            "idle_ns DESC, wait, wait_frame",
        ),
    ),
    "dataloader": Kind("Idle: loading data", "loading data", "dataloader"),
    "exposed_communication": Kind(
        "Communication without overlap", "communication", "exposed_communication"
    ),
    "exposed_copy": Kind("Copies without overlap", "copies", "exposed_copy"),
    "float_matmul": Kind(
        "float32 instead of tensor cores",
        "float32",
        "compute",
        (
            "float_matmuls",
            "op",
            "sum(device_ns)::BIGINT AS device_ns, sum(calls)::BIGINT AS calls, "
            "sum(kernels)::BIGINT AS kernels, arg_max(kernel, device_ns) AS kernel",
            "device_ns DESC, op",
        ),
    ),
    "unfused_attention": Kind(
        "Attention as separate operators",
        "attention",
        "compute",
        (
            "unfused_attentions",
            "op",
            "sum(device_ns)::BIGINT AS device_ns, sum(calls)::BIGINT AS calls",
            "device_ns DESC, op",
        ),
    ),
}


def title(kind: str, on_host: bool) -> str:
    """Return the title of a kind of advice, adapted for runs without a device."""
    return "Between operators: Python" if on_host and kind == "host_bound" else KINDS[kind].title


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
