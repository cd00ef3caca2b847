"""Computation of the critical paths of steps from their spans and activities."""

from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa

from ingest.arrow import arrow_of, numpy_of
from ingest.conversion.critical_path.gains import KINDS, gains, labels_of
from ingest.conversion.critical_path.graph import NOBODY, Edges, Graph, Integers, Kind, in_order
from ingest.conversion.critical_path.longest import longest_path
from ingest.conversion.critical_path.nodes import Columns, Nodes
from ingest.conversion.critical_path.streams import add_streams
from ingest.conversion.critical_path.threads import Host, add_threads, read_threads
from ingest.conversion.critical_path.waits import add_waits
from ingest.memory_limit import memory_limit

ORDERS = (
    "lane, start_ns, end_ns DESC, event_id",
    "lane, start_ns, event_id",
    "call_id, awaited_lane, before_ns",
)
CAUSES = np.array([Kind.HOST, Kind.DATALOADER, Kind.COMPILE], np.int8)  # by `cause` of `path_spans`
MANY_SPANS = 400_000  # of a step; with more, DuckDB leaves memory to Python
LESS_MEMORY = "200MB"
BATCH_ROWS = 1 << 15
INSERTED_ROWS = 1 << 17  # per INSERT, which has a fixed cost


def find_paths(
    connection: duckdb.DuckDBPyConnection, reads: tuple[str, ...], fills: tuple[str, ...]
) -> None:
    """Fill `path_edges` and `path_gains` from the relations of steps, spans, activities and syncs.

    Work on one step at a time, in memory that is linear in the step's events.
    """
    _, spans, *_ = reads
    counts = f"SELECT count(*) AS spans FROM {spans} GROUP BY path"
    [(most,)] = connection.execute(f"SELECT coalesce(max(spans), 0) FROM ({counts})").fetchall()
    with memory_limit(connection, LESS_MEMORY if most > MANY_SPANS else None):
        _find_paths(connection, reads, fills)


def _find_paths(
    connection: duckdb.DuckDBPyConnection, reads: tuple[str, ...], fills: tuple[str, ...]
) -> None:
    steps, *relations = reads
    parts = [
        _Rows(connection, relation, order)
        for relation, order in zip(relations, ORDERS, strict=True)
    ]
    edges_table, gains_table = sorted(fills)
    query = f"SELECT path, start_ns, end_ns, main_lane FROM {steps} ORDER BY path"
    found: list[pa.Table] = []
    gained: list[tuple[int, str, str | None, int, int]] = []
    for path, start_ns, end_ns, main_lane in connection.sql(query).fetchall():
        nodes = Nodes(start_ns, end_ns, *(rows.of(path) for rows in parts))
        host = read_threads(nodes, main_lane)
        graph = build_graph(nodes, host)
        edges = longest_path(graph)
        found.append(_rows(path, nodes, host, graph, edges))
        if sum(map(len, found)) >= INSERTED_ROWS:
            _insert(connection, edges_table, found)
            found = []
        gained += [(path, *row) for row in gains(graph, edges, labels_of(nodes, host))]
    if found:
        _insert(connection, edges_table, found)
    if gained:
        connection.execute(
            f"INSERT INTO {gains_table} SELECT unnest($1), unnest($2), unnest($3), unnest($4), "
            "unnest($5)",
            [list(column) for column in zip(*gained, strict=True)],
        )


def _insert(connection: duckdb.DuckDBPyConnection, table: str, found: list[pa.Table]) -> None:
    connection.register("found", pa.concat_tables(found))
    try:
        connection.execute(
            f"INSERT INTO {table} SELECT * REPLACE ($1[kind + 1] AS kind) FROM found", [KINDS]
        )
    finally:
        connection.unregister("found")


def build_graph(nodes: Nodes, host: Host | None) -> Graph:
    """Return the graph of a step."""
    edges = Edges()
    add_streams(nodes, edges)
    waited = add_waits(nodes, edges)
    # The step lasts until all work that it launched has ended.
    launched = 2 * nodes.activity_owners[nodes.activities["is_own"] == 1] + 1
    ends = np.arange(1, 2 * nodes.span_count, 2)
    last = np.append(ends[nodes.times[ends] == nodes.end_ns], launched)
    edges.add(last, nodes.end, 0, NOBODY, Kind.HOST)
    if host:
        add_threads(nodes, host, waited, edges)
        is_reached = bool((nodes.times[last] == nodes.end_ns).any())
        rest = 0 if is_reached else nodes.end_ns - nodes.times[host.main.nodes[-1]]
        edges.add(host.main.nodes[-1], nodes.end, rest, NOBODY, Kind.HOST)
    lanes, positions = _lanes_and_positions(nodes, host)
    return _with_causes(in_order(nodes.times, lanes, positions, edges), nodes)


def _with_causes(graph: Graph, nodes: Nodes) -> Graph:
    """Return the graph with the host's time in data loaders and in torch.compile as such."""
    no_cause = np.zeros(len(nodes.activity_owners) + 1, np.int8)  # the last is for owner NOBODY
    causes = np.concatenate([nodes.spans["cause"], no_cause])[graph.owners]
    kinds = np.where((graph.kinds == Kind.HOST) & (causes > 0), CAUSES[causes], graph.kinds)
    return replace(graph, kinds=kinds)


def _lanes_and_positions(nodes: Nodes, host: Host | None) -> tuple[Integers, Integers]:
    """Return sort keys of nodes with the same time: their lanes, and their positions in a lane.

    Devices come first, then threads, and the main thread last.
    """
    lanes, positions = np.zeros(len(nodes.times), np.int64), np.arange(len(nodes.times))
    threads = [*(thread.nodes for thread in host.others), host.main.nodes] if host else []
    streams = [
        np.column_stack([2 * owners, 2 * owners + 1]).reshape(-1)
        for owners in (
            nodes.activity_owners[of_lane] for of_lane in nodes.lanes_of(nodes.activities).values()
        )
    ]
    for lane, in_lane in enumerate([*streams, *threads], 1):
        lanes[in_lane] = lane
        positions[in_lane] = np.arange(len(in_lane))
    lanes[nodes.end] = len(streams) + len(threads) + 1
    return lanes, positions


def _rows(path: int, nodes: Nodes, host: Host | None, graph: Graph, edges: Integers) -> pa.Table:
    """Return the path's edges that take time as rows of `path_edges`, with `kind` as a number."""
    edges = edges[graph.weights[edges] > 0]
    owners = graph.owners[edges]
    events = np.concatenate([nodes.spans["event_id"], nodes.activities["event_id"], [0]])
    op_of_owner = np.full(len(events), NOBODY)  # the last item is for owner NOBODY
    if host:
        op_of_owner[: len(host.ops)] = host.ops
    ops = op_of_owner[owners]
    columns = {
        "path": arrow_of(np.full(len(edges), path)),
        "ordinal": arrow_of(np.arange(len(edges))),
        "kind": arrow_of(graph.kinds[edges]),
        "event_id": arrow_of(events[owners], owners == NOBODY),
        "op_id": arrow_of(events[ops], ops == NOBODY),
        "start_ns": arrow_of(graph.times[graph.sources[edges]]),
        "dur_ns": arrow_of(graph.weights[edges]),
    }
    return pa.Table.from_arrays(list(columns.values()), list(columns))


class _Rows:
    """Reader of a relation's rows path by path, in order. Only one path is in memory at a time."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, relation: str, order: str) -> None:
        # Use a cursor, because another statement on the connection would end the reading.
        query = f"SELECT * FROM {relation} ORDER BY path, {order}"
        self._batches = connection.cursor().sql(query).to_arrow_reader(BATCH_ROWS)
        self._read: list[Columns] = []

    def of(self, path: int) -> Columns:
        """Return the columns of a path, which must be later than in the last call."""
        while not self._read or self._read[-1]["path"][-1] <= path:
            batch = next(self._batches, None)
            if batch is None:
                break
            if len(batch):
                names = batch.schema.names
                self._read.append({name: numpy_of(batch.column(name)) for name in names})
        if not self._read:
            # An empty array of bool takes the type of an array to which it is concatenated.
            return {name: np.zeros(0, np.bool_) for name in self._batches.schema.names}
        columns = self._read[0]
        if len(self._read) > 1:
            columns = {
                name: np.concatenate([part[name] for part in self._read]) for name in columns
            }
        first, end = np.searchsorted(columns["path"], [path, path + 1])
        rest = {name: values[end:] for name, values in columns.items()}
        self._read = [rest] if len(rest["path"]) else []
        return {name: values[first:end] for name, values in columns.items()}
