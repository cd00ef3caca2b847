"""Which rank each trace of a run is of, and what is odd about the ranks together."""

import re
from itertools import chain, count

import duckdb

from ingest.description import MOST_RANKS, base_ns, world_size
from ingest.source import Source

RANK_IN_NAME = re.compile(r"(?<![a-z])rank[-_]?(\d{1,6})(?!\d)", re.IGNORECASE)
MOST_NAMED = 5


def stage_ranks(connection: duckdb.DuckDBPyConnection, sources: list[Source]) -> None:
    """Gives each trace its rank and its clock, for the SQL too, and warns of what is odd."""
    assign_ranks(sources)
    traces = [source for source in sources if source.kind == "kineto"]
    for source in traces:
        connection.execute(
            "INSERT INTO staged_sources VALUES ($1, $2, $3)",
            [source.source_id, source.rank, base_ns(source)],
        )
    read = [source for source in traces if source.status != "failed"]
    if read:
        _say_ranks(read)
    if len(read) > 1:
        _say_clocks(connection, read)


def assign_ranks(sources: list[Source]) -> None:
    """Gives each trace its rank: from its content, its file's name, its place, or any free one."""
    traces = [source for source in sources if source.kind == "kineto"]
    for source in traces:
        source.rank = _own_rank(source)
    taken = {source.rank for source in traces}
    for place, source in enumerate(traces):
        if source.rank is None:
            free = (rank for rank in chain([place], count()) if rank not in taken)
            source.rank = next(free)
            taken.add(source.rank)
            if len(traces) > 1:
                source.warnings.append(f"says no rank: taken for rank {source.rank}")


def _own_rank(source: Source) -> int | None:
    distributed = source.metadata.get("distributedInfo")
    recorded = distributed.get("rank") if isinstance(distributed, dict) else None
    if isinstance(recorded, int) and 0 <= recorded < MOST_RANKS:
        return int(recorded)
    named = RANK_IN_NAME.search(source.path.name)
    return int(named[1]) if named else None


def _say_ranks(traces: list[Source]) -> None:
    ranks = [source.rank for source in traces]
    for source in traces:
        if ranks.count(source.rank) > 1:
            source.warnings.append(f"rank {source.rank} has {ranks.count(source.rank)} files")
    size = world_size([source.metadata for source in traces]) or 0
    if len(traces) > 1:
        size = max([size, *(rank + 1 for rank in ranks if rank is not None)])
    missing = sorted(set(range(size)) - set(ranks))
    if missing:
        named = ", ".join(map(str, missing[:MOST_NAMED]))
        more = f" and {len(missing) - MOST_NAMED:,} more" if len(missing) > MOST_NAMED else ""
        traces[0].warnings.append(f"of {size:,} ranks there is no file of {named}{more}")


def _say_clocks(connection: duckdb.DuckDBPyConnection, traces: list[Source]) -> None:
    """Ranks of one run overlap in time; where one does not, it has another clock."""
    spans = {
        source_id: (first, last)
        for source_id, first, last in connection.execute(
            "SELECT source_id, min(base_ns + relative_ns), max(base_ns + relative_ns + dur_ns) "
            "FROM staged INNER JOIN staged_sources USING (source_id) WHERE side IS NOT NULL "
            "GROUP BY source_id"
        ).fetchall()
    }
    has_base = [source for source in traces if "baseTimeNanoseconds" in source.metadata]
    for source in traces:
        if has_base and "baseTimeNanoseconds" not in source.metadata:
            source.warnings.append("has no baseTimeNanoseconds, which other files of the run have")
        first, last = spans.get(source.source_id, (None, None))
        others = [span for source_id, span in spans.items() if source_id != source.source_id]
        if first is not None and others and all(last < a or b < first for a, b in others):
            source.warnings.append(
                "overlaps in time with no other file of the run: its clock may be another"
            )
