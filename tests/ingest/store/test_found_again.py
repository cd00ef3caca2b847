"""Runs that the listing lacks: merged and restored stores, runs that people copy in."""

import os
import resource
import shutil
import signal
import stat
import subprocess
from pathlib import Path

import pytest

import ingest
from ingest import sql
from tests.builders.events import op
from tests.conftest import Traces
from tests.helpers.command import Command
from tests.helpers.stores import is_at_rest, listing

NAMES = ("one", "two")
QUERY = "SELECT name, (SELECT count(*) FROM events AS e WHERE e.run_id = r.run_id) FROM runs AS r"


@pytest.fixture(scope="module")
def of_two_runs(shared_traces: Traces) -> Path:
    """A store of two runs. Tests copy it."""
    for name in NAMES:
        shared_traces.store.add(shared_traces.write([op(name)], name))
    return shared_traces.store.path


@pytest.fixture
def store(of_two_runs: Path, tmp_path: Path) -> ingest.Store:
    """A copy of the store, for exclusive use by the test."""
    return ingest.Store(shutil.copytree(of_two_runs, tmp_path / "store", symlinks=True))


def runs(store: Path) -> list[tuple[str, int]]:
    """Return the name and the number of events of each run, as a new process sees them."""
    return sorted(ingest.connect(ingest.Store(store)).execute(QUERY).fetchall())


BOTH = [("one", 1), ("two", 1)]


def _without(store: ingest.Store, name: str, target: Path) -> Path:
    """Return a copy of the store without a run."""
    copied = ingest.Store(shutil.copytree(store.path, target, symlinks=True))
    copied.remove(copied.find(name))
    return copied.path


def test_a_store_copied_over_another_adds_its_runs(store: ingest.Store, tmp_path: Path) -> None:
    one, two = (_without(store, name, tmp_path / name) for name in reversed(NAMES))
    assert (runs(one), runs(two)) == ([("one", 1)], [("two", 1)])
    subprocess.run(["cp", "-a", f"{two}/.", one], check=True)
    assert runs(one) == BOTH
    assert is_at_rest(one)


def test_an_older_listing_loses_no_run(store: ingest.Store) -> None:
    before = (store.path / "listing.json").read_bytes()
    store.edit(store.find("one"), ingest.AddOptions(note="n"))
    store.remove(store.find("two"))
    (store.path / "listing.json").write_bytes(before)
    assert runs(store.path) == [("one", 1)]
    query = "SELECT note FROM runs"
    assert ingest.connect(store.path).execute(query).fetchall() == [("n",)]
    assert is_at_rest(store.path)


def test_a_copy_in_which_a_run_was_just_removed_removes_it_from_no_other_store(
    store: ingest.Store, tmp_path: Path
) -> None:
    copied = ingest.Store(shutil.copytree(store.path, tmp_path / "copied", symlinks=True))
    with ingest.connect(copied):  # so that the files of the removed run are kept
        copied.remove(copied.find("one"))
        subprocess.run(["cp", "-a", f"{copied.path}/.", store.path], check=True)
    assert runs(store.path) == BOTH


def test_a_lost_listing_loses_no_run(store: ingest.Store) -> None:
    store.edit(store.find("one"), ingest.AddOptions(note="n"))
    connection = ingest.connect(store)  # keeps the files of the run that is removed
    store.remove(store.find("two"))
    (store.path / "listing.json").unlink()
    assert runs(store.path) == [("one", 1)]
    connection.close()


def test_a_commit_that_fails_leaves_no_run(
    store: ingest.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(store.path))

    run_id = store.find("one")
    with monkeypatch.context() as patched:
        patched.setattr("ingest.store.directory.files.listing.Listing.write", fail)
        for change in (
            lambda: store.edit(run_id, ingest.AddOptions(note="n")),
            lambda: store.remove(run_id),
        ):
            with pytest.raises(ingest.IngestError, match="cannot write to the store"):
                change()
    assert runs(store.path) == BOTH
    (store.path / "listing.json").unlink()
    assert runs(store.path) == BOTH
    assert is_at_rest(store.path)


def test_an_interruption_after_the_commit_loses_no_run(
    store: ingest.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("ingest.store.directory.changes.commits.publish", interrupt)
        with pytest.raises(KeyboardInterrupt):
            store.edit(store.find("one"), ingest.AddOptions(note="n"))
    assert runs(store.path) == BOTH
    query = "SELECT note FROM runs ORDER BY name"
    assert ingest.connect(store.path).execute(query).fetchall() == [("n",), (None,)]
    assert is_at_rest(store.path)


def _copy_in(store: ingest.Store, source: Path) -> Path:
    """Copy a run into the store, in place of its link."""
    target = store.path / "runs" / sql.schema_version() / source.name
    if target.is_symlink():
        target.unlink()
    return Path(shutil.copytree(source, target))


def _copy_out_and_in(store: ingest.Store, directory: Path, run_id: str) -> Path:
    """Remove a run, and copy its files back, in place of its link."""
    kept = Path(shutil.copytree(store.run_path(run_id), directory / f"run_id={run_id}"))
    store.remove(run_id)
    return _copy_in(store, kept)


def test_a_run_being_copied_in_is_left_alone_until_it_is_whole(
    store: ingest.Store, tmp_path: Path, command: Command
) -> None:
    source = store.run_path(store.find("one"))
    kept = Path(shutil.copytree(source, tmp_path / source.name))
    store.remove(store.find("one"))
    copied = _copy_in(store, kept)
    part = (copied / "events.parquet").read_bytes()
    (copied / "events.parquet").write_bytes(part[:10])
    done = command("list", store=store.path)
    assert "events.parquet has changed in size" in done.err
    assert runs(store.path) == [("two", 1)]
    assert (copied / "events.parquet").read_bytes() == part[:10]
    (copied / "events.parquet").write_bytes(part)
    assert runs(store.path) == BOTH
    assert is_at_rest(store.path)


@pytest.mark.filterwarnings("ignore::ingest.StoreWarning")
@pytest.mark.parametrize("change", ["--remove", "--repair"])
def test_a_damaged_copy_that_is_removed_or_repaired_is_gone(
    change: str, store: ingest.Store, tmp_path: Path, command: Command
) -> None:
    run_id = store.find("one")
    copied = _copy_out_and_in(store, tmp_path, run_id)
    (copied / "events.parquet").unlink()
    assert command("check", store=store.path).code == 1
    assert command("check", change, store=store.path).code == 0
    assert command("check", store=store.path).code == 0
    assert not copied.is_dir() or copied.is_symlink()
    assert is_at_rest(store.path)
    if change == "--repair":
        assert runs(store.path) == BOTH
        store.remove(run_id)
    assert runs(store.path) == [("two", 1)]


def test_a_removed_run_does_not_return_from_copies_in_the_store(store: ingest.Store) -> None:
    run_id = store.find("one")
    damaged = _copy_in(store, store.run_path(run_id))
    (damaged / "events.parquet").unlink()
    older = store.path / "runs" / "0123456789abcdef" / damaged.name
    shutil.copytree(store.run_path(run_id), older)
    store.remove(run_id)  # by a process that has not seen them
    assert runs(store.path) == [("two", 1)]
    assert not damaged.exists()
    assert not older.exists()


def test_an_absolute_link_to_a_revision_is_the_stores_own(store: ingest.Store) -> None:
    """As a tool for backups may write it."""
    run = store.run_path(store.find("one"))
    link = store.path / "runs" / sql.schema_version() / run.name
    link.unlink()
    link.symlink_to(run)
    for _ in range(2):
        assert runs(store.path) == BOTH
    assert not os.path.isabs(link.readlink())
    assert is_at_rest(store.path)


def test_modes_of_files_outside_the_store_stay(store: ingest.Store, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    (private / "key").touch(mode=0o600)
    run_id = store.find("one")
    copied = _copy_out_and_in(store, tmp_path, run_id)
    (copied / "key").symlink_to(private / "key")
    (copied / "private").symlink_to(private)
    assert runs(store.path) == BOTH
    store.edit(run_id, ingest.AddOptions(note="n"))
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert stat.S_IMODE((private / "key").stat().st_mode) == 0o600


def test_an_index_that_cannot_be_written_makes_no_run_damaged(store: ingest.Store) -> None:
    [index] = store.path.glob("index-*.parquet")
    index.unlink()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))  # bytes
    try:
        assert ingest.Store(store.path).faults() == {}
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert runs(store.path) == BOTH


@pytest.mark.filterwarnings("ignore::ingest.StoreWarning")
def test_a_damaged_copy_that_cannot_be_removed_stays_listed(
    store: ingest.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = store.find("one")
    copied = _copy_out_and_in(store, tmp_path, run_id)
    (copied / "events.parquet").unlink()
    store.refresh()

    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(store.path))

    with monkeypatch.context() as patched:
        patched.setattr("ingest.store.directory.files.listing.Listing.write", fail)
        with pytest.raises(ingest.IngestError, match="cannot write to the store"):
            store.remove(run_id)
    assert copied.is_dir()
    assert run_id in ingest.Store(store.path).faults()
    assert not list(store.path.glob(".work-*"))


def test_a_copied_run_that_cannot_be_moved_is_read_where_it_is(
    store: ingest.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = store.run_path(store.find("one"))
    version = store.path / "runs" / sql.schema_version()
    copied = Path(shutil.copytree(run, version / "run_id=copied-12345678"))
    rename = Path.rename

    def fail(path: Path, target: Path) -> Path:
        if path == copied:
            raise OSError(18, "Invalid cross-device link", str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    for _ in range(2):
        assert runs(store.path) == [("one", 1), *BOTH]
        assert len(list((store.path / "revisions").glob("*/*"))) == 2
    assert copied.is_dir()


def test_a_removed_run_does_not_return_from_a_revision_that_lost(
    store: ingest.Store, tmp_path: Path
) -> None:
    """Stores were merged, and each had a revision of the run."""
    older = Path(shutil.copytree(store.path, tmp_path / "older", symlinks=True))
    run_id = store.find("one")
    store.edit(run_id, ingest.AddOptions(note="n"))
    revision = store.run_path(run_id).parent
    subprocess.run(["cp", "-a", f"{older}/revisions", store.path], check=True)
    assert len(list(revision.parent.glob(f"*/run_id={run_id}"))) == 2
    store.remove(run_id)  # by a process that has not seen the copy
    assert runs(store.path) == [("two", 1)]
    assert is_at_rest(store.path)


@pytest.mark.filterwarnings("ignore::ingest.StoreWarning")
def test_a_damaged_copy_never_replaces_a_run(store: ingest.Store) -> None:
    copied = _copy_in(store, store.run_path(store.find("one")))
    (copied / "events.parquet").unlink()
    for _ in range(2):
        assert runs(store.path) == BOTH
    assert copied.is_dir()
    assert not copied.is_symlink()


def test_a_backup_copied_in_replaces_a_damaged_run(
    store: ingest.Store, tmp_path: Path, command: Command
) -> None:
    run = store.run_path(store.find("one"))
    backup = Path(shutil.copytree(run, tmp_path / run.name))
    (run / "events.parquet").unlink()
    assert command("check", store=store.path).code == 1
    _copy_in(store, backup)
    assert runs(store.path) == BOTH
    assert is_at_rest(store.path)


def test_a_link_to_a_run_elsewhere_survives_that_its_disk_is_away(
    store: ingest.Store, tmp_path: Path, command: Command
) -> None:
    run = store.run_path(store.find("one"))
    disk = tmp_path / "disk"
    disk.mkdir()
    elsewhere = Path(shutil.copytree(run, disk / run.name))
    store.remove(store.find("one"))
    version = store.path / "runs" / sql.schema_version()
    (version / run.name).symlink_to(os.path.relpath(elsewhere, version))
    assert runs(store.path) == BOTH
    disk.rename(tmp_path / "away")
    assert "is left out: a file cannot be read" in command("list", store=store.path).err
    (tmp_path / "away").rename(disk)
    assert runs(store.path) == BOTH
    assert is_at_rest(store.path)


def test_a_copied_run_with_a_pattern_as_its_name_gets_another(store: ingest.Store) -> None:
    run = store.run_path(store.find("one"))
    version = store.path / "runs" / sql.schema_version()
    shutil.copytree(run, version / "run_id=a[b]*-12345678")
    assert runs(store.path) == [("one", 1), *BOTH]
    assert "ab-12345678" in store.run_ids()


@pytest.mark.filterwarnings("ignore::ingest.StoreWarning")
def test_files_that_others_put_beside_runs_stay(store: ingest.Store) -> None:
    version = store.path / "runs" / "0123456789abcdef"
    for file in (store.path / "runs" / "README", version / "run_id=other-1" / "notes"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text")
    (store.path / "revisions" / "notes").write_text("text")
    (store.path / "revisions" / version.name).mkdir()
    store.edit(store.find("one"), ingest.AddOptions(note="n"))
    assert not (store.path / "revisions" / version.name).exists()
    assert (store.path / "runs" / "README").read_text() == "text"
    assert (version / "run_id=other-1" / "notes").read_text() == "text"
    assert (store.path / "revisions" / "notes").read_text() == "text"


def test_a_listing_that_cannot_be_read_is_no_empty_store(
    store: ingest.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = listing(store.path)
    read = Path.read_bytes

    def fail(path: Path) -> bytes:
        if path.name == "listing.json":
            raise OSError(5, "Input/output error", str(path))
        return read(path)

    os.utime(store.path / "listing.json")  # otherwise it need not be read again
    connection = ingest.connect(store)
    os.utime(store.path / "listing.json")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", fail)
        with pytest.raises(ingest.IngestError, match="cannot read the store: Input/output error"):
            store.refresh()
        with pytest.raises(Exception, match="Input/output error"):
            connection.execute("FROM runs")
    assert listing(store.path) == before
    assert runs(store.path) == BOTH


def test_a_damaged_index_is_written_anew(store: ingest.Store) -> None:
    [index] = store.path.glob("index-*.parquet")
    content = index.read_bytes()
    connection = ingest.connect(store)

    def query() -> list[tuple[object, ...]]:
        return connection.execute("SELECT * FROM run_overview").fetchall()

    before = query()
    for begin in range(100, len(content) // 2, 2000):  # only the data
        index.write_bytes(content[:begin] + bytes(50) + content[begin + 50 :])
        assert ingest.read(connection, query) == before
    index.write_bytes(content[:100] + bytes(len(content) // 3) + content[100 + len(content) // 3 :])
    ingest.Store(store.path).check()
    assert ingest.connect(store.path).execute("SELECT * FROM run_overview").fetchall() == before


def test_the_listing_is_as_readable_as_it_was(store: ingest.Store) -> None:
    (store.path / "listing.json").chmod(0o664)
    before = os.umask(0o077)
    try:
        store.edit(store.find("one"), ingest.AddOptions(note="n"))
    finally:
        os.umask(before)
    for name in ("listing.json", "index.parquet"):
        assert stat.S_IMODE((store.path / name).stat().st_mode) == 0o664
