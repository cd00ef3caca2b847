"""Stores stay intact when processes are killed, disks are full or permissions are missing."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ingest
from ingest.store.locking import work_directory
from tests.builders.events import op
from tests.stores import is_at_rest

pytestmark = pytest.mark.slow  # starts many processes
INGEST = (sys.executable, "-m", "ingest")
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


def until(happens: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.002)


def names(store: Path) -> list[str]:
    return [run_id.rpartition("-")[0] for run_id in ingest.Store(store).run_ids()]


READING = [["list"], ["show", "kept"], ["top", "kept"], ["sql", "FROM sources"]]
PROGRAM = """
import sys
from ingest.cli import main

for command in {commands}:
    sys.argv = ["ingest", *command, "--store", sys.argv[-1]]
    try:
        main.main()
    except SystemExit as end:
        assert not end.code, command
    print("\\f")
"""


def assert_readable(store: Path, *prefix: object) -> None:
    """Assert that every command that reads, and a connection, find the run `kept`."""
    done = run(*prefix, sys.executable, "-c", PROGRAM.format(commands=READING), store)
    assert (done.returncode, done.stderr) == (0, "")
    *shown, rest = done.stdout.split("\f\n")
    assert (len(shown), rest) == (len(READING), "")
    assert all("kept" in text for text in shown)
    rows = ingest.connect(store).sql("SELECT complete_events FROM sources WHERE run_id ^@ 'kept'")
    assert rows.fetchall() == [(2324,)]


@pytest.fixture
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
        shutil.copytree(run, store.path / run.relative_to(kept.path))
        store.refresh()  # otherwise each command on a store that cannot be written reads the run
        store.ensure_catalog()  # or defines all views
        return path

    return made


@pytest.fixture
def store(fill: Callable[[Path], Path], tmp_path: Path) -> Path:
    return fill(tmp_path / "store")


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


@pytest.mark.parametrize(
    ("operation", "stride"),
    [("create", 45), ("add", 37), ("remove", 30), ("edit", 36), ("rebuild", 37)],
)
def test_a_store_stays_intact_at_whatever_step_a_process_is_killed(
    operation: str, stride: int, fill: Callable[[Path], Path], small: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    if operation != "create":
        fill(store)
    if operation in ("remove", "edit", "rebuild"):
        ingest.Store(store).add(small)
    script = Path(__file__).with_name("every_step.py")
    first = random.randint(1, stride)
    done = run(sys.executable, script, operation, store, small, first, stride)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 1


def test_a_store_stays_intact_whenever_the_command_is_killed(store: Path, small: Path) -> None:
    began = time.monotonic()
    assert run(*INGEST, "add", small, "--store", store).returncode == 0
    lasts = time.monotonic() - began
    ingest.Store(store).remove(ingest.Store(store).find("cpu_only"))
    for delay in [*(lasts * part / 4 for part in range(1, 4)), random.uniform(0, lasts)]:
        process = start("add", small, "--store", store)
        time.sleep(delay)
        process.kill()
        process.communicate()  # until its worker has ended too
        assert names(store) in (["kept"], ["cpu_only", "kept"])
        done = run(*INGEST, "sql", "FROM run_overview", "--store", store)
        assert (done.returncode, done.stderr) == (0, "")
        if "cpu_only" in names(store):
            assert run(*INGEST, "remove", "cpu_only", "--store", store).returncode == 0
    assert run(*INGEST, "add", small, "--store", store).returncode == 0
    assert is_at_rest(store)


def test_unredacted_leftovers_of_a_killed_add_are_private_and_swept(
    store: Path, tmp_path: Path
) -> None:
    event = op("a", args={"token": "hf_" + 20 * "Ab1"})
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": 100_000 * [event]}))  # too large for memory alone
    process = start("add", trace, "--store", store)
    until(lambda: list(store.glob(".work-*/run.scratch")))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    left = list(store.glob(".work-*"))
    assert {directory.stat().st_mode & 0o777 for directory in left} == {0o700}
    done = run(*INGEST, "list", "--store", store)
    assert (done.returncode, done.stderr) == (0, "")
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
        "store.add(sys.argv[2])\n"
    )
    done = run(sys.executable, "-c", code, tmp_path / "store", small)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "store" / ".work-somebody").is_dir()  # it may be in use
    assert names(tmp_path / "store") == ["cpu_only"]


@pytest.mark.parametrize("free", [0, 64 << 10, 2 << 20])
def test_a_full_disk_is_an_error_and_damages_nothing(
    free: int, mount: Path, fill: Callable[[Path], Path], large: Path
) -> None:
    store = fill(mount / "store")
    with (mount / "filler").open("wb") as filler:
        filler.truncate(0)
        os.posix_fallocate(filler.fileno(), 0, shutil.disk_usage(mount).free - free)
    done = run(*INGEST, "add", large, "--store", store)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"error: {store}: cannot write to the store: No space left on device\n"
    assert_readable(store)
    (mount / "filler").unlink()
    assert run(*INGEST, "remove", "kept", "--store", store).returncode == 0
    assert is_at_rest(store)


def test_a_store_that_does_not_fit_can_be_created_later(mount: Path, small: Path) -> None:
    with (mount / "filler").open("wb") as filler:
        os.posix_fallocate(filler.fileno(), 0, shutil.disk_usage(mount).free - (20 << 10))
    store = mount / "store"
    done = run(*INGEST, "add", small, "--store", store)
    assert done.returncode == 1
    assert done.stderr == f"error: {store}: cannot create a store: No space left on device\n"
    (mount / "filler").unlink()
    assert run(*INGEST, "add", small, "--store", store).returncode == 0
    assert is_at_rest(store)


@pytest.mark.parametrize("is_current", [True, False])
def test_a_read_only_store_can_be_read_but_not_changed(
    is_current: bool, mount: Path, fill: Callable[[Path], Path], small: Path
) -> None:
    store = fill(mount / "store")
    if not is_current:
        (store / "schema").write_text("of another version, with the same tables")
    assert run("mount", "-o", "remount,ro", mount).returncode == 0
    assert_readable(store)
    for arguments in (["add", small], ["remove", "kept"]):
        done = run(*INGEST, *arguments, "--store", store)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"error: {store}: cannot write to the store: Read-only file system\n"
    assert run(*INGEST, "add", small, "--store", mount / "new").stderr == (
        f"error: {mount / 'new'}: cannot create a store: Read-only file system\n"
    )


@pytest.mark.parametrize("lost", [".", "runs"])
def test_a_store_without_write_permission_can_be_read(lost: str, store: Path, small: Path) -> None:
    if os.getuid() or not shutil.which("setpriv"):
        pytest.skip("needs root, to drop its permissions")
    for directory in store.glob("runs/*") if lost == "runs" else [store]:
        os.chown(directory, 65534, 65534)
    assert_readable(store, *WITHOUT_ROOT_PERMISSIONS)
    for arguments in (["add", small], ["remove", "kept"]):
        done = run(*WITHOUT_ROOT_PERMISSIONS, *INGEST, *arguments, "--store", store)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"error: {store}: cannot write to the store: Permission denied\n"
    os.chmod(store / "runs", 0)
    done = run(*WITHOUT_ROOT_PERMISSIONS, *INGEST, "list", "--store", store)
    assert done.returncode == 1
    assert done.stderr == f"error: {store}: cannot read the store: Permission denied\n"


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
    until(lambda: list(store.glob(".work-*/run")))
    began = time.monotonic()
    if to_all:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    out, err = process.communicate()
    assert time.monotonic() - began < 5
    assert (process.returncode, out) == (128 + number, "")
    assert err == f"error: stopped ({number.name})\n"
    assert is_at_rest(store)
    assert names(store) == ["kept"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_while_it_starts(number: signal.Signals, store: Path) -> None:
    process = start("list", "--store", store)
    status = Path(f"/proc/{process.pid}/status")

    def is_handled() -> bool:
        caught = int(status.read_text().split("SigCgt:")[1].split()[0], 16)
        return bool(caught >> (signal.SIGTERM - 1) & 1)

    until(is_handled)
    process.send_signal(number)
    out, err = process.communicate()
    assert (process.returncode, out) == (128 + number, "")
    assert err == f"error: stopped ({number.name})\n"


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_worker_affects_only_its_run(
    jobs: int, store: Path, large: Path, small: Path, samples: Path
) -> None:
    others = [small, samples / "traces" / "two_rank_rank0.json.gz"]
    process = start("add", large, *others, "--jobs", jobs, "--store", store)
    until(lambda: list(store.glob(".work-*/run")))
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)  # the first worker has the first path
    _, err = process.communicate()
    assert process.returncode == 1
    assert err == f"error: {large}: the worker process was killed (SIGKILL); out of memory?\n"
    assert names(store) == ["cpu_only", "kept", "two_rank_rank0"]
    assert is_at_rest(store)
