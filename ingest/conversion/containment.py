"""Loading of a run without the files that make it fail.

A reader of a file may raise an exception that nobody foresaw. So may a later statement, which reads
the rows of all files: the file that is its cause is then found by loading the run with more and
more of its files.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from ingest.errors import ProfileError
from ingest.formats import Source
from ingest.formats.failure import is_of_a_file, sentence
from ingest.inputs import RunInput, run_json

T = TypeVar("T")


class FilesError(Exception):
    """The exceptions that readers of files raised, by the id of the source."""

    def __init__(self, errors: dict[int, Exception]) -> None:
        super().__init__(errors)
        self.errors = errors


class AgainError(Exception):
    """An attempt failed that may succeed if it does one thing at a time. The next one does."""


def without_bad_files(run: RunInput, write: Callable[[RunInput], T]) -> T:
    """Return the result of `write(run)`, if necessary without the files that make it fail.

    `write` gets a run with sources that it may change, and is called again after an exception. The
    sources of `run` are those of the last call. Files that were left out have the status `failed`
    and a reason.

    Raise ProfileError if no profile can be loaded.
    """
    attempts = _Attempts(run, write)
    loaded = [source for source in run.sources if source.status not in ("skipped", "failed")]
    # Traces come first, because a file that fails only together with another is the later one.
    loaded.sort(key=lambda source: (not source.has_events, not source.is_profile))
    if error := attempts.error(loaded):
        if isinstance(error, ProfileError):  # no profile can be read
            raise error
        attempts.leave_out_bad(loaded, error)
        if all(source.source_id in attempts.errors for source in loaded if source.is_profile):
            raise attempts.first_error()
        if error := attempts.error(loaded):
            raise error
    run.sources[:] = attempts.run.sources
    return attempts.result


class _Attempts(Generic[T]):
    """Attempts to load a run. Files in `errors`, by source id, are always left out.

    `run` and `result` are those of the last successful attempt.
    """

    def __init__(self, run: RunInput, write: Callable[[RunInput], T]) -> None:
        self.run = run
        self.result: T
        self.errors: dict[int, Exception] = {}
        self._whole = run
        self._write = write
        self._good: list[Source] = []

    def error(self, files: Sequence[Source]) -> Exception | None:
        """Load the run with these files. Return the exception, if a file may be its cause."""
        while True:
            run = self._run_of(files)
            try:
                self.result = self._write(run)
            except AgainError:
                pass
            except FilesError as error:
                self.errors |= error.errors
            except Exception as error:
                if not is_of_a_file(error):
                    raise
                return error.with_traceback(None)  # which has references to large objects
            else:
                self.run = run
                return None

    def leave_out_bad(self, files: Sequence[Source], error: Exception) -> None:
        """Add those of the files to `errors` that fail together with good ones before them.

        `error` is the exception if all are loaded.
        """
        if len(files) == 1:
            self.errors[files[0].source_id] = error
            return
        middle = len(files) // 2
        for half in filter(None, (files[:middle], files[middle:])):
            if error_of_half := self.error([*self._good, *half]):
                self.leave_out_bad(half, error_of_half)
            else:
                self._good += half

    def first_error(self) -> ProfileError:
        """Return the exception of the first file that was left out."""
        sources = self._whole.sources
        source = next(source for source in sources if source.source_id in self.errors)
        return ProfileError(sentence(source.path, self.errors[source.source_id]))

    def _run_of(self, files: Sequence[Source]) -> RunInput:
        """Return the run with copies of its sources, without the content of all other files."""
        kept = {source.source_id for source in files} - self.errors.keys()
        sources = [source.copy() for source in self._whole.sources]
        for source in sources:
            if source.source_id in self.errors:
                source.fail(sentence(source.path, self.errors[source.source_id]))
            elif source.source_id not in kept and source.status != "skipped":
                source.status = "failed"
        is_described = all(s.status != "failed" for s in sources if s.path.name == run_json.NAME)
        description = self._whole.description if is_described else {}
        return replace(self._whole, sources=sources, description=description)
