"""Comparison of two runs, or of two groups of runs: metrics, conditions on them, and the report.

`commands.py` defines the command `diff` for `ingest.cli`.
"""
