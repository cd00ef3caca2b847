"""The critical path of each step: what it waited for, from its start to its end.

This is not SQL, because the longest path needs a scan over a graph in order.
"""

from ingest.conversion.critical_path.find import find_paths

__all__ = ["find_paths"]
