"""Ids of new runs, and finding a run by its id, the beginning of its id, or its name."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path

from ingest.errors import StoreError

MAX_LISTED = 5
DIGITS = (8, 16, 64)  # of an id; more are used only if runs with other content share the first


def new_id(name: str, digest: str, run_ids: Iterable[str]) -> str:
    """Return an id, other than `run_ids`, for a run with this name and digest of its files."""
    taken = {run_id.rpartition("-")[2] for run_id in run_ids}
    digits = next(count for count in DIGITS if digest[:count] not in taken)
    return f"{slug(name) or 'run'}-{digest[:digits]}"


def by_digits(run_ids: Iterable[str]) -> dict[str, str]:
    """Return ids by their digits, which are the first ones of the digest of a run's files."""
    return {run_id.rpartition("-")[2]: run_id for run_id in run_ids}


def likely(digits: Mapping[str, str], digest: str) -> list[str]:
    """Return the ids in `by_digits` of runs that have probably the same files.

    Digits may be equal by chance, so checksums decide.
    """
    return [digits[digest[:count]] for count in DIGITS if digest[:count] in digits]


def find(store: Path | str, names: Mapping[str, str | None], reference: str) -> str:
    """Return the id of the run that an id, a unique beginning of an id, or a name refers to.

    `names` maps all run ids to the runs' names, because a run may have been renamed. Raise
    StoreError if `reference` matches no run, or several.
    """
    return _only(store, reference, _by_name(names, reference) or _by_beginning(names, reference))


def find_exactly(store: Path | str, names: Mapping[str, str | None], reference: str) -> str:
    """Return the id of the run that a full id or a name refers to.

    This is for operations that cannot be undone. Raise StoreError as `find` does.
    """
    by_name, by_beginning = _by_name(names, reference), _by_beginning(names, reference)
    if by_beginning and not by_name:
        listed = ", ".join(by_beginning[:MAX_LISTED])
        raise StoreError(f"{reference}: not the full id or name of a run; did you mean {listed}?")
    return _only(store, reference, by_name)


def slug(name: str) -> str:
    """Convert a name to a part of a path: letters of any script, digits, dots and dashes.

    The result may be empty. It is short enough for a directory name to which the digits of an id
    are added.
    """
    plain = re.sub(r"[^\w.]+", "-", unicodedata.normalize("NFC", name.lower())).strip("-.")
    return plain[:80].encode()[:160].decode(errors="ignore")


def _by_name(names: Mapping[str, str | None], reference: str) -> list[str]:
    if reference in names:
        return [reference]
    return [
        run_id
        for run_id, name in names.items()
        if slug(reference) and slug(reference) in (run_id.rpartition("-")[0], slug(name or ""))
    ]


def _by_beginning(names: Mapping[str, str | None], reference: str) -> list[str]:
    return [run_id for run_id in names if reference and run_id.startswith(reference)]


def _only(store: Path | str, reference: str, candidates: list[str]) -> str:
    if not candidates:
        raise StoreError(f"{reference}: no such run in {store}; `ingest list` lists all runs")
    if len(candidates) > 1:
        left_out = len(candidates) - MAX_LISTED
        more = f" and {left_out:,} more" if left_out > 0 else ""
        listed = ", ".join(candidates[:MAX_LISTED]) + more
        raise StoreError(f"{reference}: ambiguous; matches {len(candidates)} runs: {listed}")
    return candidates[0]
