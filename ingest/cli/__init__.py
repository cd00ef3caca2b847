"""The command `ingest`: its entry, its commands, and the rankings that `ingest top` prints."""
