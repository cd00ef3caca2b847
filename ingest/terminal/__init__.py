"""What the commands of every room share: arguments, printing, progress."""

from ingest.terminal.arguments import RunArgument, StoreOption, open_store
from ingest.terminal.printing import plain, results, table, write_query
from ingest.terminal.progress import account_of_adding, say_error

__all__ = [
    "RunArgument",
    "StoreOption",
    "account_of_adding",
    "open_store",
    "plain",
    "results",
    "say_error",
    "table",
    "write_query",
]
