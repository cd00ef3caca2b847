"""Run operations on stores, and check each store as a kill at each step would leave it.

A step is a call that opens, locks, makes, moves or deletes a file in the store. A kill leaves the
files as they are at that step, so each state of the files is kept and checked: every run must be
complete or absent, and the next process that writes must remove all leftovers.

    python every_step.py TRACE OPERATION=STORE…

An operation is create, add, remove, edit, rebuild, adopt or found. STORE has the runs `kept` and,
for all operations but `create` and `add`, the run of TRACE. It may be changed by the operation, and
by the checks. Print `OPERATION STATES`, the number of states, for each operation that passed.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import ingest
from ingest import sql
from ingest.store.directory.files.detection import find_fault

sys.path.append(str(Path(__file__).parents[3]))
from tests.helpers.stores import is_at_rest, listing

STEPS = {
    "fcntl.flock",
    "os.listdir",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.scandir",
    "os.symlink",
}
RUN = "cpu_only-5412a757"

trace = Path(sys.argv[1])
operation, path, states = "", Path(), Path()  # of the process
checked: set[str] = set()
Tree = frozenset[tuple[str, int, int]]  # names, sizes and times of the files in a directory


def create() -> None:
    ingest.Store(path)


def add() -> None:
    ingest.Store(path).add(trace)


def remove() -> None:
    ingest.Store(path).remove(RUN)


def edit() -> None:
    ingest.Store(path).edit(RUN, ingest.AddOptions(model="m", note="n"))


def rebuild() -> None:
    ingest.Store(path).rebuild(RUN)


def take_over() -> None:
    """Open a store with runs in place of their links. In stores of early versions, all are."""
    ingest.Store(path)


def copied_in(run_ids: list[str]) -> None:
    """Put the files of runs in place of their links, and lose the listing if that is all runs."""
    runs = {run["run_id"]: run for run in listing(path)["runs"]}
    for run_id in run_ids or runs:
        files = path / runs[run_id]["directory"]
        link = path / "runs" / sql.schema_version() / files.name
        link.unlink()
        files.rename(link)
        shutil.rmtree(files.parent)
    if not run_ids:
        (path / "listing.json").unlink()


def check_complete() -> None:
    """Read every file of every run, and every table."""
    connection = ingest.connect(path)
    for run in listing(path)["runs"]:
        manifest = path / run["directory"] / "manifest.json"
        listed = {*json.loads(manifest.read_text())["files"], manifest.name}
        assert {file.name for file in manifest.parent.iterdir()} == listed, manifest
        assert find_fault(manifest.parent, sql.schema_version(), (), thorough=True) is None
    counts = (f"SELECT count(*) FROM {table.name}" for table in sql.tables())
    connection.sql(" UNION ALL ".join(counts)).fetchall()
    run_ids = ingest.Store(path).run_ids()
    rows = connection.sql("SELECT run_id FROM run_overview").fetchall()
    assert sorted(run_id for (run_id,) in rows) == run_ids
    if operation in ("edit", "rebuild", "adopt", "found"):
        assert RUN in run_ids


def write() -> None:
    store = ingest.Store(path)
    with suppress(ingest.IngestError):  # a store that was being created has no run
        store.remove(store.find("kept"))


def check_clean() -> None:
    assert is_at_rest(path), list(path.iterdir())


def forked(action: Callable[[], None]) -> int:
    """Run `action` in a forked process, and return the exit code."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        action()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def recorded() -> None:
    """Run the operation. Keep each state of the files, in order."""
    seen: set[Tree] = set()
    is_recording = False

    def record(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal is_recording
        is_step = event in STEPS or (event == "open" and str(path) in str(arguments[0]))
        if is_step and not is_recording:
            is_recording = True  # which takes steps itself
            if (state := tree(path)) not in seen:
                seen.add(state)
                kept = states / f"{len(seen):03}"
                kept.mkdir()
                with suppress(FileNotFoundError, shutil.Error):  # files deleted meanwhile
                    shutil.copytree(path, kept / path.name, symlinks=True)
            is_recording = False

    sys.addaudithook(record)
    operations = {
        "create": create,
        "add": add,
        "remove": remove,
        "edit": edit,
        "rebuild": rebuild,
        "adopt": take_over,
        "found": take_over,
    }
    operations[operation]()


def tree(directory: Path) -> Tree:
    """Return what tells whether a file was added, changed, moved or deleted.

    Tables of a run that is not complete do not count: no other process opens them.
    """
    found = set()
    for file in directory.rglob("*"):
        if not (file.suffix == ".parquet" and ".work-" in str(file)):
            with suppress(FileNotFoundError):  # deleted meanwhile
                stat = file.lstat()
                found.add((str(file), stat.st_size, 0 if file.is_dir() else stat.st_mtime_ns))
    return frozenset(found)


def content() -> str:
    """Return a digest of what readers see of the store, without leftovers of writers."""
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        name = str(file.relative_to(path))
        if not name.startswith(".work-"):
            digest.update(name.encode() + (file.read_bytes() if file.is_file() else b""))
    return digest.hexdigest()


def check_every_state() -> None:
    """Run the operation. Check each state of the files."""
    states.mkdir()
    if operation in ("adopt", "found"):
        copied_in([RUN] if operation == "adopt" else [])
    if forked(recorded):
        sys.exit(f"{operation} failed")
    for state in sorted(states.iterdir()):
        shutil.rmtree(path, ignore_errors=True)
        if (state / path.name).exists():
            (state / path.name).rename(path)
        seen = content()
        for action in (check_complete, write, check_clean, check_complete):
            if action == check_complete and seen in checked:
                continue
            if forked(action):
                sys.exit(f"state {state.name} of {operation}: {action.__name__} failed")
            checked.add(seen)
            if action != check_clean:  # which only looks at names
                seen = content()
    print(operation, len(list(states.iterdir())), flush=True)


with tempfile.TemporaryDirectory() as directory:  # what this derives, each process would derive
    ingest.connect(Path(directory) / "store").close()
for argument in sys.argv[2:]:
    operation, _, store = argument.partition("=")
    path, states = Path(store), Path(f"{store}-states")
    forked(check_every_state)
