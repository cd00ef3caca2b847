"""The command line `capture`."""
