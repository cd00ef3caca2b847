"""Files that a store may have already, by the ids and the sizes of its runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from ingest.errors import StoreError
from ingest.inputs import RunInput, is_object
from ingest.store import run_ids

if TYPE_CHECKING:
    from ingest.store.storage import Storage


@dataclass(frozen=True)
class Known:
    """The ids of a store's runs by their digits (`run_ids.by_digits`), and their sizes.

    A size is the bytes of all files of a run. `sizes` is None if they are unknown.
    """

    digits: Mapping[str, str]
    sizes: frozenset[int] | None

    def may_have(self, run: RunInput) -> bool:
        """Return whether the store may have a run with the same files.

        Objects are read for their checksums only if a run has the same size. Otherwise the run is
        new, and its objects are read only once, when it is converted.
        """
        if self.sizes is not None and run.bytes not in self.sizes:
            return False
        run.read_checksums()
        return bool(run_ids.likely(self.digits, run.digest))


NOTHING = Known({}, frozenset())


def sizes_of_runs(store: "Storage", paths: Sequence[Path]) -> frozenset[int] | None:
    """Return `Known.sizes`, or None if no path is an object, or if the store cannot be read."""
    if not any(map(is_object, paths)):
        return None
    query = "SELECT coalesce(sum(bytes), 0) FROM sources GROUP BY run_id"
    try:
        with duckdb.connect() as connection:
            store.create_views(connection)
            rows = store.answer(str(store.path), lambda: connection.execute(query).fetchall())
    except StoreError:  # then checksums decide
        return None
    return frozenset(int(size) for (size,) in rows)
