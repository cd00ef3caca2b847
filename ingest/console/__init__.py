"""A read-only console over a store: one SELECT at a time, within limits of time, memory and size.

console.py   what callers see: a few processes, and a query for one of them
worker.py    such a process, from outside: it is asked, and ended when it takes too long
child.py     the same from inside: opens the store, limits its memory, answers
checks.py    which statements it runs
result.py    the rows, and the forms that they can be had in
writer.py    values as text, which `ingest sql` uses too
"""

from ingest.console.console import Console
from ingest.console.result import Result

__all__ = ["Console", "Result"]
