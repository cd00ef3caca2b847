"""How people name a run: by its id, the beginning of one, or its name."""

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from ingest.errors import StoreError

MOST_LISTED = 5


def find(store: Path, names: Mapping[str, str | None], reference: str) -> str:
    """The run of a store that `reference` names: an id, a unique beginning of one, or a run's name.

    `names` has the names of all runs, by id: a run may have got another name than its id says.
    Raises StoreError when no run or more than one fits.
    """
    return _only(store, reference, _named(names, reference) or _begun(names, reference))


def find_exactly(store: Path, names: Mapping[str, str | None], reference: str) -> str:
    """The same without beginnings of ids: for what cannot be undone."""
    named, begun = _named(names, reference), _begun(names, reference)
    if begun and not named:
        listed = ", ".join(begun[:MOST_LISTED])
        raise StoreError(f"{reference}: not a run's whole id or name; did you mean {listed}?")
    return _only(store, reference, named)


def slug(name: str) -> str:
    """`name` as a part of a path: letters of any script, digits, dots and dashes; may be empty.

    Short enough, with what an id adds, for the name of a directory.
    """
    plain = re.sub(r"[^\w.]+", "-", unicodedata.normalize("NFC", name.lower())).strip("-.")
    return plain[:80].encode()[:160].decode(errors="ignore")


def _named(names: Mapping[str, str | None], reference: str) -> list[str]:
    if reference in names:
        return [reference]
    return [
        run_id
        for run_id, name in names.items()
        if slug(reference) and slug(reference) in (run_id.rpartition("-")[0], slug(name or ""))
    ]


def _begun(names: Mapping[str, str | None], reference: str) -> list[str]:
    return [run_id for run_id in names if reference and run_id.startswith(reference)]


def _only(store: Path, reference: str, candidates: list[str]) -> str:
    if not candidates:
        raise StoreError(f"{reference}: no such run in {store}; see `ingest list`")
    if len(candidates) > 1:
        listed = ", ".join(candidates[:MOST_LISTED])
        raise StoreError(f"{reference}: {len(candidates)} runs fit: {listed}")
    return candidates[0]
