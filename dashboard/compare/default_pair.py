"""The default pair of runs on page Compare, and the reason for it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from dashboard import data
from dashboard.drawing import formatting
from ingest.server import Value, select


class DefaultPair(NamedTuple):
    """The runs to compare by default, None for a side without a run, and the reason to show."""

    base: str | None
    other: str | None
    reason: str


def of(latest_first: Sequence[str]) -> DefaultPair:
    """Return the latest two of several picked runs, or a picked run and the run before it.

    A run without one before it is compared with the run after it, or else with any.

    Without picked runs, return the latest two runs of the same model on the same device.
    """
    if len(latest_first) > 1:
        return _latest_two(latest_first)
    if latest_first:
        return _before(latest_first[0])
    return _of_one_model()


def _latest_two(picked: Sequence[str]) -> DefaultPair:
    """Return the latest two runs. Runs without times to compare come last."""
    timed = _runs({"run_id": picked})
    other, base = [*timed, *(run for run in picked if run not in timed)][:2]
    if len(picked) == 2:
        return DefaultPair(base, other, "The two picked runs, the earlier one first.")
    return DefaultPair(base, other, f"The latest two of the {len(picked):,} picked runs.")


def _runs(where: dict[str, Value]) -> list[str]:
    """Return the runs with times, latest first."""
    query = select("run_id", "previous_runs", where, order_by=data.LATEST_FIRST)
    return [str(run) for run in data.rows(query)["run_id"]]


def _before(run: str) -> DefaultPair:
    name = f"**{formatting.literal(run)}**"
    found = data.rows(select("*", "previous_runs", {"run_id": run}))
    if found.empty:
        return DefaultPair(None, run, f"{name} has no trace, so it has no times to compare.")
    (row,) = found.itertuples()
    of_model = f"of **{formatting.literal(str(row.model))}**"
    if formatting.missing(row.previous_run_id):
        return _with_any(row, f"{name} is the earliest run {of_model}")
    device = "the same device" if row.is_same_device else "another device"
    return DefaultPair(
        str(row.previous_run_id),
        run,
        f"The picked run and the previous run {of_model}, on {device}.",
    )


def _with_any(row: Any, why: str) -> DefaultPair:
    """Return a run without a previous one, and the next of its model, or else the latest run.

    `row` is the run's row of `previous_runs`. A run on a device of the same name comes first.
    """
    run = str(row.run_id)
    after = _runs({"previous_run_id": run})
    if after:
        return DefaultPair(run, after[-1], f"{why}, so the next one is compared with it.")
    others = _runs({"run_id <>": run})
    if not others:
        return DefaultPair(None, run, f"{why}, and no other run has times.")
    name = None if formatting.missing(row.device_name) else str(row.device_name)
    alike = _runs({"run_id <>": run, "measure": row.measure, "device_name": name})
    device = "the same device" if alike else "another device"
    return DefaultPair(
        (alike or others)[0],
        run,
        f"{why}, and the only one, so it is compared with the latest other run, on {device}.",
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
        reason = f"The latest two runs of **{name}** on the same device, because no run is picked."
        return DefaultPair(str(row.previous_run_id), str(row.run_id), reason)
    return DefaultPair(None, None, "")
