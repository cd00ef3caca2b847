"""Two runs, or groups of runs, side by side: metrics, conditions on them, and the report.

`commands.py` has the command `diff` for `ingest.cli`.
"""
