"""A read-only SQL sandbox for a store, with limits on time, memory and result size.

sandbox.py   the public interface: runs each query in one of a few worker processes
worker.py    the parent's side of a worker process: sends queries, kills it after a timeout
child.py     the code of a worker process: opens the store, limits its memory, answers queries
checks.py    the check that a query is a single SELECT on the store
result.py    the result: rows, and their conversion to pandas, CSV and Parquet
writer.py    conversion of values to text, shared with `ingest sql`
"""

from ingest.sandbox.result import Result
from ingest.sandbox.sandbox import Sandbox

__all__ = ["Result", "Sandbox"]
