"""Which traces of the processes of a run are of the same cycle of the profiler's schedule."""

from dataclasses import dataclass, field
from itertools import pairwise

import duckdb

from ingest.formats import Source


@dataclass
class _Trace:
    """When a trace was recorded, Unix ns, and the profiler's steps in it."""

    source: Source
    process: str
    start_ns: int
    end_ns: int
    steps: frozenset[int]


@dataclass
class _Cycle:
    """The traces of a cycle by process, and the steps in them.

    `uncertain`: the processes whose trace is in it by its place in the order alone.
    """

    traces: dict[str, _Trace] = field(default_factory=dict)
    steps: set[int] = field(default_factory=set)
    uncertain: set[str] = field(default_factory=set)

    @property
    def start_ns(self) -> int:
        return min(trace.start_ns for trace in self.traces.values())

    def has_steps_of(self, trace: _Trace) -> bool:
        """Whether it has one of the trace's steps; also where neither has any."""
        return bool(self.steps & trace.steps) or self.steps == trace.steps

    def add(self, trace: _Trace) -> None:
        self.traces[trace.process] = trace
        self.steps |= trace.steps

    def overlaps(self, trace: _Trace) -> bool:
        """Whether one of its traces was recorded at the same time."""
        return any(
            other.start_ns <= trace.end_ns and trace.start_ns <= other.end_ns
            for other in self.traces.values()
        )


def number_cycles(
    connection: duckdb.DuckDBPyConnection, processes: dict[str, list[Source]]
) -> None:
    """Numbers the cycles of a run in which a process wrote several traces.

    Traces of different processes are of one cycle if they have steps of the same numbers. Where
    step numbers do not decide, traces recorded at the same time are of one cycle; failing that,
    the first goes with the first. Warns of a process that lacks a cycle.

    Cycles are in order of their steps if the steps of every process rise, else in order of time.
    Time alone misorders processes that ran one after the other.
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
            _place(trace, cycles)
        cycles.sort(key=lambda cycle: (min(cycle.steps) if by_step else 0, cycle.start_ns))
    for number, cycle in enumerate(cycles, 1):
        for trace in cycle.traces.values():
            trace.source.cycle = number
    for of_process in by_process:
        _warn(of_process[0].process, cycles)


def _traces(
    connection: duckdb.DuckDBPyConnection, processes: dict[str, list[Source]]
) -> list[_Trace]:
    """The traces that have events, in order of time."""
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
    """Whether every trace of a process has steps, all later than those of the trace before."""
    return all(trace.steps for trace in traces) and all(
        max(before.steps) < min(after.steps) for before, after in pairwise(traces)
    )


def _place(trace: _Trace, cycles: list[_Cycle]) -> None:
    """Puts a trace into its cycle, or into a new one."""
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
    """Warns of a process that lacks cycles which others have."""
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
            f"other processes have {len(cycles)} cycles, this one has {len(own)}: neither steps "
            "nor times tell which, so they count as the first",
        )
    else:
        first.warn("cycles_missing", f"of {len(cycles)} cycles there is no file of {named}")
