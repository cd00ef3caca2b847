"""Directories that are kept between sessions of tests."""

import json
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

LISTING = "listing.json"
VERSIONS = 3  # of each name
DAY_S = 86_400


class KeptDirectories:
    """Copies of directories in `path`, by name and digest.

    Any part of `path` can be deleted at any time, also while processes read and write it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def keep(self, name: str, digest: str, directory: Path) -> None:
        """Keep a copy of a directory. Delete old copies with the same name."""
        written = self.path / f".{name}-{digest}-{os.getpid()}"
        with suppress(OSError):  # another process kept the same, or deleted it
            written.mkdir(parents=True)
            shutil.copytree(directory, written / "content")
            (written / LISTING).write_text(json.dumps(_listing(directory)))
            written.rename(self.path / f"{name}-{digest}")
        shutil.rmtree(written, ignore_errors=True)
        self._prune(name)

    def copy(self, name: str, digest: str, target: Path) -> bool:
        """Copy a directory to `target`. Return False if no intact copy is kept."""
        kept = self.path / f"{name}-{digest}"
        try:
            expected = json.loads((kept / LISTING).read_text())
            shutil.copytree(kept / "content", target)
            os.utime(kept)
        except (OSError, ValueError):  # shutil's errors are OSErrors
            expected = None
        if target.is_dir() and _listing(target) == expected:
            return True
        shutil.rmtree(target, ignore_errors=True)
        shutil.rmtree(kept, ignore_errors=True)
        return False

    def _prune(self, name: str) -> None:
        prefix, found = f"{name}-", []
        with suppress(OSError):
            for each in self.path.iterdir():
                if each.name.startswith(".") and time.time() - each.stat().st_mtime > DAY_S:
                    shutil.rmtree(each, ignore_errors=True)  # its process was killed
                if each.name.startswith(prefix) and "-" not in each.name.removeprefix(prefix):
                    found.append((each.stat().st_mtime_ns, each))
        for _, old in sorted(found, reverse=True)[VERSIONS:]:
            shutil.rmtree(old, ignore_errors=True)


def _listing(directory: Path) -> dict[str, int]:
    """Return the files of a directory with their sizes."""
    files = (path for path in sorted(directory.rglob("*")) if path.is_file())
    return {str(path.relative_to(directory)): path.stat().st_size for path in files}
