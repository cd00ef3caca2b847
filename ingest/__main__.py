"""`python -m ingest`."""

from ingest.cli.main import main

main()
