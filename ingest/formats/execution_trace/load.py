"""Loading of execution traces into the scratch database."""

from ingest.errors import ProfileError
from ingest.formats.execution_trace.reader import ExecutionTrace
from ingest.formats.source import Source
from ingest.formats.staging import Progress, Staging
from ingest.units import counted


def load(source: Source, staging: Staging, progress: Progress) -> None:
    """Read an execution trace into table `staged_execution_nodes`, and count its nodes.

    The process id connects it to the trace of the same process. Raise ProfileError if no node can
    be read.
    """
    trace = ExecutionTrace(source.path, progress)
    for nodes in trace.batches():
        staging.insert(
            "staged_execution_nodes", nodes, f"*, {source.source_id} AS source_id, NULL AS pid"
        )
    pid = trace.metadata.get("pid")  # it may follow the nodes
    if pid is not None:
        source.pid = str(pid)
    if type(pid) is int:
        staging.connection.execute(
            "UPDATE staged_execution_nodes SET pid = $1 WHERE source_id = $2",
            [str(pid), source.source_id],
        )
    source.metadata = trace.metadata
    source.json_bytes = trace.json_bytes
    source.events = trace.nodes + trace.unread
    if not trace.nodes and not trace.unread and not trace.fault:
        raise ProfileError(f"{source.path}: no nodes: not an execution trace")
    if not trace.nodes:
        fault = trace.fault or "the nodes are damaged, or have no attrs"
        raise ProfileError(f"{source.path}: no node can be read: {fault}")
    if trace.unread:
        source.dropped = {"damaged node": trace.unread}
        source.warn("nodes_unread", f"{counted(trace.unread, 'node')} could not be read")
    if trace.fault:
        source.status = "truncated"
        source.warn("truncated", trace.fault)
