"""`python -m ingest`."""

from ingest.cli.main import command

command()
