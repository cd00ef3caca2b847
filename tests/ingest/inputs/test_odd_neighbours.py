"""An odd file in a run directory does not affect the others: the rest of the run is added."""

import gzip
import json
import os
from pathlib import Path

import pytest

import ingest
from ingest.formats import Source
from ingest.inputs import read_run_input
from tests.builders.compile_logs import event
from tests.builders.events import op
from tests.builders.relations import Relations, built
from tests.helpers.command import Command
from tests.ingest.inputs.conftest import ReadRun

EVENT = json.dumps(op("a"))
TRACE = f'{{"traceEvents": [{EVENT}]}}'
LOG = event("0/0", "B", "dynamo", 1e15) + event("0/0", "E", "dynamo", 1e15 + 5)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run directory with one intact trace that does not record its rank."""
    directory = tmp_path / "run"
    directory.mkdir()
    (directory / "z.json").write_text(TRACE)
    return directory


def read(run: Path) -> tuple[dict[str, Source], Relations]:
    """Return the files of a run by name, and its relations. Checks that its trace is complete."""
    found = built(run)
    sources = {source.path.name: source for source in found.sources}
    assert (sources["z.json"].status, sources["z.json"].complete) == ("ok", 1)
    return sources, found


def test_text_that_quotes_a_trace_is_not_a_trace(run: Path) -> None:
    quotes = {
        "NOTES.md": f"Ours is cut:\n\n    {TRACE}",
        "links.md": f"[1](here): {TRACE}",
        "wiki.md": "[[Profiles]] hold `traceEvents`",
        "losses.json": '[{"loss": 1}]',
        "matrix.json": "[[0.5, 2], [4, 5]]",
        "glog.log": "I0101 00:00:00.000000 7 server.cc:1] listening\n",
        "log.md": f"A record is\n\n{LOG.splitlines()[0]}\n\nand not more.\n",
    }
    for name, content in quotes.items():
        (run / name).write_text(content)
        (run / f"{name}.gz").write_bytes(gzip.compress(content.encode()))
    sources, found = read(run)
    del sources["z.json"]
    assert {source.rank for source in sources.values()} == {None}
    assert {(s.status, *s.warnings) for s in sources.values()} == {("skipped", "not a profile")}
    assert found.sql("SELECT DISTINCT rank FROM ops").fetchall() == [(0,)]


def test_a_single_text_that_quotes_a_trace_is_refused(command: Command, tmp_path: Path) -> None:
    notes = tmp_path / "NOTES.md"
    notes.write_text(f"Ours is cut: {TRACE}")
    result = command("add", notes)
    assert result.code == 1
    assert result.err == (
        f"error: {notes}: neither a JSON object nor an array: not a profiler trace\n"
    )


def test_traces_begin_as_json(read_run: ReadRun, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for number, start in enumerate(("", "\ufeff", " \n\t")):
        for kind, text in enumerate((TRACE, TRACE[:-2], f"[{EVENT}]", f"[{EVENT},")):
            name = f"{number}{kind}"
            path = run / f"{name}.json"
            path.write_text(start + text.replace('"a"', f'"{name}"'), encoding="utf-8")
    sources = read_run(run)
    assert {(source.kind, source.events) for source in sources} == {("kineto", 1)}
    assert [source.status for source in sources] == 3 * ["ok", "truncated", "ok", "truncated"]


NOTHING = {
    "cut.json": f'{{"schemaVersion": 1, "traceEvents": [{EVENT[:30]}',
    "broken.json": '{"traceEvents": [{"ph": "X", "name": oops}]}',
    "open.json": '{"traceEvents":[',
}


def test_unreadable_traces_fail(command: Command, run: Path) -> None:
    for name, content in NOTHING.items():
        (run / name).write_text(content)
    alone = command("add", *(run / name for name in NOTHING))
    assert alone.code == 1
    errors = alone.err.splitlines()
    for name, error in zip(NOTHING, errors, strict=True):
        assert error.startswith(f"error: {run / name}: no event can be read: ")
    assert ingest.Store(command.store).run_ids() == []
    result = command("add", run)
    assert result.code == 1  # the same as for any failed file
    assert sorted(result.err.splitlines()) == sorted(errors)
    connection = ingest.connect(command.store)
    assert connection.sql("SELECT name FROM ops").fetchall() == [("a",)]
    query = "SELECT status, warning_codes[1] FROM sources ORDER BY path"
    failed = ("failed", "unreadable")
    assert connection.sql(query).fetchall() == [*3 * [failed], ("ok", "rank_assumed")]


def test_an_intact_trace_may_be_empty(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text('{"traceEvents": []}')
    result = command("add", path)
    assert (result.code, result.err) == (0, "")


def test_dangling_links_do_not_affect_other_files(command: Command, run: Path) -> None:
    (run / "loop.json").symlink_to("loop.json")
    (run / "there").symlink_to("back")
    (run / "back").symlink_to("there")
    (run / "self").symlink_to(".")
    result = command("add", run, "--redact-paths")
    assert result.code == 1
    assert sorted(result.err.splitlines()) == [
        f"error: {Path('run', name)}: Too many levels of symbolic links"
        for name in ("back", "loop.json", "there")
    ]
    connection = ingest.connect(command.store)
    assert connection.sql("SELECT path, status FROM sources ORDER BY path").fetchall() == [
        ("run/back", "failed"),
        ("run/loop.json", "failed"),
        ("run/self", "skipped"),
        ("run/there", "failed"),
        ("run/z.json", "ok"),
    ]


def test_a_name_that_is_not_utf_8_is_stored_and_shown(command: Command, run: Path) -> None:
    trace = Path(os.fsdecode(os.fsencode(run) + b"/b\xff_rank1.json"))
    trace.write_text(json.dumps([op("b")]))
    trace.with_suffix(".txt").write_text("notes")
    result = command("add", run)
    assert (result.code, result.err) == (0, "")
    assert "  b\\xff_rank1.json: rank 1, 1 event" in result.out
    connection = ingest.connect(command.store)
    paths = [path for (path,) in connection.sql("SELECT path FROM sources ORDER BY 1").fetchall()]
    assert paths == [
        f"{run}/b\\xff_rank1.json",
        f"{run}/b\\xff_rank1.txt",
        str(run / "z.json"),
    ]
    assert "b\\xff_rank1.json" in command("show", "run").out

    summary = json.loads(command("add", trace, "--json").out)
    assert summary["path"] == summary["sources"][0]["path"] == f"{run}/b\\xff_rank1.json"
    assert "b\\xff_rank1.txt: neither" in command("add", trace.with_suffix(".txt")).err


WRONG = {
    "name": (5, "text"),
    "model": (["m"], "text"),
    "mode": ({}, "text"),
    "framework": (1, "text"),
    "framework_version": (2.13, "text"),
    "device_name": (False, "text"),
    "started_at": ("yesterday", "a time in ISO 8601"),
    "world_size": ("8", "a whole number from 0 to 1,000,000"),
    "tags": (["x"], "an object"),
    "batch": ([1], "text, a number or a boolean"),
    "width": (float("nan"), "text, a number or a boolean"),
    "rank": (float("nan"), "a whole number from 0 to 1,000,000"),
    "compilation": ([], "an object"),
}


RIGHT = {
    "name": "mine", "model": "m", "mode": "eager", "framework": "jax", "framework_version": "1",
    "device_name": "GPU", "started_at": "2026-01-02T03:04:05Z", "world_size": 8,
    "tags": {"k": "v"}, "batch": 1, "width": 64, "rank": 0, "compilation": {},
}  # fmt: skip
DEFAULTS = {
    "name": "run", "model": None, "mode": None, "framework": "pytorch", "framework_version": None,
    "device_name": None, "world_size": 1, "tags": {},
}  # fmt: skip


@pytest.mark.parametrize("odd", [0, 1])
def test_only_a_value_of_the_wrong_type_is_ignored(odd: int, run: Path) -> None:
    bad = {key: value for key, (value, _) in list(WRONG.items())[odd::2]}
    (run / "run.json").write_text(json.dumps(RIGHT | bad))
    sources, found = read(run)
    source = sources["run.json"]
    assert (source.status, {*source.warning_codes}) == ("ok", {"value_ignored"})
    assert source.warnings == [f"{key}: not {WRONG[key][1]}, ignored" for key in bad]
    columns = ", ".join(DEFAULTS)
    runs = found.sql(f"SELECT {columns}, started_at, run_json FROM runs")
    [(*values, started, run_json)] = runs.fetchall()
    right = {key: RIGHT[key] for key in DEFAULTS if key not in bad}
    assert dict(zip(DEFAULTS, values, strict=True)) == DEFAULTS | right
    assert (started is None) == ("started_at" in bad)
    assert ("64" in run_json) == ("width" not in bad)


@pytest.mark.parametrize("number", ["-1", "1e999", "9" * 5_000, "true"])
def test_only_an_invalid_world_size_is_ignored(number: str, run: Path) -> None:
    (run / "run.json").write_text(f'{{"name": "mine", "world_size": {number}}}')
    found = read_run_input(run)
    assert [source.warning_codes for source in found.sources] == [["value_ignored"], []]
    assert [description for _, description in found.descriptions] == [{"name": "mine"}]


def test_invalid_numbers_of_compilations_are_ignored(run: Path) -> None:
    compilations = [
        7,
        {"compile_id": "0/0", "seconds": "long", "graph_breaks": float("inf"), "line": 3},
        {"compile_id": "0/1", "seconds": 2, "started_at_ns": float("nan"), "line": []},
        {"compile_id": "0/2", "seconds": [2], "graph_breaks": 10**40},
    ]
    description = {"rank": 1, "compilation": {"compilations": compilations}}
    (run / "run.json").write_text("{}")
    (run / "rank1.json").write_text(json.dumps(description))
    (run / "rank2.json").write_text('{"rank": "2", "compilation": {"compilations": 5}}')
    sources, found = read(run)
    wrong = "of compilation.compilations[]"
    assert sources["rank1.json"].warnings == [
        f"2 values {wrong}.seconds: not a number, ignored",
        f"1 value {wrong}.graph_breaks: not a number, ignored",
        f"1 value {wrong}.started_at_ns: not a number, ignored",
        f"1 value {wrong}.line: not a number, ignored",
    ]
    assert sources["rank2.json"].warnings == [
        "rank: not a whole number from 0 to 1,000,000, ignored",
        "compilation.compilations: not a list, ignored",
    ]
    rows = found.sql(
        "SELECT rank, compile_id, dur_ns, graph_breaks FROM compilations ORDER BY compile_id"
    )
    assert rows.fetchall() == [
        (1, "0/0", None, None),
        (1, "0/1", 2_000_000_000, None),
        (1, "0/2", None, None),
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[]", "not a JSON object"),
        (b'{"name": ', "not valid JSON"),
        (b'{"name": "\xff"}', "not valid JSON"),
        (b'{"a": ' + b"[" * 2_000 + b"]" * 2_000 + b"}", "not valid JSON"),
        (b'{"a": "' + b"x" * (1 << 20) + b'"}', "longer than"),
    ],
)
def test_an_unreadable_run_json_does_not_affect_the_run(
    content: bytes, reason: str, run: Path
) -> None:
    (run / "run.json").write_bytes(content)
    description, trace = read_run_input(run).sources
    assert (description.kind, description.status) == ("run_json", "failed")
    assert description.warnings[0].startswith(f"{run / 'run.json'}: {reason}")
    assert (trace.kind, trace.status, trace.warnings) == ("kineto", "ok", [])


@pytest.mark.parametrize("content", [TRACE, LOG])
def test_a_compressed_copy_is_skipped(content: str, read_run: ReadRun, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "a.log").write_text(content)
    (run / "a.log.gz").write_bytes(gzip.compress(content.encode()))
    (run / "b.log.gz").write_bytes(gzip.compress(content.encode(), 1, mtime=1))
    (run / "c.log.gz").write_bytes(gzip.compress((content + " ").encode())[:-9])  # damaged
    sources = read_run(run)
    assert [source.status for source in sources] == ["ok", "skipped", "skipped", "truncated"]
    for copy in sources[1:3]:
        assert (copy.warnings, copy.warning_codes) == (
            ["the same content as a.log"],
            ["same_content"],
        )
    assert [source.rank is None for source in sources] == [False, True, True, False]


def packet(size: int) -> bytes:
    """Return a packet of Perfetto's protobuf with a content of `size` bytes."""
    return (
        b"\n"
        + (bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7]))
        + bytes(size)
    )


@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_trace_of_perfetto_fails_with_a_remedy(
    command: Command, run: Path, is_compressed: bool
) -> None:
    content = packet(20) + packet(300)
    path = run / "rank0.pftrace"
    path.write_bytes(gzip.compress(content) if is_compressed else content)
    for arguments in ([path], [run]):
        result = command("add", *arguments)
        assert result.code == 1
        assert f"{path}: a Perfetto trace" in result.err
        assert "export_chrome_trace" in result.err
    (run / "blank.txt").write_text("\n\n\nnotes\n")
    path.unlink()
    assert command("add", run).code == 0
