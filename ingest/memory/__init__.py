"""Reports on memory: its owners at a moment, printed or as files for a browser.

`commands.py` defines the command `memory` for `ingest.cli`.
"""
