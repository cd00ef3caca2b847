"""The input of a run: the files of a directory, or a single file, and its run.json."""

import errno
import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ingest.errors import ProfileError
from ingest.formats import FORMATS, Format, Source, SourceWarning, recognise, state_of
from ingest.formats.failure import is_of_a_file, sentence
from ingest.formats.io import sha256
from ingest.inputs import graph_captures, run_json
from ingest.inputs.copies import skip_copies
from ingest.inputs.directories import files_below
from ingest.inputs.objects import is_object, sha256_of_object
from ingest.units import as_utf8, natural_order

TRACE_NAME = re.compile(r"\.(json|pftrace)(\.gz)?$", re.IGNORECASE)
IN_DIRECTORY_BELOW = "in_directory_below"  # code of the warning of a file in a directory of the run
MOST_BELOW = 1_000  # the most of these files that are listed


@dataclass
class RunInput:
    """The input of a run.

    `sources`: its files, in order of their names. `description`: the contents of its run.json.
    `formats`: the formats that were tried for its files.
    """

    path: Path
    sources: list[Source]
    description: dict[str, Any] = field(default_factory=dict)
    formats: Sequence[Format] = FORMATS

    @property
    def name(self) -> str:
        """The name in run.json, or else of the directory, or of the file without its suffixes."""
        named = self.description.get("name")
        if isinstance(named, str) and named:
            return named
        name = as_utf8(self.path.resolve().name)
        suffixes = "|".join(format_.suffix for format_ in self.formats)
        return re.sub(rf"({suffixes})(\.gz)?$|\.gz$", "", name) or name

    @property
    def descriptions(self) -> list[tuple[Source, dict[str, Any]]]:
        """The run.json, and those of single ranks, with their contents."""
        return [
            (source, source.metadata or self.description)
            for source in self.sources
            if source.kind == run_json.KIND and source.status != "failed"
        ]

    @property
    def checksums(self) -> list[str]:
        """The SHA-256 of each file, sorted, so that they do not depend on the names.

        Those of traces of captures are marked, because a run with the same files as its own traces
        is another run.
        """
        captures = {
            source.path: f"{source.kind} {source.sha256}"
            for source in self.sources
            if source.kind == graph_captures.KIND and source.sha256 is not None
        }
        return sorted([*self.own_checksums, *captures.values()])

    @property
    def own_checksums(self) -> list[str]:
        """The checksums without traces of captures, which earlier versions did not read."""
        files = {
            source.path: source.sha256
            for source in self.sources
            if source.kind != graph_captures.KIND
        }
        return sorted(sha256 for sha256 in files.values() if sha256 is not None)

    @property
    def digest(self) -> str:
        """The SHA-256 of the content. The same files have the same digest everywhere."""
        return content_digest(self.checksums)

    @property
    def bytes(self) -> int:
        """The size of all files on disk, bytes."""
        return sum(source.bytes or 0 for source in self.sources)

    def read_checksums(self) -> None:
        """Read the checksums of objects. Bytes that were read are not read again.

        Raise ObjectError if one could not be read, also earlier, or has changed.
        """
        objects = {
            source.path
            for source in self.sources
            if is_object(source.path) and source.bytes is not None and source.sha256 != ""
        }
        checksums = {path: sha256_of_object(path) for path in objects}
        for source in self.sources:
            source.sha256 = checksums.get(source.path, source.sha256)

    def make_paths_absolute(self) -> None:
        """Make the paths of the files absolute, so that they are valid in any directory."""
        for source in self.sources:
            source.path = source.path.absolute()

    def make_paths_relative(self) -> None:
        """Make the paths of the files, also in warnings, relative to the run's parent directory."""
        directory = self.path.resolve().name if self.path.is_dir() else ""
        for source in self.sources:
            known = str(source.path)
            is_inside = bool(directory) and source.path.is_relative_to(self.path)
            inside = source.path.relative_to(self.path) if is_inside else source.path.name
            source.path = Path(directory, str(inside)) if is_inside else Path(inside)
            source.coded_warnings = [
                SourceWarning(code, message.replace(known, str(source.path)))
                for code, message in source.coded_warnings
            ]


def content_digest(checksums: Sequence[str]) -> str:
    """Return the digest of a run whose files have these checksums, which are sorted."""
    return hashlib.sha256("\n".join(checksums).encode()).hexdigest()


def read_run_input(
    path: Path, formats: Sequence[Format] = FORMATS, captures: Sequence[Path] = ()
) -> RunInput:
    """Read the head of each file of a run directory, or of a single file, and local checksums.

    `RunInput.read_checksums` reads those of objects.

    `captures`: traces of captures of CUDA graphs that are not in the run directory.
    The format of a file is the first of `formats` that recognises it. A run that failed before
    anything was recorded has no profile, only a run.json with an `error`. Raise ProfileError if the
    path is missing, unreadable or without any profile.
    """
    try:
        files = _files(path)
        directory = path if path.is_dir() else None
        sources = [_source(number, file, directory, formats) for number, file in enumerate(files)]
        skip_copies(sources)
        for file in _sorted(graph_captures.files_of_captures(path)):
            sources.append(_capture(len(sources), file, path, formats))
        read = {source.path.absolute() for source in sources}
        for file in dict.fromkeys(each.absolute() for each in captures):
            if file not in read:
                sources.append(_capture(len(sources), file, None, formats))
        sources += _below(path, len(sources))
        description = _description(path, sources)
    except OSError as error:
        raise ProfileError(f"{error.filename or path}: {error.strerror or error}") from error
    if not any(source.is_profile for source in sources) and "error" not in description:
        for source in sources:
            if source.status == "failed":
                raise ProfileError(source.message("unreadable"))
        raise ProfileError(_nothing_to_read(path, sources))
    return RunInput(path, sources, description, formats)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = [
            file
            for file in path.iterdir()
            if (file.is_symlink() or not file.is_dir())
            and not file.name.startswith(".")
            and not (file.name in graph_captures.DIRECTORIES and file.is_dir())
        ]
        return _sorted(found)
    if not path.exists():
        raise ProfileError(f"{path}: no such file or directory")
    if not path.is_file():
        raise ProfileError(f"{path}: not a regular file")
    return [path]


def _sorted(files: list[Path]) -> list[Path]:
    return sorted(files, key=lambda file: natural_order(file.name))


def _capture(number: int, file: Path, directory: Path | None, formats: Sequence[Format]) -> Source:
    """Return a trace of captures. A file of another kind in the run's directory is skipped.

    Raise ProfileError for another kind of file that the user named, so that `directory` is None.
    """
    source = _source(number, file, directory, formats)
    if source.has_events:
        source.kind = graph_captures.KIND
    elif not directory:
        raise ProfileError(source.message("unreadable") or f"{file}: not a profiler trace")
    elif source.status != "failed":
        source.kind, source.format, source.status = "other", None, "skipped"
        if not source.coded_warnings:
            source.warn("not_a_profile", "not a profile")
    return source


def _below(path: Path, first: int) -> list[Source]:
    """Return the files in directories of the run, which are not read. `first` is the first id."""
    found = []
    for number, file in enumerate(islice(files_below(path), MOST_BELOW), first):
        source = Source(number, file, "other", None, None, status="skipped")
        source.warn(IN_DIRECTORY_BELOW, "in a directory of the run, not read: add it as a run")
        found.append(source)
    return found


def _source(number: int, file: Path, directory: Path | None, formats: Sequence[Format]) -> Source:
    source = Source(number, file, "other", 0, "")
    fault = ""
    try:
        if directory and (reason := _not_followed(file, directory)):
            source.status = "skipped"
            source.warn(*reason)
            return source
        if file.name == run_json.NAME:
            source.kind = run_json.KIND
        else:
            source.format, fault = recognise(file, formats)
        if source.format:
            source.kind = source.format.kind
        source.bytes = file.stat().st_size
        if is_object(file):
            source.sha256 = None
        else:
            source.state, source.sha256 = state_of(file), sha256(file)
        if not source.format and not fault and run_json.is_of_a_rank(file):
            source.metadata = run_json.read_json(file)
            source.kind = run_json.KIND
    except OSError as error:
        source.kind, source.format = "other", None
        source.fail(f"{file}: {error.strerror or error}")
        return source
    except ProfileError as error:
        fault = str(error).removeprefix(f"{file}: ")
    except Exception as error:
        if not is_of_a_file(error, file):
            raise
        source.kind, source.format = "other", None
        source.fail(sentence(file, error))
        return source
    if fault and (TRACE_NAME.search(file.name) or not directory):
        source.fail(f"{file}: {fault}")
    elif source.kind == "other":
        source.status = "skipped"
        source.warn("not_a_profile", "not a profile")
    return source


def _not_followed(file: Path, directory: Path) -> SourceWarning | None:
    """Return why an entry of a run directory is not read, or None if it is read.

    The directory may come from an attacker.
    """
    try:
        target = file.resolve(strict=True)
    except RuntimeError:  # before Python 3.13, a loop of links does not raise OSError
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(file)) from None
    if not target.is_relative_to(directory.resolve()):
        return SourceWarning("link_not_followed", "a link out of the run directory, not followed")
    if not target.is_file():
        return SourceWarning("not_a_file", "not a regular file")
    return None


def _description(path: Path, sources: list[Source]) -> dict[str, Any]:
    for source in sources:
        if source.path.name == run_json.NAME and source.status == "ok" and path.is_dir():
            return run_json.read_description(source)
    return {}


def _nothing_to_read(path: Path, sources: list[Source]) -> str:
    if not path.is_dir():
        return f"{path}: no traceEvents: not a profiler trace"
    if any("link_not_followed" in source.warning_codes for source in sources):
        return f"{path}: no profile in this directory; links out of it are not followed"
    inside = sorted(entry.name for entry in path.iterdir() if entry.is_dir())
    hint = f"; did you mean a directory in it, such as {path / inside[0]}?" if inside else ""
    return f"{path}: no profile in this directory{hint}"
