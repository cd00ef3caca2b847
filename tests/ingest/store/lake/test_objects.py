"""Adding files on object storage, which are read without a copy."""

import gzip
import hashlib
import json
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
import s3fs

import ingest
from ingest.errors import ObjectError
from ingest.formats import io
from ingest.inputs.objects import OPTIONS
from tests.builders.events import kernel, op
from tests.helpers.command import Command
from tests.ingest.store.lake.answers import RELATIONS, all_rows
from tests.ingest.store.lake.conftest import BUCKET

COLUMNS = {"runs": "* EXCLUDE (ingested_at, path)", "run_overview": "* EXCLUDE (ingested_at)"}
TRACES = f"s3://{BUCKET}/traces"
LARGE = f"{TRACES}/large.json"


@pytest.fixture
def traces(empty_s3: str, tmp_path: Path) -> Path:
    """A directory with two files and a run of two ranks, and its copy at `TRACES`."""
    directory = tmp_path / "traces"
    (directory / "run").mkdir(parents=True)
    for number, name in enumerate(("a.json", "b.json", "run/rank0.json", "run/rank1.json")):
        events = [op("a", 0, 10 + number), kernel("k", 1, 1 + number)]
        (directory / name).write_text(json.dumps({"traceEvents": events}))
    s3fs.S3FileSystem().put(f"{directory}/", f"{TRACES}/", recursive=True)
    return directory


@pytest.fixture
def large_object(empty_s3: str, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The content of the object at `LARGE`, which two requests read."""
    monkeypatch.setitem(OPTIONS, "default_block_size", io.BLOCK_BYTES)
    events = [op("a" * 4000, 10 * number, 5) for number in range(1300)]
    content = json.dumps({"traceEvents": events}).encode()
    assert io.BLOCK_BYTES < len(content) < 2 * io.BLOCK_BYTES
    s3fs.S3FileSystem().pipe_file(LARGE, content)
    return content


def fetch_through(change: Callable[[bytes, int], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace each answer for the object at `LARGE` by `change(answer, number of the request)`."""
    fetch, numbers = s3fs.core._fetch_range, count(1)

    def fetch_range(*arguments: object, **named: object) -> bytes:
        content: bytes = fetch(*arguments, **named)
        is_of_it = LARGE.endswith(f"/{arguments[2]}")
        return change(content, next(numbers)) if is_of_it else content

    monkeypatch.setattr("s3fs.core._fetch_range", fetch_range)


def answers(store: Path) -> dict[str, list[str]]:
    names = [name for name in RELATIONS if name != "sources"]  # which has the paths
    return all_rows(store, [f"(SELECT {COLUMNS.get(name, '*')} FROM {name})" for name in names])


def test_objects_become_the_same_runs_as_files(
    command: Command, traces: Path, tmp_path: Path
) -> None:
    command("add", *traces.glob("*.json"), traces / "run", store=tmp_path / "local")
    arguments = ("add", f"{TRACES}/*.json", f"{TRACES}/run/", "--jobs", "2")
    remote = command(*arguments, store=tmp_path / "remote")
    assert (remote.code, remote.err) == (0, "")
    assert answers(tmp_path / "remote") == answers(tmp_path / "local")
    again = command(*arguments, store=tmp_path / "remote")
    assert again.out.count("already in the store as") == 3
    with ingest.connect(tmp_path / "remote") as connection:
        paths = connection.sql("SELECT path FROM sources ORDER BY path").fetchall()
    assert paths[0] == (f"{TRACES}/a.json",)
    store = ingest.Store(tmp_path / "remote")
    for run_id in store.run_ids():
        store.rebuild(run_id)


@pytest.mark.parametrize("place", ["{}/store", "file://{}/store"])
def test_an_object_is_read_once(
    command: Command,
    large_object: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
) -> None:
    (tmp_path / "other.json").write_text(json.dumps({"traceEvents": [op("other", 0, 1)]}))
    fetched = tmp_path / "fetched"

    def record(content: bytes, _: int) -> bytes:
        with fetched.open("a") as file:
            file.write(f"{len(content)}\n")
        return content

    def bytes_read() -> int:
        sizes = map(int, fetched.read_text().split())
        fetched.unlink()
        return sum(sizes)

    fetch_through(record, monkeypatch)
    store = place.format(tmp_path)
    command("add", tmp_path / "other.json", "--store", store)
    for _ in "new", "known":
        assert command("add", LARGE, "--store", store).code == 0
        assert bytes_read() == len(large_object)
    with ingest.connect(store) as connection:
        stored = connection.sql("SELECT sha256 FROM sources WHERE path LIKE 's3%'").fetchall()
    assert stored == [(hashlib.sha256(large_object).hexdigest(),)]


CHANGED = "it changed while it was read; add it again"
DENIED = "cannot be read: access denied"


def fail_at(number: int, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a fetch of the object at `LARGE` fail, or change the object after it."""

    def fail(content: bytes, fetch: int) -> bytes:
        if fetch == number and problem == DENIED:
            raise PermissionError("access denied")
        if fetch == number:
            s3fs.S3FileSystem().pipe_file(LARGE, b"{}")
        return content

    fetch_through(fail, monkeypatch)


@pytest.mark.parametrize(("number", "is_size_known"), [(1, False), (2, False), (4, True)])
@pytest.mark.parametrize("problem", [CHANGED, DENIED])
def test_an_object_that_cannot_be_read_to_its_end_is_an_error(
    command: Command,
    large_object: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    is_size_known: bool,
    problem: str,
) -> None:
    """It is not taken for a truncated file, whose intact events are kept."""
    if is_size_known:  # then the first two fetches are for the checksum
        other = tmp_path / "other.json"
        other.write_bytes(large_object.replace(b"aaa", b"bbb"))
        command("add", other, store=tmp_path / "store")
    fail_at(number, problem, monkeypatch)
    result = command("add", LARGE, store=tmp_path / "store")
    assert (result.code, result.err) == (1, f"error: {LARGE}: {problem}\n")
    assert len(ingest.Store(tmp_path / "store").run_ids()) == is_size_known


def test_a_run_stays_if_its_object_cannot_be_read_again(
    command: Command, large_object: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("add", LARGE, store=tmp_path / "store")
    store = ingest.Store(tmp_path / "store")
    [run_id] = store.run_ids()
    before = all_rows(tmp_path / "store")
    fail_at(4, DENIED, monkeypatch)
    with pytest.raises(ObjectError, match=DENIED):
        store.rebuild(run_id)
    assert all_rows(tmp_path / "store") == before


def test_equal_objects_are_one_file_of_a_run(
    command: Command, traces: Path, tmp_path: Path
) -> None:
    content = (traces / "a.json").read_bytes()
    for directory, kept in (("equal", content), ("damaged", gzip.compress(content)[:-40])):
        for name in ("a.json", "b.json"):
            s3fs.S3FileSystem().pipe_file(f"{TRACES}/{directory}/{name}", kept)
    s3fs.S3FileSystem().pipe_file(f"{TRACES}/damaged/c.json", content)
    command("add", f"{TRACES}/equal", f"{TRACES}/damaged", store=tmp_path / "store")
    with ingest.connect(tmp_path / "store") as connection:
        skipped = connection.sql("SELECT path FROM sources WHERE status = 'skipped' ORDER BY ALL")
        assert skipped.fetchall() == [(f"{TRACES}/damaged/b.json",), (f"{TRACES}/equal/b.json",)]


def test_objects_become_runs_of_a_lake(
    command: Command, traces: Path, empty_s3: str, tmp_path: Path
) -> None:
    command("add", traces / "run", store=tmp_path / "local")
    result = command("add", f"{TRACES}/run", "--redact-paths", "--store", empty_s3)
    assert (result.code, result.err) == (0, "")
    with ingest.connect(empty_s3) as connection:
        paths = connection.sql("SELECT path FROM sources ORDER BY path").fetchall()
    assert paths == [("run/rank0.json",), ("run/rank1.json",)]
    assert all_rows(empty_s3, ["kernels"]) == all_rows(tmp_path / "local", ["kernels"])


def test_objects_that_are_not_there_stop_no_other(
    command: Command, traces: Path, tmp_path: Path
) -> None:
    missing = (f"{TRACES}/none*", "s3://", "gs://b/a.json", f"{TRACES}/none.json", "s3://none/a")
    result = command("add", *missing, f"{TRACES}/a.json", store=tmp_path / "store")
    assert result.code == 1
    assert result.err.splitlines() == [
        f"error: {missing[0]}: no such object",
        "error: s3://: an object is s3://BUCKET/KEY, and a whole bucket s3://BUCKET/*",
        "error: gs://b/a.json: only files and s3://BUCKET/KEY can be read",
        *(f"error: {each}: no such file or directory" for each in missing[3:]),
    ]
    assert len(ingest.Store(tmp_path / "store").run_ids()) == 1


def test_a_file_that_changes_while_it_is_read_is_an_error(
    command: Command, traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, compute = traces / "a.json", io.sha256

    def sha256(path: Path) -> str:
        found = compute(path)
        place.write_bytes((traces / "b.json").read_bytes())
        return found

    monkeypatch.setattr("ingest.inputs.run_input.sha256", sha256)
    result = command("add", place, store=tmp_path / "store")
    problem = f"error: {place}: it changed while it was read; add it again\n"
    assert (result.code, result.err) == (1, problem)
    assert ingest.Store(tmp_path / "store").run_ids() == []
