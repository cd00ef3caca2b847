"""The exceptions of `ingest`. The command line catches their base class in one place."""


class IngestError(Exception):
    """An error with a one-line message for the user, which names the file or run."""


class ProfileError(IngestError):
    """An input file or directory cannot be read as a profile."""


class ObjectError(IngestError):
    """An object on object storage cannot be read now, whatever it contains, or it changed."""


class StoreError(IngestError):
    """A store, or a run in it, is missing or unusable."""


class QueryError(IngestError):
    """A query was refused or failed."""


class MissingError(IngestError):
    """A run, or the store, lacks the requested data, or data that is needed for it."""


class OutputError(IngestError):
    """Output cannot be written: a file, or to a port."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or the name of its kind."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
