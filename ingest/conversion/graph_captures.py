"""Reading of the traces of captures of CUDA graphs, each in a scratch database of its own.

Their events are not those of the run, so only what explains the run's graph launches is copied.
"""

from ingest import sql
from ingest.conversion.build import build
from ingest.conversion.scratch import open_scratch
from ingest.formats import Source, Staging
from ingest.formats.staging import Progress
from ingest.inputs import own_rank
from ingest.temporary import temporary_directory

MEMORY_LIMIT = "512MB"
NOT_STORED = "event of a trace of captures"  # a key of `sources.dropped_counts`
# The relations that are copied, and the staged tables of the run that get them.
COPIES = {"graph_nodes": "staged_graph_nodes", "module_tree": "staged_graph_modules"}


def load_captures(source: Source, staging: Staging, progress: Progress) -> None:
    """Read a trace of captures, and fill in the attributes of `source`.

    Raise ProfileError as the reader of its format does. Warn if the trace has no captures.
    """
    assert source.format
    known = len(staging.sources)
    with temporary_directory() as directory:
        spill = str(directory / "spill")
        with open_scratch(
            directory / "scratch", memory_limit=MEMORY_LIMIT, temp_directory=spill
        ) as scratch:
            source.format.load(source, staging.on(scratch), progress)
            processes = [source, *staging.sources[known:]]
            for process in processes:
                scratch.execute(
                    "INSERT INTO staged_sources VALUES ($1, NULL, $2, NULL)",
                    [process.source_id, process.clock or 0],
                )
            build(scratch, only=frozenset(COPIES))
            copied = {
                copy: scratch.sql(f"SELECT {_columns(copy, source)} FROM {table}").to_arrow_table()
                for table, copy in COPIES.items()
            }
    for table, rows in copied.items():
        staging.insert(table, rows)
    for process in processes:
        process.rank = own_rank(process)
        process.dropped = {NOT_STORED: process.events or 0}
        process.complete, process.other = 0, {}
    if not copied["staged_graph_nodes"].num_rows:
        source.warn("no_captures", "records no complete capture of a CUDA graph: nothing is used")


def _columns(table: str, source: Source) -> str:
    """Return the columns of a staged table. Modules do not know their file."""
    node = next(node for node in sql.nodes("scratch") if node.name == table)
    return ", ".join(
        f"{source.source_id} AS source_id"
        if name == "source_id" and table == COPIES["module_tree"]
        else name
        for name in node.columns
    )
