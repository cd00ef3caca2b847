"""The store's catalog file, which other programs open."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from ingest.errors import StoreError
from ingest.store.directory.derived.catalog import CATALOG, STAMP, Catalog
from ingest.store.directory.derived.template import write_catalog
from ingest.store.directory.files.locking import locked, sync, writing
from ingest.store.directory.files.modes import share


class CatalogFile:
    """The file with a store's catalog. It is current if its stamp has the catalog's digest."""

    def __init__(self, store: Path, catalog: Catalog) -> None:
        self.path = store / CATALOG
        self.digest = catalog.digest()
        self._store = store
        self._catalog = catalog
        self._is_current = False

    def is_current(self) -> bool:
        """Return whether the file has this catalog."""
        if not self._is_current:  # another process may have written it since
            with suppress(OSError):
                stamp = (self._store / STAMP).read_text(errors="replace")
                self._is_current = stamp == self.digest
        return self._is_current

    def write(self) -> bool:
        """Write the file, if the store can be written. Return whether it was."""
        with suppress(StoreError, OSError, duckdb.Error), writing(self._store) as work:
            write_catalog(work / CATALOG, self._catalog)
            (work / STAMP).write_text(self.digest)
            sync(work)
            share(self._store, work / CATALOG, work / STAMP)
            with locked(self._store):  # so that the stamp always matches the catalog
                (self._store / STAMP).unlink(missing_ok=True)
                for name in (CATALOG, STAMP):
                    os.replace(work / name, self._store / name)
            self._is_current = True
            return True
        return False

    def ensure(self) -> bool:
        """Write the file if it is out of date. Return whether it is current then."""
        if not self.is_current():
            self.write()
        return self._is_current

    @contextmanager
    def written_beside(self) -> Iterator[None]:
        """Write an outdated file in a thread during the body, because it can take 0.5 s."""
        with ThreadPoolExecutor(1) as pool:
            written = pool.submit(self.ensure)
            yield
            written.result()
