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
        pid = trace.metadata.get("pid")
        process = f"'{pid}'" if type(pid) is int else "NULL"
        staging.insert(
            "staged_execution_nodes",
            nodes,
            f"*, {source.source_id} AS source_id, {process} AS pid",
        )
    source.metadata = trace.metadata
    source.json_bytes = trace.json_bytes
    source.events = trace.nodes + trace.unread
    if not trace.nodes and (trace.unread or trace.fault):
        fault = trace.fault or "the nodes are damaged, or have no attrs"
        raise ProfileError(f"{source.path}: no node can be read: {fault}")
    if trace.unread:
        source.dropped = {"damaged node": trace.unread}
        source.warn("nodes_unread", f"{counted(trace.unread, 'node')} could not be read")
    if trace.fault:
        source.status = "truncated"
        source.warn("truncated", trace.fault)
