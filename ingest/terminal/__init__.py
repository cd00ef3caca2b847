"""Shared code of the commands: arguments, printing and progress."""

from ingest.terminal.arguments import RunArgument, StoreOption, open_store
from ingest.terminal.printing import plain, results, table, write_query
from ingest.terminal.progress import (
    add_with_progress,
    rebuild_with_progress,
    say_error,
    say_warning,
)

__all__ = [
    "RunArgument",
    "StoreOption",
    "add_with_progress",
    "open_store",
    "plain",
    "rebuild_with_progress",
    "results",
    "say_error",
    "say_warning",
    "table",
    "write_query",
]
