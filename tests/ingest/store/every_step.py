"""Run an operation on a store repeatedly, and kill it at a later step each time.

A step is a call that opens, locks, makes, moves or deletes a file in the store. After each kill,
every run must be complete or absent, and the next process that writes must remove all leftovers.
Print the number of kills.

    python every_step.py create|add|remove|edit|rebuild STORE TRACE [FIRST STRIDE]
"""

import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import ingest
from ingest import sql
from ingest.store import upkeep

sys.path.append(str(Path(__file__).parents[3]))
from tests.stores import is_at_rest

STEPS = {
    "fcntl.flock",
    "os.listdir",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.scandir",
}

operation, path, trace = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
step, stride = map(int, sys.argv[4:] or (1, 1))


def create() -> None:
    ingest.Store(path)


def add() -> None:
    ingest.Store(path).add(trace)


def remove() -> None:
    with suppress(ingest.IngestError):  # the run may not exist
        ingest.Store(path).remove("cpu_only-5412a757")


def edit() -> None:
    upkeep.edit(ingest.Store(path), "cpu_only-5412a757", ingest.AddOptions(model="m", note="n"))


def rebuild() -> None:
    upkeep.rebuild(ingest.Store(path), "cpu_only-5412a757")


def check_complete() -> None:
    connection = ingest.connect(path)
    for manifest in path.glob("runs/*/*/manifest.json"):
        listed = {*json.loads(manifest.read_text())["files"], manifest.name}
        assert {file.name for file in manifest.parent.iterdir()} == listed, manifest
    for table in sql.tables():
        connection.sql(f"SELECT count(COLUMNS(*)) FROM {table.name}").fetchall()
    assert (
        sorted(run_id for (run_id,) in connection.sql("SELECT run_id FROM run_overview").fetchall())
        == ingest.Store(path).run_ids()
    )


def check_present() -> None:
    assert "cpu_only-5412a757" in ingest.Store(path).run_ids()


def check_clean() -> None:
    assert is_at_rest(path), list(path.iterdir())


def forked(action: Callable[[], None], kill_at: int = 0) -> int:
    """Run `action` in a forked process, and return the exit code."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    seen = 0

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        if event in STEPS or (event == "open" and str(path) in str(arguments[0])):
            seen += 1
            if seen == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    try:
        action()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


do, then = {
    "create": (create, remove),
    "add": (add, remove),
    "remove": (remove, add),
    "edit": (edit, check_present),
    "rebuild": (rebuild, check_present),
}[operation]
kills = 0
while (ended := forked(do, step)) == -signal.SIGKILL:
    for action in (check_complete, then, check_clean, check_complete):
        if forked(action):
            sys.exit(f"killed at step {step}: {action.__name__} failed")
    if operation == "create":
        shutil.rmtree(path)
    kills += 1
    step += stride
if ended:
    sys.exit(f"{operation} failed without a kill, after {kills} kills")
print(kills)
