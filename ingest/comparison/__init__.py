"""Two runs, or groups of runs, side by side: metrics, conditions on them, and the report.

`commands.py` has the command `diff` for `ingest.cli`.
"""

from ingest.comparison.comparison import Comparison, compare
from ingest.comparison.groups import runs_of

__all__ = ["Comparison", "compare", "runs_of"]
