"""The cached files of an empty store. Damage to them does not affect new stores."""

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
    """Truncate files, as a power cut does if they are not yet on the disk."""
    for file in cache.rglob("*.parquet"):
        file.write_bytes(b"")


def replace_by_a_file(cache: Path) -> None:
    shutil.rmtree(cache / "tracehouse")
    (cache / "tracehouse").touch()


def test_a_new_store_is_complete_despite_a_damaged_cache(tmp_path: Path, samples: Path) -> None:
    cache, temporary = tmp_path / "cache", tmp_path / "temporary"
    cache.mkdir()
    temporary.mkdir()
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "TMPDIR": str(temporary)}
    trace = samples / "traces" / "cpu_only.json.gz"
    for damage in (None, remove_catalogs, empty_tables, replace_by_a_file):
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
