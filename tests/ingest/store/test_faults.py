"""Stores stay intact when processes are killed, disks are full or permissions are missing."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ingest
from ingest import sql
from ingest.store.directory.files.locking import work_directory
from tests.builders.events import op
from tests.helpers.command import Command, Result
from tests.helpers.stores import is_at_rest

pytestmark = pytest.mark.slow  # starts many processes
INGEST = (sys.executable, "-m", "ingest")
ENDLESS = "SELECT count(*) FROM range(1000000000000)"
NEEDS_ROOT = pytest.mark.skipif(
    bool(os.getuid()) or not shutil.which("setpriv"), reason="needs root, to drop its permissions"
)
WITHOUT_ROOT_PERMISSIONS = (
    "setpriv",
    "--bounding-set=-dac_override,-dac_read_search",
    "--inh-caps=-dac_override,-dac_read_search",
)


def run(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


def start(*arguments: object) -> subprocess.Popen[str]:
    """Start `ingest` as a terminal does: in its own process group, with Ctrl-C enabled."""
    return subprocess.Popen(
        [*INGEST, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def until(happens: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Wait until something happens while a process runs."""
    while not happens():
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)


def names(store: Path) -> list[str]:
    return [run_id.rpartition("-")[0] for run_id in ingest.Store(store).run_ids()]


READING = [["list"], ["show", "kept"], ["top", "kept"], ["sql", "FROM sources"]]
PROGRAM = """
import contextlib, io, json, sys
from ingest.cli import main

results = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["ingest", *arguments]
    code = 0
    with contextlib.redirect_stdout(io.StringIO()) as out:
        with contextlib.redirect_stderr(io.StringIO()) as err:
            try:
                main.main()
            except SystemExit as end:
                code = end.code or 0
    results.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(results))
"""


def without_permissions(*commands: list[str]) -> list[Result]:
    """Run commands in one process that lacks the permissions of root."""
    done = run(*WITHOUT_ROOT_PERMISSIONS, sys.executable, "-c", PROGRAM, json.dumps(commands))
    assert (done.returncode, done.stderr) == (0, "")
    return [Result(*result) for result in json.loads(done.stdout)]


def assert_readable(store: Path, results: list[Result]) -> None:
    """Assert that every command of `READING`, and a connection, found the run `kept`."""
    assert len(results) == len(READING)
    for result in results:
        assert (result.code, result.err) == (0, "")
        assert "kept" in result.out
    rows = ingest.connect(store).sql("SELECT complete_events FROM sources WHERE run_id ^@ 'kept'")
    assert rows.fetchall() == [(2324,)]


@pytest.fixture(scope="module")
def small(samples: Path) -> Path:
    return samples / "traces" / "cpu_only.json.gz"


@pytest.fixture
def large(samples: Path) -> Path:
    return samples / "traces" / "mi300_flux1_graph_capture.json.gz"


@pytest.fixture(scope="module")
def fill(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """A function that makes a store with one run, `kept`."""
    trace = samples / "traces" / "cupti_counters.json.gz"
    kept = ingest.Store(tmp_path_factory.mktemp("filled") / "store")
    run = kept.run_path(kept.add(trace, ingest.AddOptions(name="kept")).run_id)

    def made(path: Path) -> Path:
        store = ingest.Store(path)
        shutil.copytree(run, store.path / "runs" / sql.schema_version() / run.name)
        store.refresh()  # otherwise each command on a store that cannot be written reads the run
        store.catalog_file.ensure()  # or defines all views
        return path

    return made


@pytest.fixture
def store(fill: Callable[[Path], Path], tmp_path: Path) -> Path:
    return fill(tmp_path / "store")


@pytest.fixture
def default_store(tmp_path: Path) -> Path:
    """The store of `command`, which all tests name themselves."""
    return tmp_path / "none"


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB."""
    path = tmp_path / "mount"
    path.mkdir()
    done = run("mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", path)
    if done.returncode:
        pytest.skip(f"needs the right to mount: {done.stderr.strip()}")
    yield path
    run("umount", "--lazy", path)


@pytest.fixture(scope="module")
def with_small(
    fill: Callable[[Path], Path], small: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A store with the runs `kept` and `cpu_only`. Tests copy it."""
    store = fill(tmp_path_factory.mktemp("with_small") / "store")
    ingest.Store(store).add(small)
    return store


OPERATIONS = ("create", "add", "remove", "edit", "rebuild", "adopt", "found")


@pytest.fixture(scope="module")
def every_step(
    fill: Callable[[Path], Path],
    with_small: Path,
    small: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[str, int], str]:
    """The number of states that were checked for each operation, and what went wrong."""
    directory = tmp_path_factory.mktemp("every_step")
    stores = {operation: directory / operation for operation in OPERATIONS}
    for operation, store in stores.items():
        if operation == "add":
            fill(store)
        elif operation != "create":
            shutil.copytree(with_small, store, symlinks=True)
    script = Path(__file__).with_name("every_step.py")
    named = (f"{operation}={store}" for operation, store in stores.items())
    done = run(sys.executable, script, small, *named)
    passed = (line.split() for line in done.stdout.splitlines())
    return {operation: int(states) for operation, states in passed}, done.stderr


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_store_stays_intact_at_whatever_step_a_process_is_killed(
    operation: str, every_step: tuple[dict[str, int], str]
) -> None:
    states, errors = every_step
    assert errors == ""
    assert states[operation] > 5


# Files that `ingest add` makes one after another.
STAGES = [
    "",
    ".work-*",
    ".work-*/run",
    ".work-*/run/*.parquet",
    "revisions/*/*/run_id=cpu_only*",
    "runs/*/run_id=cpu_only*",
]


def test_a_store_stays_intact_whenever_the_command_is_killed(
    store: Path, small: Path, command: Command
) -> None:
    for stage in STAGES:
        process = start("add", small, "--store", store)
        until(lambda stage=stage: not stage or list(store.glob(stage)), process)
        process.kill()
        process.communicate()  # until its worker has ended too
        assert names(store) in (["kept"], ["cpu_only", "kept"])
        shown = command("sql", "FROM run_overview", store=store)
        assert (shown.code, shown.err) == (0, "")
        if "cpu_only" in names(store):
            assert command("remove", "cpu_only", store=store).code == 0
    assert command("add", small, store=store).code == 0
    assert is_at_rest(store)


def test_unredacted_leftovers_of_a_killed_add_are_private_and_swept(
    store: Path, tmp_path: Path, command: Command
) -> None:
    event = op("a", args={"token": "hf_" + 20 * "Ab1"})
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": 100_000 * [event]}))  # too large for memory alone
    process = start("add", trace, "--store", store)
    until(lambda: list(store.glob(".work-*/run.scratch*")), process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    left = list(store.glob(".work-*"))
    assert {directory.stat().st_mode & 0o777 for directory in left} == {0o700}
    done = command("list", store=store)
    assert (done.code, done.err) == (0, "")
    assert is_at_rest(store)


def test_only_work_directories_of_dead_processes_are_swept(store: Path, small: Path) -> None:
    dead = store / f".work-{os.getpid()}"  # a process id that another process reuses
    (dead / "run").mkdir(parents=True)
    (dead / "lock").touch()
    (dead / "run" / "events.parquet").touch()
    with work_directory(store) as in_use:
        ingest.Store(store).add(small)
        assert in_use.is_dir()
        assert not dead.exists()
    assert is_at_rest(store)


def test_a_store_works_on_a_file_system_without_locks(tmp_path: Path, small: Path) -> None:
    code = (
        "import errno, fcntl, sys, ingest\n"
        "def flock(descriptor, operation):\n"
        "    raise OSError(errno.ENOSYS, 'Function not implemented')\n"
        "fcntl.flock = flock\n"
        "store = ingest.Store(sys.argv[1])\n"
        "(store.path / '.work-somebody').mkdir()\n"
        "before = (store.path / 'listing.json').read_bytes()\n"
        "store.add(sys.argv[2])\n"
        "(store.path / 'listing.json').write_bytes(before)\n"  # another process was as fast
        "ingest.Store(store.path).refresh()\n"
    )
    done = run(sys.executable, "-c", code, tmp_path / "store", small)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "store" / ".work-somebody").is_dir()  # it may be in use
    assert names(tmp_path / "store") == ["cpu_only"]


@pytest.mark.parametrize("free", [0, 64 << 10, 2 << 20])
def test_a_full_disk_is_an_error_and_damages_nothing(
    free: int, mount: Path, fill: Callable[[Path], Path], large: Path, command: Command
) -> None:
    store = fill(mount / "store")
    with (mount / "filler").open("wb") as filler:
        filler.truncate(0)
        os.posix_fallocate(filler.fileno(), 0, shutil.disk_usage(mount).free - free)
    done = command("add", large, store=store)
    assert (done.code, done.out) == (1, "")
    assert done.err == f"error: {store}: cannot write to the store: No space left on device\n"
    assert_readable(store, [command(*arguments, store=store) for arguments in READING])
    (mount / "filler").unlink()
    assert command("remove", "kept", store=store).code == 0
    assert is_at_rest(store)


@pytest.mark.parametrize("operation", [["remove"], ["edit", "--model", "m"], ["add"]])
def test_on_a_full_disk_the_outcome_is_what_happened(
    operation: list[str], mount: Path, fill: Callable[[Path], Path], small: Path, command: Command
) -> None:
    """The disk has room for nothing, then for more and more of what the operation writes."""
    store = fill(mount / "store")
    arguments = [operation[0], small if operation == ["add"] else "kept", *operation[1:]]
    query = "SELECT name, model FROM run_overview ORDER BY name"
    changed = {"remove": [], "edit": [("kept", "m")], "add": [("cpu_only", None), ("kept", None)]}
    outcomes = []
    filler = mount / "filler"
    for free in (0, 4, 8, 12, 16, 24, 32, 64, 256, 1024, 4096, 8192):
        filler.touch()
        os.truncate(filler, 0)
        with filler.open("r+b") as opened:
            room = shutil.disk_usage(mount).free - (free << 10)
            os.posix_fallocate(opened.fileno(), 0, max(1, room))
        done = command(*arguments, store=store)
        outcomes.append((done.code, "the next command tries again" in done.err))
        found = ingest.connect(store).execute(query).fetchall()
        if done.code:
            assert done.err == (
                f"error: {store}: cannot write to the store: No space left on device\n"
            )
            assert found == [("kept", None)]
        else:
            assert found == changed[operation[0]]
            break
    assert outcomes[-1][0] == 0
    filler.unlink()
    assert command("list", store=store).err == ""
    assert ingest.connect(store).execute(query).fetchall() == changed[operation[0]]
    assert is_at_rest(store)


def test_a_store_that_does_not_fit_can_be_created_later(
    mount: Path, small: Path, command: Command
) -> None:
    with (mount / "filler").open("wb") as filler:
        os.posix_fallocate(filler.fileno(), 0, shutil.disk_usage(mount).free - (20 << 10))
    store = mount / "store"
    done = command("add", small, store=store)
    assert done.code == 1
    assert done.err == f"error: {store}: cannot create a store: No space left on device\n"
    (mount / "filler").unlink()
    assert command("add", small, store=store).code == 0
    assert is_at_rest(store)


@pytest.mark.parametrize("is_current", [True, False])
def test_a_read_only_store_can_be_read_but_not_changed(
    is_current: bool, mount: Path, fill: Callable[[Path], Path], small: Path, command: Command
) -> None:
    store = fill(mount / "store")
    if not is_current:
        (store / "schema").write_text("of another version, with the same tables")
    assert run("mount", "-o", "remount,ro", mount).returncode == 0
    assert_readable(store, [command(*arguments, store=store) for arguments in READING])
    for arguments in (["add", small], ["remove", "kept"]):
        done = command(*arguments, store=store)
        assert (done.code, done.out) == (1, "")
        assert done.err == f"error: {store}: cannot write to the store: Read-only file system\n"
    for arguments in (["upgrade"], ["check", "--repair"]):
        done = command(*arguments, store=store)
        assert (done.code, done.err) == (0, "")
    assert command("add", small, store=mount / "new").err == (
        f"error: {mount / 'new'}: cannot create a store: Read-only file system\n"
    )


@NEEDS_ROOT
def test_a_store_without_write_permission_can_be_read(store: Path, small: Path) -> None:
    os.chown(store, 65534, 65534)
    on_store = ["--store", str(store)]
    changing = [["add", str(small)], ["remove", "kept"]]
    results = without_permissions(*(each + on_store for each in READING + changing))
    assert_readable(store, results[: len(READING)])
    for done in results[len(READING) :]:
        assert (done.code, done.out) == (1, "")
        assert done.err == f"error: {store}: cannot write to the store: Permission denied\n"
    os.chmod(store / "runs", 0)
    [done] = without_permissions(["list", *on_store])
    assert done.code == 1
    assert done.err == f"error: {store}: cannot read the store: Permission denied\n"


@NEEDS_ROOT
def test_a_revision_that_another_user_keeps_private_stops_nobody(store: Path) -> None:
    killed = store / "revisions" / sql.schema_version() / "1-killed"
    killed.mkdir()
    (killed / "new").touch()
    killed.chmod(0o700)
    os.chown(killed, 65534, 65534)
    results = without_permissions(*([*each, "--store", str(store)] for each in READING))
    assert_readable(store, results)


@NEEDS_ROOT
def test_a_run_that_one_user_may_not_read_stays_whole_for_others(
    store: Path, small: Path, command: Command
) -> None:
    opened = ingest.Store(store)
    opened.add(small, ingest.AddOptions(name="private"))
    run = opened.run_path(opened.find("private"))
    before = (store / "listing.json").read_bytes()
    for private in (run, run.parent):  # known by its name, and not even that
        private.chmod(0o700)
        os.chown(private, 65534, 65534)
        commands = [["check"], ["check", "--remove"], ["sql", "SELECT sum(dur_ns) FROM events"]]
        for done in without_permissions(*([*each, "--store", str(store)] for each in commands)):
            assert "this user may not read its files; ask the owner" in done.out + done.err
            assert "removed" not in done.out
    assert (store / "listing.json").read_bytes() == before
    assert command("check", store=store).out == "2 runs intact\n"


def test_a_store_shares_what_a_user_with_a_strict_umask_adds(store: Path, small: Path) -> None:
    (store / "listing.json").chmod(0o664)
    (store / "runs").chmod(0o2775)
    before = os.umask(0o077)
    try:
        for file in (store / "schema", store / "catalog.duckdb"):
            file.unlink()
        opened = ingest.Store(store)
        run = opened.run_path(opened.add(small).run_id)
        with ingest.connect(opened):
            assert list((store / ".readers").iterdir())
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (run, run.parent, store / ".readers")}
    assert modes == {0o2775}
    files = (*run.iterdir(), *(store / name for name in ("index.parquet", "catalog.duckdb")))
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o664}


@pytest.mark.parametrize("place", ["runs", "revisions"])
@NEEDS_ROOT
def test_a_directory_of_another_version_that_is_private_stops_nobody(
    place: str, store: Path
) -> None:
    (store / place / "newer").mkdir(mode=0o700)
    os.chown(store / place / "newer", 65534, 65534)
    results = without_permissions(*([*each, "--store", str(store)] for each in READING))
    assert_readable(store, results)


def test_a_damaged_index_stops_no_reader_who_cannot_write(
    mount: Path, fill: Callable[[Path], Path], command: Command
) -> None:
    store = fill(mount / "store")
    [index] = store.glob("index-*.parquet")
    content = index.read_bytes()
    index.write_bytes(
        content[: len(content) // 4] + bytes(2000) + content[len(content) // 4 + 2000 :]
    )
    assert run("mount", "-o", "remount,ro", mount).returncode == 0
    assert_readable(store, [command(*arguments, store=store) for arguments in READING])


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("number", "to_all"),
    [(signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGTERM, True)],
)
def test_a_signal_ends_the_command_at_once_and_leaves_nothing(
    number: signal.Signals, to_all: bool, jobs: int, store: Path, large: Path, samples: Path
) -> None:
    other = samples / "traces" / "mi300_flux1_graph_replay.json.gz"
    process = start("add", large, other, "--jobs", jobs, "--store", store)
    until(lambda: list(store.glob(".work-*/run")), process)
    if to_all:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    out, err = process.communicate()
    assert (process.returncode, out) == (128 + number, "")
    assert err == f"error: stopped ({number.name})\n"
    assert is_at_rest(store)
    assert names(store) == ["kept"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_while_it_starts(number: signal.Signals, store: Path) -> None:
    process = start("sql", ENDLESS, "--store", store)
    status = Path(f"/proc/{process.pid}/status")

    def is_handled() -> bool:
        caught = int(status.read_text().split("SigCgt:")[1].split()[0], 16)
        return bool(caught >> (signal.SIGTERM - 1) & 1)

    until(is_handled, process)
    process.send_signal(number)
    out, err = process.communicate()
    assert (process.returncode, out) == (128 + number, "")
    assert err == f"error: stopped ({number.name})\n"


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_worker_affects_only_its_run(
    jobs: int, store: Path, large: Path, small: Path, tmp_path: Path
) -> None:
    others = [small, tmp_path / "other.json"]
    others[1].write_text(json.dumps([op("a")]))
    process = start("add", large, *others, "--jobs", jobs, "--store", store)
    until(lambda: list(store.glob(".work-*/run")), process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)  # the first worker has the first path
    _, err = process.communicate()
    assert process.returncode == 1
    assert err == f"error: {large}: the worker process was killed (SIGKILL); out of memory?\n"
    assert names(store) == ["cpu_only", "kept", "other"]
    assert is_at_rest(store)
