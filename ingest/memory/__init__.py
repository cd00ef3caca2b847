"""Reports about memory: what held it at a moment, printed or as files for a browser.

`commands.py` has the commands `memory` and `export` for `ingest.cli`.
"""
