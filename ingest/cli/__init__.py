"""The command `ingest`: its entry point and its commands."""
