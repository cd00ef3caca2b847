"""The run directory: its files, and what `run.json` says."""
