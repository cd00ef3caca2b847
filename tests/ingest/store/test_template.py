"""What new stores are copied from, in the user's cache: it can be damaged at any time."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb


def remove_catalogs(cache: Path) -> None:
    for file in cache.rglob("*.duckdb"):
        file.unlink()


def empty_tables(cache: Path) -> None:
    """As a power cut leaves files that were not yet on the disk."""
    for file in cache.rglob("*.parquet"):
        file.write_bytes(b"")


def make_a_file_of_it(cache: Path) -> None:
    shutil.rmtree(cache / "tracehouse")
    (cache / "tracehouse").touch()


def test_a_new_store_is_whole_whatever_became_of_the_cache(tmp_path: Path, samples: Path) -> None:
    cache, temporary = tmp_path / "cache", tmp_path / "temporary"
    cache.mkdir()
    temporary.mkdir()
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "TMPDIR": str(temporary)}
    trace = samples / "traces" / "cpu_only.json.gz"
    for damage in (None, remove_catalogs, empty_tables, make_a_file_of_it):
        if damage:
            damage(cache)
        store = tmp_path / "store"
        command = [Path(sys.executable).with_name("ingest"), "add", trace, "--store", store]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), damage
        with duckdb.connect(str(store / "catalog.duckdb"), read_only=True) as catalog:
            rows = catalog.sql("SELECT sum(complete_events) FROM sources").fetchall()
            assert rows == [(16,)], damage
            assert catalog.sql("SELECT count(*) FROM memory_timeline").fetchall() == [(0,)], damage
        shutil.rmtree(store)
    assert not any(temporary.iterdir())
