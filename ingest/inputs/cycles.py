"""Grouping of the traces of a run by the cycle of the profiler's schedule."""

from dataclasses import dataclass, field
from itertools import pairwise

import duckdb

from ingest.formats import Source


@dataclass
class _Trace:
    """The time range of a trace, Unix ns, and the numbers of the profiler's steps in it."""

    source: Source
    process: str
    start_ns: int
    end_ns: int
    steps: frozenset[int]


@dataclass
class _Cycle:
    """The traces of a cycle by process, and the steps in them.

    `uncertain`: the processes whose trace was assigned to the cycle only by its order.
    """

    traces: dict[str, _Trace] = field(default_factory=dict)
    steps: set[int] = field(default_factory=set)
    uncertain: set[str] = field(default_factory=set)

    @property
    def start_ns(self) -> int:
        """The start of the earliest trace, Unix ns."""
        return min(trace.start_ns for trace in self.traces.values())

    def has_steps_of(self, trace: _Trace) -> bool:
        """Return whether the cycle and the trace share a step, or neither has any."""
        return bool(self.steps & trace.steps) or self.steps == trace.steps

    def add(self, trace: _Trace) -> None:
        """Add a trace and its steps."""
        self.traces[trace.process] = trace
        self.steps |= trace.steps

    def overlaps(self, trace: _Trace) -> bool:
        """Return whether one of the cycle's traces was recorded at the same time."""
        return any(
            other.start_ns <= trace.end_ns and trace.start_ns <= other.end_ns
            for other in self.traces.values()
        )


def number_cycles(
    connection: duckdb.DuckDBPyConnection, processes: dict[str, list[Source]]
) -> None:
    """Number the cycles of a run in which a process wrote several traces.

    Traces of different processes belong to the same cycle if they have the same step numbers. If
    step numbers do not decide, traces recorded at the same time belong to the same cycle. Otherwise
    the first trace of one process is matched with the first of another. Warn of a process that
    lacks a cycle.

    Cycles are ordered by step number if the step numbers of every process increase, or else by
    time. Time alone would misorder processes that ran one after the other.
    """
    if all(len(sources) == 1 for sources in processes.values()):
        return
    cycles: list[_Cycle] = []
    traces = _traces(connection, processes)
    by_process = [
        [trace for trace in traces if trace.process == process]
        for process in dict.fromkeys(trace.process for trace in traces)
    ]
    by_step = all(map(_steps_rise, by_process))
    for of_process in by_process:
        for trace in of_process:
            _add_to_cycle(trace, cycles)
        cycles.sort(key=lambda cycle: (min(cycle.steps) if by_step else 0, cycle.start_ns))
    for number, cycle in enumerate(cycles, 1):
        for trace in cycle.traces.values():
            trace.source.cycle = number
    for of_process in by_process:
        _warn(of_process[0].process, cycles)


def _traces(
    connection: duckdb.DuckDBPyConnection, processes: dict[str, list[Source]]
) -> list[_Trace]:
    """Return the traces that have events, ordered by time."""
    found = {
        source.source_id: (process, source)
        for process, sources in processes.items()
        for source in sources
    }
    rows = connection.execute(
        """
        SELECT
            source_id,
            min(base_ns + relative_ns) AS start_ns,
            max(base_ns + relative_ns + dur_ns) AS end_ns,
            list(DISTINCT try_cast(regexp_extract(name, '^ProfilerStep#([0-9]+)', 1) AS BIGINT))
                FILTER (category IN ('user_annotation', 'cpu_op') AND name LIKE 'ProfilerStep#%')
                AS steps
        FROM staged INNER JOIN staged_sources USING (source_id)
        WHERE side IS NOT NULL
        GROUP BY source_id
        ORDER BY start_ns, source_id
        """
    ).fetchall()
    return [
        _Trace(found[i][1], found[i][0], start, end, frozenset(steps or []) - {None})
        for i, start, end, steps in rows
        if i in found
    ]


def _steps_rise(traces: list[_Trace]) -> bool:
    """Return whether each trace of a process has steps, all after those of the previous trace."""
    return all(trace.steps for trace in traces) and all(
        max(before.steps) < min(after.steps) for before, after in pairwise(traces)
    )


def _add_to_cycle(trace: _Trace, cycles: list[_Cycle]) -> None:
    """Add a trace to its cycle, or to a new one."""
    free = [
        cycle for cycle in cycles if trace.process not in cycle.traces and cycle.has_steps_of(trace)
    ]
    cycle = next((cycle for cycle in free if cycle.overlaps(trace)), None)
    if not cycle:
        cycle = free[0] if free else _Cycle()
        if free:
            cycle.uncertain.add(trace.process)
        else:
            cycles.append(cycle)
    cycle.add(trace)


def _warn(process: str, cycles: list[_Cycle]) -> None:
    """Warn if a process lacks cycles that others have."""
    own = [cycle for cycle in cycles if process in cycle.traces]
    first = own[0].traces[process].source
    missing = [number for number, cycle in enumerate(cycles, 1) if cycle not in own]
    if not missing:
        return
    named = ", ".join(map(str, missing))
    if any(process in cycle.uncertain for cycle in own) and any(
        cycles[number - 1].has_steps_of(mine.traces[process]) for number in missing for mine in own
    ):
        first.warn(
            "cycles_uncertain",
            f"other processes have {len(cycles)} cycles, this one has {len(own)}; neither step "
            "numbers nor times show which, so its files count as the first cycles",
        )
    else:
        first.warn(
            "cycles_missing",
            f"files are missing for cycles: {named} (the run has {len(cycles)} cycles)",
        )
