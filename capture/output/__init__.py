"""The run directory: its files, and the content of `run.json`."""
