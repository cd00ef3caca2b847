"""A file that cannot be loaded does not affect the others of its directory."""

import errno
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ingest
from benchmarks.fuzz_directories import NODES, RUN, damaged, violations
from ingest.errors import IngestError, ProfileError, StoreError
from ingest.formats import FORMATS, Format
from tests.builders.events import op
from tests.helpers.command import Command

MARK = b"a file of a new format"
PIB = 1 << 50
# A running sum of these sizes overflows, although each of them is possible.
TIMELINE = [[number, 1, PIB, 1] for number in range(8_193)]
Write = Callable[..., Path]


@pytest.fixture
def run(tmp_path: Path) -> Write:
    """A function that writes a run directory with an intact trace, and with other files."""

    def write(**files: Any) -> Path:
        directory = tmp_path / "run"
        directory.mkdir(exist_ok=True)
        trace = {"distributedInfo": {"rank": 0}, "traceEvents": [op("a")]}
        for name, content in {"intact": trace, **files}.items():
            text = content if isinstance(content, bytes) else json.dumps(content).encode()
            (directory / f"{name}.json").write_bytes(text)
        return directory

    return write


def failing(error: Exception, has_events: bool = False) -> list[Format]:
    """Return all formats, and one whose reader raises an exception.

    Small files of a format with events are read at the same time.
    """

    def load(*_: object) -> None:
        raise error

    def recognise(head: bytes) -> bool:
        return head.startswith(MARK)

    new = Format(
        "new",
        noun="x",
        encoding="x",
        suffix="",
        recognise=recognise,
        load=load,
        has_events=has_events,
    )
    return [new, *FORMATS]


def outcome(store: ingest.Store) -> dict[str, tuple[str, str]]:
    """Return the status of each file by name, with its first warning, as stored."""
    with ingest.connect(store) as connection:
        assert connection.sql("SELECT DISTINCT name FROM ops").fetchall() == [("a",)]
        rows = connection.sql(
            "SELECT parse_filename(path, true), status, "
            "coalesce(list_filter(warnings, LAMBDA w: contains(w, path))[1], '') FROM sources"
        ).fetchall()
    return {name: (status, warning) for name, status, warning in rows}


@pytest.mark.parametrize("has_events", [False, True])
def test_an_exception_of_a_reader_is_the_reason(
    store: ingest.Store, run: Write, has_events: bool
) -> None:
    path = run(odd=MARK, odder=MARK + b".", run={"name": "mine"})
    added = store.add(path, threads=2, formats=failing(KeyError("x"), has_events))
    assert added.run_id.startswith("mine-")
    found = outcome(store)
    assert found.keys() == {"intact", "odd", "odder", "run"}
    assert found["intact"] == ("ok", "")
    for name in ("odd", "odder"):
        status, reason = found[name]
        assert status == "failed"
        assert reason.startswith(f"{path / name}.json: cannot be loaded, KeyError: 'x': ")
        assert "please report it" in reason
    assert store.add(path).is_new is False


def test_the_file_that_makes_a_later_statement_fail_is_found(command: Command, run: Write) -> None:
    path = run(sizes=TIMELINE, rank1={"traceEvents": [op("a")]})
    result = command("add", path)
    assert result.code == 1
    [error] = result.err.splitlines()
    assert error.startswith(f"error: {path}/sizes.json: cannot be loaded, OutOfRangeException: ")
    found = outcome(ingest.Store(command.store))
    assert {name: status for name, (status, _) in found.items()} == {
        "intact": "ok",
        "rank1": "ok",
        "sizes": "failed",
    }


BAD = {
    "nodes": ({"schema": "1.1.1", "pid": 1, "nodes": []}, "no nodes: not an execution trace"),
    "sizes": ([[0, 1, PIB + 1, 1]], "row 0 has an impossible size"),
}


def test_bad_values_have_a_sentence(store: ingest.Store, run: Write) -> None:
    store.add(run(**{name: content for name, (content, _) in BAD.items()}))
    found = outcome(store)
    for name, (_, sentence) in BAD.items():
        assert found[name][0] == "failed"
        assert sentence in found[name][1]
        assert "report" not in found[name][1]


def test_a_value_that_the_database_cannot_hold_has_a_sentence(
    store: ingest.Store, run: Write, samples: Path
) -> None:
    profile = json.loads((samples / "megengine" / "prof_fast.json").read_text())
    next(iter(profile["graph_exec"]["operator"].values()))["name"] = "x" * 20_000_000
    path = run(profile=profile)
    store.add(path)
    expected = f"{path / 'profile'}.json: loading it needs more memory than the database may use"
    assert outcome(store)["profile"] == ("failed", expected)


@pytest.mark.parametrize("others", [{}, {"run": RUN}])
def test_without_any_intact_profile_nothing_is_added(
    others: dict[str, Any], store: ingest.Store, run: Write
) -> None:
    path = run(sizes=TIMELINE, odd=MARK, **others)
    (path / "intact.json").unlink()
    with pytest.raises(ProfileError, match=r"(odd|sizes)\.json: cannot be loaded"):
        store.add(path, formats=failing(ZeroDivisionError()))
    assert store.run_ids() == []


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), MemoryError),
        (IngestError("a wrong setting"), IngestError),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), StoreError),
    ],
)
def test_a_fault_of_the_machine_is_not_one_of_the_file(
    error: Exception, expected: type[Exception], store: ingest.Store, run: Write
) -> None:
    with pytest.raises(expected):
        store.add(run(odd=MARK), formats=failing(error))
    assert store.run_ids() == []


@pytest.mark.parametrize("name", ["nodes.et.json", "run.json", "sizes.raw.json"])
def test_a_changed_file_does_not_affect_another(name: str, samples: Path, tmp_path: Path) -> None:
    """`benchmarks/fuzz_directories.py` tries more."""
    contents = {"nodes.et.json": NODES, "run.json": RUN, "sizes.raw.json": TIMELINE[:50]}
    run = tmp_path / "run"
    run.mkdir()
    intact = samples / "traces" / "cpu_only.json.gz"
    (run / "intact.json.gz").write_bytes(intact.read_bytes())
    (run / name).write_bytes(damaged(name, json.dumps(contents[name]).encode(), random.Random(7)))
    assert violations(tmp_path, print) == []
