"""Files in the directories of a run, which are not read but listed."""

import json
from pathlib import Path

import ingest
from ingest.inputs import read_run_input
from ingest.store.manifest import checksums
from tests.builders.events import op
from tests.helpers.command import Command


def write(path: Path, name: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"traceEvents": [op(name)]}))


def test_files_in_directories_of_a_run_are_listed_with_the_reason(
    command: Command, store: ingest.Store, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    write(run / "trace.json", "a")
    before = command("add", run)
    for name in ("more/rank10.json", "more/rank2.json", "cache/a/b.bin"):
        write(run / name, "b")
    write(run / ".hidden/c.json", "c")
    write(run / "cache/.hidden.json", "c")
    assert "already in the store" in command("add", run).out  # they are not part of its content
    write(run / "trace.json", "d")
    added = command("add", run, "--redact-paths")
    assert before.code == added.code == 0
    assert "3 files in directories of the run, not read" in added.out
    with ingest.connect(store.path) as connection:
        rows = connection.sql(
            "SELECT path, status, bytes, warning_codes FROM sources "
            "WHERE source_id > 0 ORDER BY source_id"
        ).fetchall()
        assert connection.sql("SELECT DISTINCT name FROM ops ORDER BY 1").fetchall() == [
            ("a",),
            ("d",),
        ]
    assert rows == [
        (f"run/{name}", "skipped", None, ["in_directory_below"])
        for name in ("cache/a/b.bin", "more/rank2.json", "more/rank10.json")
    ]


def test_they_are_not_part_of_a_run_s_content(store: ingest.Store, tmp_path: Path) -> None:
    run = tmp_path / "run"
    for name in ("trace.json", "below/a.json", "below/b.json"):
        write(run / name, name)
    added = store.add(run)
    (store.run_path(added.run_id) / "manifest.json").unlink()  # as in early versions
    assert not store.add(run).is_new
    assert checksums(store.run_path(added.run_id)) == read_run_input(run).checksums


def test_files_of_a_run_are_in_natural_order(
    command: Command, store: ingest.Store, tmp_path: Path
) -> None:
    for number in (10, 2, 1):
        write(tmp_path / "run" / f"trace{number}.json", f"op{number}")
    command("add", tmp_path / "run")
    with ingest.connect(store.path) as connection:
        rows = connection.sql("SELECT rank, name FROM ops ORDER BY rank").fetchall()
    assert rows == [(0, "op1"), (1, "op2"), (2, "op10")]
