"""What page Ranks says: what each rank did, how late it came, and its collectives."""

from collections.abc import Mapping
from typing import Any

from ingest.reports.query import Query, Value, select
from ingest.reports.section import Section

# Why collectives are unmatched, by `collectives.unmatched_reason`.
UNMATCHED = {
    "no_group": "their process group is unknown",
    "no_kind": "their kind is unknown",
    "ambiguous": "several calls of another rank fit",
    "no_order": "no call of another rank fits",
    "no_peer": "the other rank recorded no such call",
    "one_rank": "no other rank recorded them",
    "mismatch": "ranks with the same number called another kind or type",
}
A_STEP = (
    *("wall_ns", "compute_ns", "waiting_ns", "transfer_ns", "unmatched_ns"),
    *("exposed_communication_ns", "idle_ns"),
)


def job(run_id: str) -> Query:
    """Return the query for the number of ranks of the job: one row."""
    return select("world_size", "runs", {"run_id": run_id})


def stragglers(run_id: str) -> Query:
    """Return the query for how often each rank comes last, those that cost the most first."""
    return select(
        "* EXCLUDE (run_id)", "stragglers", {"run_id": run_id}, order_by="cost_ns DESC, rank"
    )


def causes(run_id: str) -> Section:
    """Return what the straggler does longer than the other ranks, the longest first."""
    return Section(
        "What the straggler does longer",
        "straggler_causes",
        select(
            "* EXCLUDE (run_id)",
            "straggler_causes",
            {"run_id": run_id},
            order_by="level = 'part' DESC, level, excess_ns DESC, name",
        ),
        absent="No rank is a straggler.",
        labels={
            "own_ns": "a step",
            "other_ns": "other ranks",
            "excess_ns": "longer by",
            "cost_percent": "of its cost",
            "step_calls": "calls",
            "other_step_calls": "other calls",
            "is_slower": "same calls, slower",
        },
    )


def matching(run_id: str) -> Query:
    """Return the query for the number of calls by the reason why they are unmatched.

    Matched calls have no reason. Of these, `timed_calls` have corrected times.
    """
    return select(
        "unmatched_reason, count(*) AS calls, count(lateness_ns) AS timed_calls, "
        "coalesce(bool_or(is_bound), FALSE) AS has_bounds",
        "collectives",
        {"run_id": run_id},
        group_by="unmatched_reason",
        order_by="calls DESC, unmatched_reason",
    )


def ranks(where: Mapping[str, Value]) -> Section:
    """Return what each device of a rank did in a step, on average over steps, the latest first."""
    means = ",\n".join(f"(sum({each}) / count(*))::BIGINT AS {each}" for each in A_STEP)
    of_steps = select(
        "run_id, rank, device_id, any_value(device) AS device, any_value(host_name) AS host_name,\n"
        "(sum(lateness_ns * collectives) / nullif(sum(collectives), 0))::BIGINT AS lateness_ns,\n"
        "100 * sum(last_collectives) / nullif(sum(collectives), 0) AS last_percent,\n"
        f"{means},\n"
        "max(peak_bytes) AS peak_bytes, count(*) AS steps,\n"
        "coalesce(arg_max(step, (lateness_ns, -step)) FILTER (WHERE lateness_ns IS NOT NULL), "
        "min(step)) AS latest_step",
        "rank_summary",
        where,
        group_by="run_id, rank, device_id",
    )
    return Section(
        "Ranks",
        "rank_summary",
        Query(
            f"WITH of_steps AS (\n{of_steps.text}\n)\n"
            "SELECT of_steps.* EXCLUDE (run_id), cost_ns\n"
            "FROM of_steps\n"
            "LEFT JOIN stragglers USING (run_id, rank)\n"
            "ORDER BY lateness_ns DESC NULLS LAST, of_steps.rank, device_id",
            of_steps.parameters,
        ),
        labels={
            "host_name": "host",
            "lateness_ns": "lateness",
            "last_percent": "comes last",
            "waiting_ns": "waiting",
            "exposed_communication_ns": "exposed",
            "wall_ns": "wall time",
            "cost_ns": "costs per step",
            "step": "latest in step",
        },
    )


def idle_causes(where: Mapping[str, Value]) -> Query:
    """Return the query for the idle time of each device of a rank by cause, over all steps."""
    return select(
        "rank, device_id, cause.key AS part, sum(cause.value)::BIGINT AS part_ns",
        "rank_summary, unnest(map_entries(idle_causes)) AS causes(cause)",
        where,
        group_by="ALL",
        order_by="rank, device_id, part",
    )


def lateness_of_steps(where: Mapping[str, Value], straggler: int | None, width: int) -> Query:
    """Return the query for the lateness of ranks in each `width` steps, and of the straggler."""
    first = f"step // {int(width)} * {int(width)} AS step" if width > 1 else "step"
    late = "NULL" if straggler is None else f"max(lateness_ns) FILTER (WHERE rank = {straggler})"
    return select(
        f"{first}, median(lateness_ns)::BIGINT AS median_ns, "
        f"max(lateness_ns) AS largest_ns, arg_max(rank, (lateness_ns, -rank)) AS latest_rank, "
        f"{late} AS straggler_ns",
        "rank_summary",
        {**where, "lateness_ns IS NOT NULL": True, "step >=": 0},
        group_by="ALL",
        order_by="step",
    )


def collectives(run_id: str) -> Section:
    """Return the collectives of a run by group, kind and size, most waiting first."""
    return Section(
        "Collectives by kind and size",
        "collective_summary",
        select(
            "* EXCLUDE (run_id)",
            "collective_summary",
            {"run_id": run_id},
            order_by="wait_ns DESC NULLS LAST, calls DESC, process_group_id, kind, bytes",
        ),
        labels={
            "group_name": "group",
            "matched_calls": "matched",
            "dtype": "type",
            "bytes": "size",
            "median_dur_ns": "duration",
            "transfer_ns": "latency",
            "skew_ns": "skew",
            "max_skew_ns": "largest skew",
            "wait_ns": "waiting",
            "algorithm_gb_per_s": "algorithm bandwidth",
            "bus_gb_per_s": "bus bandwidth",
        },
    )


def latest_call(run_id: str, row: Mapping[str, Any]) -> Query:
    """Return the query for the call with the largest skew of a row of `collectives`.

    It is that of the rank that came last. Of unmatched calls, it is the longest.
    """
    return select(
        "rank, device_id, start_ns, dur_ns",
        "collectives",
        {
            "run_id": run_id,
            **{name: row[name] for name in ("process_group_id", "kind", "dtype")},
            "greatest(in_bytes, out_bytes)": row["bytes"],
        },
        order_by="lateness_ns DESC NULLS LAST, dur_ns DESC, rank, start_ns",
        limit=1,
    )


def groups(run_id: str) -> Section:
    """Return the process groups of a run."""
    return Section(
        "Process groups",
        "process_groups",
        select(
            "* EXCLUDE (run_id)",
            "process_groups",
            {"run_id": run_id},
            order_by="process_group_id",
        ),
        absent="No file names the process groups.",
        labels={"group_size": "ranks", "member_ranks": "members", "missing_ranks": "missing"},
    )


def clocks(run_id: str) -> Section:
    """Return the clocks of a run's ranks."""
    return Section(
        "Clocks",
        "rank_clocks",
        select("* EXCLUDE (run_id)", "rank_clocks", {"run_id": run_id}, order_by="rank"),
        labels={
            "host_name": "host",
            "reference_rank": "reference",
            "offset_ns": "offset",
            "drift_ppm": "drift (ppm)",
            "uncertainty_ns": "±",
            "collectives": "collectives",
        },
    )
