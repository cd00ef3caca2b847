"""What can go wrong for a user of `ingest`: one family, caught once in the command line."""


class IngestError(Exception):
    """A message for the user, one line, naming the file or run it is about."""


class ProfileError(IngestError):
    """An input file or directory cannot be read as a profile."""


class StoreError(IngestError):
    """The store, or a run in it, is missing or not usable."""


class QueryError(IngestError):
    """A query was refused or failed."""


class MissingError(IngestError):
    """A run does not hold what was asked for, or only without what that needs."""


class OutputError(IngestError):
    """A file cannot be written."""
