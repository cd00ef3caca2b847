"""Ranks of the files of a run, and warnings about inconsistent ranks and clocks."""

import math
import re
from collections import Counter
from collections.abc import Set
from itertools import chain, count
from typing import NamedTuple

import duckdb

from ingest.formats import Format, Source
from ingest.inputs.cycles import number_cycles
from ingest.inputs.metadata import world_size

RANK_IN_NAME = re.compile(r"(?<![a-z])rank[-_]?(\d{1,6})(?!\d)", re.IGNORECASE)
RANK_AT_END = re.compile(r"(?<!\d)(\d{1,6})(\.\D\w*)*$")
# The traces of one process, with the names of torch and of `capture`.
CYCLE_NAME = re.compile(r"(.+?)(?:\.\d{10,}\.pt|-cycle\d+)?\.trace\.json(\.gz)?")
WORKER_NAME = re.compile(r"(.+)_\d+")  # torch's name of a process: its host and its process id
MAX_NAMED = 5
FAR_NS = 3_600_000_000_000  # less is plausible: processes of a run may run one after the other


class _Span(NamedTuple):
    """The first and last time of the events of a file, Unix ns."""

    first_ns: int
    last_ns: int
    process: str


def stage_ranks(connection: duckdb.DuckDBPyConnection, sources: list[Source]) -> None:
    """Assign each profile its rank, fill `staged_sources`, and warn of inconsistencies."""
    profiles = [source for source in sources if source.is_profile]
    traces = [source for source in profiles if source.has_events]
    others = [source for source in profiles if not source.has_events]
    certain = {source.source_id for source in profiles if own_rank(source) is not None}
    assign_ranks(traces)  # separately: a snapshot may have the same assumed rank as a trace
    needed = any(each.pid is not None and each.source_id not in certain for each in others)
    processes = _ranks_of_processes(connection, traces) if needed else {}
    for of_format in _by_format(others):
        assign_ranks(of_format, processes)
    for source in profiles:
        connection.execute(
            "INSERT INTO staged_sources VALUES ($1, $2, $3, $4)",
            [source.source_id, source.rank, source.clock or 0, source.host_name],
        )
    read = [source for source in profiles if source.status != "failed"]
    for of_format in _by_format(read):
        _warn_of_ranks(of_format)
    if len(traces := [source for source in read if source.has_events]) > 1:
        _warn_of_clocks(connection, traces, certain)
        number_cycles(connection, _by_process(traces))


def _by_process(sources: list[Source]) -> dict[str, list[Source]]:
    processes: dict[str, list[Source]] = {}
    for source in sources:
        processes.setdefault(_process(source), []).append(source)
    return processes


def _by_format(sources: list[Source]) -> list[list[Source]]:
    """Return the files of each format, in their order."""
    groups: dict[Format | None, list[Source]] = {}
    for source in sources:
        groups.setdefault(source.format, []).append(source)
    return list(groups.values())


def assign_ranks(sources: list[Source], traced: dict[str, int | None] | None = None) -> None:
    """Assign each file of a format its rank.

    The rank comes from the file's content or name, or from `traced` by its process id. Otherwise
    it is the position of the process among the files if that rank is free, or the first free one.
    The cycles of one profiler are files of one process, and so have one rank.

    `traced`: the ranks of process ids that are known from traces.
    """
    for source in sources:
        source.rank = own_rank(source)
        if source.rank is None and traced and source.pid is not None:
            source.rank = traced.get(source.pid)
    processes = _by_process(sources)
    taken = {source.rank for cycles in processes.values() for source in cycles}
    for position, cycles in enumerate(processes.values()):
        unknown = [source for source in cycles if source.rank is None]
        known = (source.rank for source in cycles if source.rank is not None)
        free = (rank for rank in chain([position], count()) if rank not in taken)
        rank = next(chain(known, free))
        taken.add(rank)
        for source in unknown:
            source.rank = rank
            if len(processes) > 1 and len(unknown) == len(cycles):
                source.warn("rank_assumed", f"does not record its rank: rank {rank} is assumed")


def _ranks_of_processes(
    connection: duckdb.DuckDBPyConnection, traces: list[Source]
) -> dict[str, int | None]:
    """Return the rank of each process id that occurs in traces of only one rank."""
    ranks = {source.source_id: source.rank for source in traces}
    pids: dict[str, set[int | None]] = {}
    for source_id, pid in connection.execute(
        "SELECT DISTINCT source_id, pid FROM staged WHERE side = 'host'"
    ).fetchall():
        pids.setdefault(pid, set()).add(ranks[source_id])
    return {pid: rank for pid, (rank, *others) in pids.items() if not others}


def _process(source: Source) -> str:
    """Return a name for the process of a file. The cycles of one profiler have the same."""
    named = CYCLE_NAME.fullmatch(source.path.name)
    name = named[1] if named else str(source.path)
    return name if source.process is None else f"{name} {source.process}"


def own_rank(source: Source) -> int | None:
    """Return the rank that a file records, or that its name has, or None.

    Once ranks are assigned, it is the assigned one.
    """
    if source.rank is not None or source.process is not None:
        return source.rank
    named = RANK_IN_NAME.search(source.path.name)
    if not named and source.format and source.format.name_ends_with_rank:
        named = RANK_AT_END.search(source.path.name)
    return int(named[1]) if named else None


def _warn_of_ranks(sources: list[Source]) -> None:
    ranks = [source.rank for source in sources]
    files = Counter(ranks)
    processes = Counter(rank for rank, _ in {(source.rank, _process(source)) for source in sources})
    for source in sources:
        if processes[source.rank] > 1:
            source.warn("rank_repeated", f"rank {source.rank} has {files[source.rank]} files")
    size = world_size(sources) or 0
    if len(sources) > 1:
        size = max([size, *(rank + 1 for rank in ranks if rank is not None)])
    missing = sorted(set(range(size)) - set(ranks))
    if missing:
        named = ", ".join(map(str, missing[:MAX_NAMED]))
        more = f" and {len(missing) - MAX_NAMED:,} more" if len(missing) > MAX_NAMED else ""
        message = f"files are missing for ranks: {named}{more} (the run has {size:,} ranks)"
        sources[0].warn("ranks_missing", message)


def _warn_of_clocks(
    connection: duckdb.DuckDBPyConnection, traces: list[Source], certain: Set[int]
) -> None:
    """Warn of files without a clock, and of those recorded at a very different time.

    `certain`: the ids of the sources whose rank is recorded.
    """
    processes = {source.source_id: _process(source) for source in traces}
    spans = [
        _Span(first, last, processes[source_id])
        for source_id, first, last in connection.execute(
            "SELECT source_id, min(base_ns + relative_ns), max(base_ns + relative_ns + dur_ns) "
            "FROM staged INNER JOIN staged_sources USING (source_id) WHERE side IS NOT NULL "
            "GROUP BY source_id"
        ).fetchall()
    ]
    apart = _recorded_apart(spans)
    far = _far_from_others(spans)
    has_clock = any(source.clock is not None for source in traces)
    for source in traces:
        process = processes[source.source_id]
        if has_clock and source.clock is None:
            source.warn(
                "base_time_missing",
                "does not record the Unix time of its zero, unlike other files of the run: its "
                "times may not match theirs",
            )
        # A trace that records its rank belongs to the same job as the others.
        if process in apart and source.source_id not in certain:
            source.warn(
                "recorded_apart",
                f"begins after the end of {apart[process]}: if it belongs to another job, "
                "move it to a separate directory",
            )
        if process in far:
            source.warn(
                "clock_differs",
                "was recorded an hour or more before or after all other files of the run: "
                "its clock may be wrong",
            )


def _far_from_others(spans: list[_Span]) -> set[str]:
    """Return the processes that are an hour or more away from all others."""
    groups: list[set[str]] = []
    last_ns = -math.inf
    for span in sorted(spans):
        if span.first_ns > last_ns + FAR_NS:
            groups.append(set())
        groups[-1].add(span.process)
        last_ns = max(last_ns, span.last_ns)
    near = set().union(*(group for group in groups if len(group) > 1))
    alone = {span.process for span in spans} - near
    return alone if len(alone | near) > 1 else set()


def _recorded_apart(spans: list[_Span]) -> dict[str, str]:
    """Map each process that began after the end of another on its host to the first that ended."""
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    for span in spans:
        begins[span.process] = min(span.first_ns, begins.get(span.process, span.first_ns))
        ends[span.process] = max(span.last_ns, ends.get(span.process, span.last_ns))
    by_host: dict[str, list[str]] = {}
    for process in sorted(ends, key=ends.__getitem__):
        if host := WORKER_NAME.fullmatch(process):
            by_host.setdefault(host[1], []).append(process)
    return {
        process: first
        for first, *others in by_host.values()
        for process in others
        if begins[process] > ends[first]
    }
