"""The pair that page Compare shows until someone chooses: which runs, and why these."""

from collections.abc import Sequence
from typing import NamedTuple

from dashboard import data
from dashboard.drawing import formatting
from dashboard.query import Value, select


class DefaultPair(NamedTuple):
    """The runs to compare at first, None for a side without one, and the reason to show."""

    base: str | None
    other: str | None
    reason: str


def of(latest_first: Sequence[str]) -> DefaultPair:
    """Of several picked runs the latest two; else a run and the one before it."""
    if len(latest_first) > 1:
        return _latest_two(latest_first)
    if latest_first:
        return _before(latest_first[0])
    return _of_one_model()


def _latest_two(picked: Sequence[str]) -> DefaultPair:
    """Runs without a time to compare come last."""
    timed = _runs({"run_id": picked})
    other, base = [*timed, *(run for run in picked if run not in timed)][:2]
    if len(picked) == 2:
        return DefaultPair(base, other, "The two picked runs, the earlier one first.")
    return DefaultPair(base, other, f"The latest two of the {len(picked):,} picked runs.")


def _runs(where: dict[str, Value]) -> list[str]:
    """Runs with times, the latest first."""
    query = select("run_id", "previous_runs", where, order_by=data.LATEST_FIRST)
    return [str(run) for run in data.rows(query)["run_id"]]


def _before(run: str) -> DefaultPair:
    name = f"**{formatting.literal(run)}**"
    found = data.rows(select("*", "previous_runs", {"run_id": run}))
    if found.empty:
        return DefaultPair(None, run, f"{name} has no trace, and so no time to compare.")
    (row,) = found.itertuples()
    of_model = f"of **{formatting.literal(str(row.model))}**"
    if formatting.missing(row.previous_run_id):
        return DefaultPair(None, run, f"{name} is the earliest run {of_model}.")
    device = "the same device" if row.is_same_device else "another device"
    return DefaultPair(
        str(row.previous_run_id),
        run,
        f"The picked run, and the run {of_model} before it, on {device}.",
    )


def _of_one_model() -> DefaultPair:
    query = select(
        "*",
        "previous_runs",
        {"is_same_device": True},
        order_by=data.LATEST_FIRST,
        limit=1,
    )
    for row in data.rows(query).itertuples():
        name = formatting.literal(str(row.model))
        reason = f"No run is picked: the latest two of **{name}** on the same device."
        return DefaultPair(str(row.previous_run_id), str(row.run_id), reason)
    return DefaultPair(None, None, "")
