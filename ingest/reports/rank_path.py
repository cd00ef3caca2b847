"""The critical path of the median step across ranks."""

from typing import Any

from ingest.reports.query import Query
from ingest.reports.section import Section
from ingest.units import counted, percent

Row = dict[str, Any]

MAX_RANKS = 4  # that a sentence names


def stretches(run_id: str) -> Section:
    """Return the stretches of the path of the median step, in the order of time.

    If not all ranks can be compared, they are of the most ranks that can.
    """
    return Section(
        "Critical path across ranks",
        "group_path_ranks",
        Query(
            "SELECT path.step, path.ranks, path.ordinal, path.rank, path.start_ns,\n"
            "path.start_ns - min(path.start_ns) OVER () AS from_start_ns, path.dur_ns,\n"
            "100.0 * path.dur_ns / sum(path.dur_ns) OVER () AS percent, calls.kind AS waited_in\n"
            "FROM group_path_ranks AS path\n"
            "LEFT JOIN collectives AS calls\n"
            "ON path.run_id = calls.run_id AND path.waited_in_id = calls.collective_id\n"
            "WHERE path.run_id = $1 AND path.is_median\n"
            "AND path.reference_rank = (\n"
            "SELECT arg_max(reference_rank, (ranks, -reference_rank))\n"
            "FROM group_path_ranks\n"
            "WHERE run_id = $1\n"
            ")\n"
            "ORDER BY path.ordinal",
            (run_id,),
        ),
        (run_id,),
        labels={
            "from_start_ns": "from the start",
            "dur_ns": "time",
            "percent": "of the path",
            "waited_in": "before, it waited in",
        },
    )


def shares(rows: list[Row]) -> list[tuple[int, float]]:
    """Return each rank of the path with its share, percent, the largest first."""
    found: dict[int, float] = {}
    for row in rows:
        found[row["rank"]] = found.get(row["rank"], 0) + row["percent"]
    return sorted(found.items(), key=lambda share: (-share[1], share[0]))


def sentence(rows: list[Row], matching: list[Row]) -> str:
    """Return on which ranks the path is, or an empty text if no ranks can be compared.

    The arguments are rows of `stretches` and of `rank_views.matching`.
    """
    if not rows or rows[0]["ranks"] < 2 or not any(row["timed_calls"] for row in matching):
        return ""
    whole = "the recording" if rows[0]["step"] is None else "the median step"
    found = shares(rows)
    if len(found) == 1:
        return (
            f"The critical path of {whole} is on rank {found[0][0]} alone: no call on it waited "
            "for another rank."
        )
    named = [f"{percent(share)} on rank {rank}" for rank, share in found[:MAX_RANKS]]
    if rest := found[MAX_RANKS:]:
        share = sum(share for _, share in rest)
        named.append(f"{percent(share)} on {counted(len(rest), 'other rank')}")
    return f"The critical path of {whole} crosses ranks: {', '.join(named)}."
