"""Shared code of the commands: arguments, printing and progress."""

from ingest.cli.terminal.arguments import (
    ClusterOption,
    RunArgument,
    StoreOption,
    check_workers,
    create_store,
    open_directory,
    open_lake,
    open_store,
)
from ingest.cli.terminal.printing import results, table, warn, write_query
from ingest.cli.terminal.progress import (
    add_with_progress,
    progress_of,
    rebuild_with_progress,
    say_error,
    say_warning,
)

__all__ = [
    "ClusterOption",
    "RunArgument",
    "StoreOption",
    "add_with_progress",
    "check_workers",
    "create_store",
    "open_directory",
    "open_lake",
    "open_store",
    "progress_of",
    "rebuild_with_progress",
    "results",
    "say_error",
    "say_warning",
    "table",
    "warn",
    "write_query",
]
