"""Adding files on object storage, which are read without a copy."""

import hashlib
import json
from pathlib import Path

import pytest
import s3fs

import ingest
from ingest.formats import io
from ingest.inputs import input_path
from ingest.inputs.objects import OPTIONS
from tests.builders.events import kernel, op
from tests.helpers.command import Command
from tests.ingest.store.lake.answers import RELATIONS, all_rows
from tests.ingest.store.lake.conftest import BUCKET

COLUMNS = {"runs": "* EXCLUDE (ingested_at, path)", "run_overview": "* EXCLUDE (ingested_at)"}
TRACES = f"s3://{BUCKET}/traces"


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


@pytest.mark.parametrize("place", ["directory", "lake"])
def test_an_object_is_read_once(
    command: Command, empty_s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    fetch, fetched = s3fs.core._fetch_range, tmp_path / "fetched"
    (tmp_path / "other.json").write_text(json.dumps({"traceEvents": [op("other", 0, 1)]}))
    events = [op("a" * 4000, 10 * number, 5) for number in range(1300)]
    content = json.dumps({"traceEvents": events}).encode()
    assert len(content) > io.BLOCK_BYTES

    def recorded(*arguments: object, **named: object) -> bytes:
        found: bytes = fetch(*arguments, **named)
        if "traces/a.json" in arguments:  # not a file of the lake
            with fetched.open("a") as file:
                file.write(f"{len(found)}\n")
        return found

    def bytes_read() -> int:
        sizes = map(int, fetched.read_text().split())
        fetched.unlink()
        return sum(sizes)

    s3fs.S3FileSystem().pipe_file(f"{TRACES}/a.json", content)
    monkeypatch.setitem(OPTIONS, "default_block_size", io.BLOCK_BYTES)
    monkeypatch.setattr("s3fs.core._fetch_range", recorded)
    arguments = ("--store", tmp_path / "store" if place == "directory" else empty_s3)
    command("add", tmp_path / "other.json", *arguments)
    for _ in "new", "known":
        assert command("add", f"{TRACES}/a.json", *arguments).code == 0
        assert bytes_read() == len(content)
    with ingest.connect(arguments[1]) as connection:
        stored = connection.sql("SELECT sha256 FROM sources WHERE path LIKE 's3%'").fetchall()
    assert stored == [(hashlib.sha256(content).hexdigest(),)]


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
    missing = (f"{TRACES}/none*", "s3://", f"{TRACES}/none.json", "s3://none/a.json")
    result = command("add", *missing, f"{TRACES}/a.json", store=tmp_path / "store")
    assert result.code == 1
    assert result.err.splitlines() == [
        f"error: {missing[0]}: no such object",
        "error: s3://: an object is s3://BUCKET/KEY",
        *(f"error: {each}: no such file or directory" for each in missing[2:]),
    ]
    assert len(ingest.Store(tmp_path / "store").run_ids()) == 1


@pytest.mark.parametrize("is_remote", [False, True])
def test_a_file_that_changes_while_it_is_read_is_an_error(
    command: Command,
    traces: Path,
    tmp_path: Path,
    is_remote: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = f"{TRACES}/a.json" if is_remote else str(traces / "a.json")
    compute = io.sha256

    def sha256(path: Path) -> str:
        found = compute(path)
        with input_path(place).open("wb") as file:
            file.write((traces / "b.json").read_bytes())
        return found

    monkeypatch.setattr("ingest.inputs.run_input.sha256", sha256)
    result = command("add", place, store=tmp_path / "store")
    problem = f"error: {place}: it changed while it was read; add it again\n"
    assert (result.code, result.err) == (1, problem)
    assert ingest.Store(tmp_path / "store").run_ids() == []
