"""A read-only SQL console for a store, with limits on time, memory and result size.

console.py   the public interface: runs each query in one of a few worker processes
worker.py    the parent's side of a worker process: sends queries, kills it after a timeout
child.py     the code of a worker process: opens the store, limits its memory, answers queries
checks.py    the check that a query is a single SELECT on the store
result.py    the result: rows, and their conversion to pandas, CSV and Parquet
writer.py    conversion of values to text, shared with `ingest sql`
"""

from ingest.console.console import Console
from ingest.console.result import Result

__all__ = ["Console", "Result"]
