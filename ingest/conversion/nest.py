"""Positions of spans in the call tree of their thread, also for spans that cross.

This is not SQL, because a self-join of the spans took six times as long as a scan in order. The
scan reads batches and carries the open spans from one batch to the next, so that a thread of any
length needs the memory of one batch.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ingest.arrow import arrow_of, numpy_of

BATCH_ROWS = 1 << 15  # few enough for the processor's cache
NAMES = ("name_id", "module_name_id")
READ = ("source_id", "lane", "event_id", "start_ns", "end_ns", "name_number")
RESULT_FIELDS = [
    pa.field("depth", pa.int32()),
    pa.field("parent_id", pa.int64()),
    pa.field("self_ns", pa.int64()),
    pa.field("path_id", pa.int64()),
    pa.field("caller_path_id", pa.int64()),
    pa.field("module_id", pa.int64()),
    pa.field("inner_ns", pa.int64()),
    pa.field("repeats", pa.int8()),
    pa.field("is_recursive", pa.int8()),
]
STEP = pa.field("step", pa.int64())
INSIDE = ("inside_ns", "inner_calls", "inner_ns", "inner_repeats")
PATH_BASE = 0x9E3779B97F4A7C15  # an odd number with well-distributed bits
END = np.iinfo(np.int64).max
NO_STEPS = (np.array([-END]), np.array([-1]))

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
Spans = dict[str, Integers]  # columns of the spans of one lane, ordered by start
Changes = Mapping[int, tuple[Integers, Integers]]  # by source: times, and the steps that begin then
Names = Mapping[str, Integers]  # columns `NAMES`, indexed by `name_number`


class Nest(NamedTuple):
    """Spans that nest, ordered by start."""

    start_ns: Integers
    end_ns: Integers
    by_end: Integers  # indices of the spans, ordered by end
    opens: Booleans  # whether a span can contain others
    ended: Integers  # number of such spans that end by the start of each span


def nest(
    connection: duckdb.DuckDBPyConnection, reads: tuple[str, ...], fills: tuple[str, ...]
) -> None:
    """Fill table `fills` from `reads`: (lane, event_id, start_ns, end_ns, event_index).

    Spans are ordered from outermost to innermost by start, then by decreasing length, then by the
    profiler's own order. Two spans may cross, as a `ProfilerStep` does with the Python frame in
    which it begins. Then, for nesting, the earlier one ends at the start of the later one. Spans of
    length zero have no children. These are the rules of torch.autograd.profiler_util.

    The table has the columns `depth`, `parent_id` and `self_ns`, and columns of the first relation,
    which are integers without nulls. For calls, `reads` has two more relations:

    - (source_id, from_ns, step): each span gets the `step` that began last before its start.
    - (name_number, name_id, module_name_id): the names behind a span's `name_number`. `name_id` is
      0 for spans that are not calls.

    Then the table has further columns:

    - `path_id`: a number for the names of the calls from the outermost to the span.
    - `caller_path_id`: the same without the span itself.
    - `module_id`: the same as `path_id` for `module_name_id` instead of `name_id`.
    - `inner_ns`: the durations of the calls directly inside.
    - `repeats`: 1 if there is exactly one call directly inside, and it has the same name.
    - `is_recursive`: 1 if a call around the span has the same name.
    """
    (relation, *of_calls), (result,) = reads, fills
    changes = names = None
    if of_calls:
        step_changes, call_names = of_calls
        changes, names = _changes(connection, step_changes), _names(connection, call_names)
    read_columns = connection.sql(f"FROM {relation}").columns
    result_columns = connection.table(result).columns
    columns = [name for name in read_columns if name in READ or name in result_columns]
    spans = (
        connection.cursor()
        .sql(
            f"SELECT {', '.join(columns)} FROM {relation} "
            "ORDER BY lane, start_ns, end_ns DESC, event_index, event_id"
        )
        .to_arrow_reader(BATCH_ROWS)
    )
    fields = {field.name: field for field in (*spans.schema, *RESULT_FIELDS, STEP)}
    schema = pa.schema([fields[name] for name in result_columns])
    batches = nested(spans, schema, changes, names)
    connection.register("nested", pa.RecordBatchReader.from_batches(schema, batches))
    try:
        connection.execute(f"INSERT INTO {result} FROM nested")
    finally:
        connection.unregister("nested")


def _changes(connection: duckdb.DuckDBPyConnection, relation: str) -> Changes:
    rows = connection.sql(
        "SELECT source_id, list(from_ns ORDER BY from_ns), list(step ORDER BY from_ns) "
        f"FROM {relation} GROUP BY source_id"
    ).fetchall()
    return {
        source: (np.array([-END, *times]), np.array([-1, *steps])) for source, times, steps in rows
    }


def _names(connection: duckdb.DuckDBPyConnection, relation: str) -> Names:
    query = f"SELECT {', '.join(NAMES)} FROM {relation} ORDER BY name_number"  # 1, 2, …
    table = connection.sql(query).to_arrow_table()
    return {name: np.append(0, numpy_of(table[name].combine_chunks())) for name in NAMES}


def nested(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    changes: Changes | None = None,
    names: Names | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the spans of the batches with the columns of `schema`, as they close.

    The batches must be ordered by lane and from outermost to innermost; see `nest`.
    """
    spans: Spans = {}
    lane = None
    for batch in batches:
        columns = {name: numpy_of(batch.column(name)) for name in batch.schema.names}
        columns |= {name: np.zeros(len(batch), np.int64) for name in INSIDE}
        if names is not None:
            columns |= {name: ids[columns["name_number"]] for name, ids in names.items()}
        lanes = columns["lane"]
        for first, end in pairwise([0, *np.flatnonzero(np.diff(lanes)) + 1, len(lanes)]):
            following = {name: values[first:end] for name, values in columns.items()}
            if changes is not None:
                # A file without steps is missing here if another file of its rank has some.
                times, steps = changes.get(following["source_id"][0], NO_STEPS)
                last = np.searchsorted(times, following["start_ns"], "right") - 1
                following["step"] = steps[last]
            if spans and lane != lanes[first]:
                yield _closed(spans, END, schema)[0]
                spans = {}
            lane = lanes[first]
            if spans:
                following = {
                    name: np.concatenate([spans[name], values])
                    for name, values in following.items()
                }
            closed, spans = _closed(following, following["start_ns"][-1], schema)
            yield closed
    if spans:
        yield _closed(spans, END, schema)[0]


def _closed(spans: Spans, until_ns: int, schema: pa.Schema) -> tuple[pa.RecordBatch, Spans]:
    """Return the spans that end by `until_ns`, with their result columns, and the open ones."""
    nest = _nest(spans["start_ns"], spans["end_ns"])
    depth, parent = _depths_and_parents(nest)
    inside = parent >= 0
    if np.any(nest.end_ns[parent[inside]] < nest.end_ns[inside]):
        nest = _nest(nest.start_ns, _cut_where_crossed(nest.start_ns, nest.end_ns))
        depth, parent = _depths_and_parents(nest)
        inside = parent >= 0
    closed = nest.end_ns <= until_ns
    nest_ns = nest.end_ns - nest.start_ns
    spans["inside_ns"] = spans["inside_ns"] + _sums(parent, nest_ns, closed & inside)
    known = spans | {"depth": depth.astype(np.int32), "self_ns": nest_ns - spans["inside_ns"]}
    if "name_id" in spans:
        known |= _calls(spans, nest, parent, closed)
    kept = np.flatnonzero(closed)
    columns = {name: arrow_of(known[name][kept]) for name in schema.names if name != "parent_id"}
    columns["parent_id"] = arrow_of(spans["event_id"][parent[kept]], ~inside[kept])
    batch = pa.record_batch([columns[name] for name in schema.names], schema)
    still_open = np.flatnonzero(~closed)
    return batch, {name: values[still_open] for name, values in spans.items()}


def _calls(spans: Spans, nest: Nest, parent: Integers, closed: Booleans) -> Spans:
    """Return the result columns of calls, and add the closed spans to those around them."""
    name_id = spans["name_id"]
    is_call = name_id != 0
    caller = parent
    while np.any(is_no_call := (caller >= 0) & ~is_call[caller]):
        caller = np.where(is_no_call, parent[caller], caller)
    counted = closed & is_call & (caller >= 0)
    same = counted & (name_id[caller] == name_id)
    ones = np.ones_like(caller)
    spans["inner_ns"] = spans["inner_ns"] + _sums(
        caller, spans["end_ns"] - spans["start_ns"], counted
    )
    spans["inner_calls"] = spans["inner_calls"] + _sums(caller, ones, counted)
    spans["inner_repeats"] = spans["inner_repeats"] + _sums(caller, ones, same)
    repeats = (spans["inner_calls"] == 1) & (spans["inner_repeats"] == 1)
    caller_path_id, path_id = _paths(nest, name_id)
    return {
        "inner_ns": spans["inner_ns"],
        "path_id": path_id,
        "caller_path_id": caller_path_id,
        "module_id": _paths(nest, spans["module_name_id"])[1],
        "repeats": repeats.astype(np.int8),
        "is_recursive": _recursive(nest, name_id).astype(np.int8),
    }


def _sums(groups: Integers, values: Integers, counted: Booleans) -> Integers:
    """Return the sums of the counted values by group. They are exact below 2⁵³, like durations."""
    sums: Integers = np.bincount(groups[counted], values[counted], len(groups)).astype(np.int64)
    return sums


def _nest(start_ns: Integers, end_ns: Integers) -> Nest:
    by_end = np.argsort(end_ns)
    opens = end_ns > start_ns
    ended = np.searchsorted(end_ns[by_end[opens[by_end]]], start_ns, "right")
    return Nest(start_ns, end_ns, by_end, opens, ended)


def _paths(nest: Nest, name_id: Integers) -> tuple[Integers, Integers]:
    """Return hashes of the names of the calls around each span, without and with its own name.

    A hash is the sum of the names, each multiplied by a power that depends on its depth. The sum
    over the open calls is the sum over all opened ones minus that over all closed ones, modulo 2⁶⁴.
    """
    if not name_id.any():
        return name_id, name_id
    opens = nest.opens & (name_id != 0)
    by_end = nest.by_end[opens[nest.by_end]]
    ended = nest.ended
    if len(by_end) < np.count_nonzero(nest.opens):
        ended = np.searchsorted(nest.end_ns[by_end], nest.start_ns, "right")
    depth = np.cumsum(opens) - opens - ended
    powers = np.full(int(depth.max()) + 1, PATH_BASE, np.uint64)
    powers[0] = 1
    names = name_id.astype(np.uint64) * np.cumprod(powers)[depth]
    opened = np.where(opens, names, np.uint64(0))
    closed = np.concatenate([np.zeros(1, np.uint64), np.cumsum(opened[by_end])])
    around = np.cumsum(opened) - opened - closed[ended]
    return around.astype(np.int64) & END, (around + names).astype(np.int64) & END  # no signs


def _recursive(nest: Nest, name_id: Integers) -> Booleans:
    """Return whether each call is inside another call of the same name."""
    order = np.argsort(name_id, kind="stable")
    name = np.cumsum(np.diff(name_id[order], prepend=0) != 0)
    count = len(order)
    end_rank = np.empty(count, np.int64)
    end_rank[nest.by_end] = np.arange(count)
    reached = np.maximum.accumulate(name * count + end_rank[order])[:-1]
    end_ns = nest.end_ns[nest.by_end[reached % count]]
    before = np.append(False, (reached // count == name[1:]) & (end_ns > nest.start_ns[order[1:]]))
    found = np.zeros(len(order), np.bool_)
    found[order] = before & (name_id[order] != 0)
    return found


def _depths_and_parents(nest: Nest) -> tuple[Integers, Integers]:
    """Return the depth of each span and the index of its parent, or -1.

    The depth is the number of earlier spans that are still open. The parent is the last of them one
    level up.
    """
    count = len(nest.start_ns)
    opened: Integers = np.cumsum(nest.opens) - nest.opens
    depth = opened - nest.ended
    by_depth = depth * count + np.arange(count)
    possible = np.sort(by_depth[nest.opens])
    found = np.searchsorted(possible, by_depth - count) - 1
    parent = np.full(count, -1)
    parent[depth > 0] = possible[found[depth > 0]] % count
    return depth, parent


def _cut_where_crossed(start_ns: Integers, end_ns: Integers) -> Integers:
    """Return the ends. A span that crosses a later one ends at the later one's start."""
    count = len(end_ns)
    highest = [end_ns]  # level k: the latest end of the 2ᵏ spans from each index
    while 2 ** len(highest) <= count:
        half = 2 ** (len(highest) - 1)
        highest.append(np.maximum(highest[-1][:-half], highest[-1][half:]))
    following = np.arange(1, count + 1)  # advanced over spans that do not outlast this one
    for level, ends in reversed(list(enumerate(highest))):
        within = np.flatnonzero(following < len(ends))
        following[within] += (ends[following[within]] <= end_ns[within]) << level
    crossing: Integers = np.append(start_ns, np.iinfo(np.int64).max)[following]
    return np.minimum(end_ns, crossing)
