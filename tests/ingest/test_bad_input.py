"""Bad input: a clear word, nothing lost that is whole, and everything accounted for."""

import gzip
import json
import os
import random
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ingest
from benchmarks.fuzz import SAMPLES, Sample, damaged, violations
from ingest.errors import ProfileError
from ingest.formats import io


def x(name: str, ts: float = 1, **more: Any) -> dict[str, Any]:
    event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 1}
    return {**event, **more}


A, B, C = (json.dumps(x(name, i)) for i, name in enumerate("abc"))
BASE = 1_700_000_000_000_000_000
AFTER = f', "traceName": "t", "baseTimeNanoseconds": {BASE}}}'
PARTS = ["{}", "5", "null", '"x"', "[]", '{"ph": 5}', "[[{}]]", '[{"a": 1}, {"b": 2}]', '"}], {"']


Add = Callable[..., Any]


def named(source: Any) -> dict[str, int]:
    return {"complete": source.complete, **source.other, **source.dropped}


@pytest.fixture(scope="module")
def add(tmp_path_factory: pytest.TempPathFactory) -> Add:
    """What the store says of a file of this content."""
    directory = tmp_path_factory.mktemp("bad")
    store = ingest.Store(directory / "store")

    def added(content: str | bytes, name: str = "t.json") -> Any:
        path = directory / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        [source] = store.add(path).sources
        assert source.events == sum(named(source).values())
        return source

    return added


@pytest.mark.parametrize("part", PARTS)
def test_what_is_no_event_costs_no_event(part: str, add: Add) -> None:
    head = '{"schemaVersion": 1, "traceEvents": ['
    source = add(head + ", ".join([part, A, part, B, part, part, C, part]) + "]" + AFTER)
    assert (source.status, named(source)) == ("ok", {"complete": 3, "not an event": 5})
    assert source.metadata == {"schemaVersion": 1, "traceName": "t", "baseTimeNanoseconds": BASE}
    assert source.warnings == [
        f"5 pieces of traceEvents left out: not an event, the first at byte {len(head)}"
    ]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_events_in_arguments_are_arguments(place: int, add: Add) -> None:
    outer = x("outer", args={"list": [x("inner"), x("inner"), x("inner")], "z": 1})
    parts = [A, B]
    parts.insert(place, json.dumps(outer))
    source = add('{"traceEvents": [' + ", ".join(parts) + "]" + AFTER)
    assert (source.status, named(source)) == ("ok", {"complete": 3})
    assert source.metadata["traceName"] == "t"


@pytest.mark.parametrize("count", [600, 200_000])
def test_events_that_were_cut_into_many_pieces_are_whole(count: int, traces: Any) -> None:
    listed = [{"a": i} for i in range(count)]
    connection = traces.add([x("a"), x("long", args={"list": listed}), x("b"), x("c")])
    [(args,)] = connection.sql("SELECT args FROM events WHERE name = 'long'").fetchall()
    assert json.loads(args) == {"list": listed}
    assert connection.sql("SELECT status, complete FROM sources").fetchall() == [("ok", 4)]


@pytest.mark.parametrize(
    "around",
    [
        {"more": [x("no"), x("event"), x("here")], "z": 1},
        {"a": [{"b": 1}, {"c": 2}], "b": "]}", "c": [[x("n"), x("n")]]},
        {"deep": {"traceEvents": [x("no"), x("event")]}, "text": '"traceEvents": ['},
    ],
)
@pytest.mark.parametrize("before", [True, False])
def test_metadata_is_metadata(before: bool, around: dict[str, Any], add: Add) -> None:
    events = {"traceEvents": [x("a"), x("b")]}
    whole = {**around, **events} if before else {**events, **around}
    source = add(json.dumps(whole))
    assert (source.status, named(source), source.metadata) == ("ok", {"complete": 2}, around)


@pytest.mark.parametrize("stray", ["]", "]}", '], "x":', "}", "{", '"', "\0", "x"])
def test_damage_between_events_costs_none(stray: str, add: Add) -> None:
    text = f'{{"traceEvents": [{A}{stray}, {B}{stray}, {C}]{AFTER}'
    source = add(text)
    assert source.complete == 3
    assert source.metadata["baseTimeNanoseconds"] == BASE


def test_a_last_event_that_is_damaged_hides_no_metadata(add: Add) -> None:
    args = '{"Input Dims": [[1]], "Input type": ["float"]}'
    bad = f'{{"ph": "X", "name": "bad", "ts": oops, "args": {args}}}'
    source = add(f'{{"traceEvents": [{A}, {bad}]{AFTER}')
    assert (source.status, named(source)) == ("ok", {"complete": 1, "not valid JSON": 1})
    assert source.metadata == {"traceName": "t", "baseTimeNanoseconds": BASE}


@pytest.mark.parametrize("after", [AFTER, "}"])
@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize(
    ("damage", "is_kept"),
    [
        ('"args": {"x": nan, "y": -inf}', True),
        ('"args": {"x": [1, ], "y": 1,}', True),
        ('"dur": 3,', True),
        ('"args": {"x": }', False),
        ('"args": {"x": [1}', False),
        ('"args": {"x": {"y": 1}', False),
        ('"args": {"x": "abc}', False),
    ],
)
def test_an_event_is_judged_the_same_at_each_place(
    damage: str, is_kept: bool, place: int, after: str, add: Add
) -> None:
    parts = [A, B, C]
    parts.insert(place, f'{{"ph": "X", "name": "odd", "ts": 5, "dur": 1, {damage}}}')
    source = add(f'{{"traceEvents": [{", ".join(parts)}]{after}')
    counted = {"complete": 4} if is_kept else {"complete": 3, "not valid JSON": 1}
    assert (source.status, named(source)) == ("ok", counted)
    assert len(source.warnings) == (not is_kept)
    assert source.metadata.get("traceName", "t") == "t"


@pytest.mark.parametrize("size", [17, 100])
def test_an_event_beyond_all_measure_costs_only_itself(size: int, add: Add) -> None:
    long = json.dumps(x("long", args={"text": "x" * (size << 20)}))
    source = add(f'{{"traceEvents": [{A}, {long}, {B}]{AFTER}')
    assert named(source) == {"complete": 2, "longer than 16 MiB": 1}
    assert source.metadata["traceName"] == "t"


@pytest.mark.parametrize("where", ["middle", "last", "before", "after"])
def test_depth_beyond_all_measure_breaks_nothing(where: str, add: Add) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    event = json.dumps(x("deep", args=0))[:-2] + deep + "}"
    parts = {"middle": [A, event, B], "last": [A, B, event]}.get(where, [A, B, C])
    head = f'"deep": {deep}, ' if where == "before" else ""
    tail = f', "deep": {deep}' if where == "after" else ""
    text = f'{{{head}"traceEvents": [{", ".join(parts)}], "baseTimeNanoseconds": {BASE}{tail}}}'
    source = add(text)
    assert (source.status, source.complete) == ("ok", 3)
    assert source.metadata["baseTimeNanoseconds"] == BASE


@pytest.mark.parametrize("depth", [100, 300, 500, 700, 900, 1100, 5000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_metadata_of_any_depth_breaks_nothing(
    opening: str, closing: str, depth: int, add: Add
) -> None:
    deep = opening * depth + "0" + closing * depth
    around = f'"baseTimeNanoseconds": {BASE}, "deep": {deep}'
    for text in (
        f'{{{around}, "traceEvents": [{A}, {B}]}}',
        f'{{"traceEvents": [{A}, {B}], {around}}}',
    ):
        source = add(text)
        assert (source.status, source.complete) == ("ok", 2)
        assert source.metadata["baseTimeNanoseconds"] == BASE
        assert bool(source.warnings) == ("deep" not in source.metadata) == (depth > 200)


@pytest.mark.parametrize(
    "metadata",
    [
        '"baseTimeNanoseconds": "abc"',
        '"baseTimeNanoseconds": 1e300',
        '"distributedInfo": {"rank": "x", "world_size": 1e10}',
        '"distributedInfo": {"rank": -1, "world_size": 99999999999999999999}',
        '"deviceProperties": [5, null, {"name": 5}]',
        '"a\\ud800": "\\udc00"',
        '"": "", "x": NaN, "y": 1e999, "x": -Infinity',
    ],
)
def test_absurd_metadata_breaks_nothing(metadata: str, traces: Any) -> None:
    connection = traces.add(f'{{{metadata}, "traceEvents": [{A}], "after": 1, {metadata}}}')
    assert connection.sql("SELECT status, complete FROM sources").fetchall() == [("ok", 1)]


@pytest.mark.parametrize(
    "event",
    [
        json.dumps(x("half of a pair \ud800")),
        json.dumps(x("null \0 byte")),
        json.dumps(x("a", args={"correlation": 2**64})),
        json.dumps(x("a", args={"correlation": 1})).replace("1}}", "1e999}}"),
        json.dumps(x("a", args={"n": 1})).replace("1}}", f"1{'0' * 5000}}}}}"),
        json.dumps(x("a", pid=-1, tid=2**53 + 1)),
        json.dumps(x("")),
    ],
)
def test_odd_events_are_rows(event: str, traces: Any) -> None:
    for name, parts in (("middle", [A, event, B]), ("last", [A, B, event])):
        connection = traces.add("[" + ", ".join(parts) + "]", name)
        assert connection.sql("SELECT complete FROM sources").fetchall()[-1] == (3,)


def test_compressed_files_keep_all_before_the_damage_and_say_what_was_lost(
    add: Add,
) -> None:
    events = [json.dumps(x(f"{random.Random(i).random()}", i)) for i in range(3000)]
    text = '{"traceEvents": [' + ", ".join(events) + "]" + AFTER
    whole = gzip.compress(text.encode())
    cut = add(whole[: len(whole) // 2], "cut")
    assert cut.status == "truncated"
    assert 1000 < cut.complete < 2000
    lost = cut.json_bytes - len('{"traceEvents": [' + ", ".join(events[: cut.complete]))
    assert cut.warnings[0].startswith("the file ends inside traceEvents: ")
    assert int(cut.warnings[0].split(": ")[1].split()[0].replace(",", "")) in (lost, lost - 2)

    damaged_at = len(whole) // 2
    garbage = whole[:damaged_at] + b"\xff" * 100 + whole[damaged_at + 100 :]
    source = add(garbage, "damaged")
    assert (source.status, source.complete >= cut.complete) == ("truncated", True)
    assert "damaged at byte" in source.warnings[0]

    for name, content, status in (
        ("no checksum", whole[:-8], "truncated"),
        ("other checksum", whole[:-8] + b"\0" * 4 + whole[-4:], "truncated"),
        ("junk", whole + b"junk", "ok"),
        ("members", gzip.compress(text[:999].encode()) + gzip.compress(text[999:].encode()), "ok"),
    ):
        source = add(content, name)
        assert (source.status, source.complete) == (status, 3000), name
        assert source.metadata["baseTimeNanoseconds"] == BASE
        assert bool(source.warnings) == (name != "members")


def test_a_bomb_is_refused_and_the_other_files_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    events = ", ".join([A] * 1000)
    bomb = run / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(f'{{"traceEvents": [{events}'.encode() + b" " * (100 << 20)))
    (run / "good.json").write_text(f"[{A}]")
    store = ingest.Store(tmp_path / "store")
    with pytest.raises(ProfileError, match="inflates to more than 200 times its size"):
        store.add(bomb)
    assert store.run_ids() == []
    bad, good = store.add(run).sources
    assert (bad.status, good.status, good.complete) == ("failed", "ok", 1)
    assert ingest.connect(store.path).sql("SELECT count(*) FROM events").fetchall() == [(1,)]
    monkeypatch.setenv("TRACEHOUSE_MAX_INFLATION", "2000")
    [allowed] = ingest.Store(tmp_path / "other").add(bomb).sources
    assert (allowed.status, allowed.complete) == ("truncated", 1000)


def test_a_run_directory_leads_nowhere_else_and_nothing_in_it_blocks(tmp_path: Path) -> None:
    run, outside = tmp_path / "run", tmp_path / "outside.json"
    run.mkdir()
    outside.write_text(f"[{A}]")
    (run / "a.json").write_text(f"[{B}]")
    (run / "b-link-inside.json").symlink_to("a.json")
    (run / "c-link-out.json").symlink_to(outside)
    (run / "d-link-nowhere.json").symlink_to("missing.json")
    os.mkfifo(run / "e-pipe.json")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(run / "f-socket"))
    store = ingest.Store(tmp_path / "store")
    sources = store.add(run).sources
    assert [(s.path.name[0], s.status) for s in sources] == [
        *zip("abcdef", ("ok", *["skipped"] * 2, "failed", "skipped", "skipped"), strict=True)
    ]
    assert sources[1].warnings == ["the same content as a.json"]
    assert sources[2].warnings == ["a link out of the directory, not followed"]
    assert sources[4].warnings == sources[5].warnings == ["not a regular file"]
    assert store.add(run / "c-link-out.json").sources[0].complete == 1  # named by the user
    with pytest.raises(ProfileError, match="not a regular file"):
        store.add(run / "e-pipe.json")


def test_what_is_odd_about_ranks_is_kept_and_said(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for name, rank, metadata in (
        ("a", 0, {"baseTimeNanoseconds": BASE}),
        ("b", 0, {"baseTimeNanoseconds": BASE}),
        ("c", 3, {"baseTimeNanoseconds": BASE + 10**15}),
        ("d", None, {}),
    ):
        info = {"world_size": 8} | ({} if rank is None else {"rank": rank})
        trace = {**metadata, "distributedInfo": info, "traceEvents": [x(name)]}
        (run / f"{name}.json").write_text(json.dumps(trace))
    sources = ingest.Store(tmp_path / "store").add(run).sources
    other_clock = "overlaps in time with no other file of the run: its clock may be another"
    assert [(s.rank, s.complete, s.warnings) for s in sources] == [
        (0, 1, ["rank 0 has 2 files", "of 8 ranks there is no file of 2, 4, 5, 6, 7"]),
        (0, 1, ["rank 0 has 2 files"]),
        (3, 1, [other_clock]),
        (
            1,
            1,
            [
                "says no rank: taken for rank 1",
                "has no baseTimeNanoseconds, which other files of the run have",
                other_clock,
            ],
        ),
    ]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("x_rank1.json.gz", b"", "empty file"),
        ("x_rank1.json.gz", gzip.compress(B.encode())[:30], "the compressed stream ends after 30"),
        ("x_rank1.pt.trace.json", b'{"schemaVersion": 1, "dev', "not valid JSON: Unterminated"),
        ("x_rank1.json", b"<html>404", "neither a JSON object nor an array"),
        ("rank1.json", b"", "empty file"),
    ],
)
def test_a_trace_of_which_nothing_is_left_has_failed(
    name: str, content: bytes, reason: str, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "x_rank0.json").write_text(f"[{A}]")
    (run / "config.json").write_text('{"lr": 1}')
    (run / "notes.txt").write_text("")
    (run / "run.json").write_text("{}")
    (run / name).write_bytes(content)
    store = ingest.Store(tmp_path / "store")
    sources = {source.path.name: source for source in store.add(run).sources}
    assert sources[name].status == "failed"
    assert sources[name].warnings[0].startswith(f"{run / name}: {reason}")
    assert sources["config.json"].warnings == sources["notes.txt"].warnings == ["not a profile"]
    overview = ingest.connect(store.path).sql("SELECT sources, problems, events FROM run_overview")
    assert overview.fetchall() == [(1, 1, 1)]


def test_a_rank_describes_itself_beside_run_json(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    said = {"device_name": "GPU", "token": "hf_" + "a1" * 12}
    (run / "x-rank1.trace.json").write_text(f"[{A}]")
    (run / "rank1.json").write_text(json.dumps(said))
    (run / "rank2.json").write_text("[]")  # a trace, by its content
    (run / "run.json").write_text("{}")
    store = ingest.Store(tmp_path / "store")
    [of_rank, trace, *_] = store.add(run).sources
    assert (of_rank.kind, of_rank.status, of_rank.warnings) == ("run_json", "ok", [])
    assert (trace.kind, trace.rank) == ("kineto", 2)
    [(meta,)] = ingest.connect(store.path).sql("SELECT meta FROM sources LIMIT 1").fetchall()
    assert json.loads(meta) == {"device_name": "GPU", "token": "[redacted]"}


def test_the_same_content_counts_once_in_a_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "a-link.json").symlink_to("b.json")
    (run / "b.json").write_text(f"[{A}]")
    (run / "c_rank3.json").write_text(f"[{A}]")
    store = ingest.Store(tmp_path / "store")
    sources = store.add(run).sources
    assert [(source.status, source.warnings) for source in sources] == [
        ("skipped", ["the same content as b.json"]),
        ("ok", []),
        ("skipped", ["the same content as b.json"]),
    ]
    overview = ingest.connect(store.path).sql("SELECT sources, ranks, events FROM run_overview")
    assert overview.fetchall() == [(1, 1, 1)]


def test_cycles_of_one_process_are_of_one_rank(samples: Path, tmp_path: Path) -> None:
    store = ingest.Store(tmp_path / "store")
    first, second = store.add(samples / "malformed" / "partial_second_cycle").sources
    assert first.rank == second.rank == 0
    assert first.warnings == second.warnings == ["rank 0 has 2 files"]
    run = tmp_path / "run"
    run.mkdir()
    for process in (7, 8):
        for cycle in (1, 2, 3):
            name = f"host_{process}.{cycle}000000000000.pt.trace.json"
            (run / name).write_text(f"[{json.dumps(x(f'{process}', 100 * cycle))}]")
    sources = store.add(run).sources
    assert [source.rank for source in sources] == [0, 0, 0, 1, 1, 1]
    assert not any("clock" in str(source.warnings) for source in sources)
    worlds = ingest.connect(store.path).sql("SELECT world_size FROM runs ORDER BY ALL")
    assert worlds.fetchall() == [(1,), (2,)]


@pytest.mark.parametrize("said", ["abc", "-1", "0", "nan"])
def test_a_wrong_limit_of_inflation_is_named(
    said: str, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEHOUSE_MAX_INFLATION", said)
    with pytest.raises(ingest.IngestError) as refusal:
        ingest.Store(tmp_path / "store").add(samples / "traces" / "cpu_only.json.gz")
    wanted = f"TRACEHOUSE_MAX_INFLATION: must be a number from 1 on, not {said}"
    assert str(refusal.value) == wanted


@pytest.fixture
def block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever block size a test sets, it is as before afterwards."""
    monkeypatch.setattr("ingest.formats.io.BLOCK_BYTES", io.BLOCK_BYTES)


@pytest.mark.usefixtures("block_size")
@pytest.mark.parametrize("name", SAMPLES)
def test_rows_and_drops_add_up_on_every_undamaged_sample(
    name: str, samples: Path, tmp_path: Path
) -> None:
    sample = Sample(samples / name)
    assert violations(sample, sample.content, 0, 0, tmp_path, random.Random(1)) == []


@pytest.mark.usefixtures("block_size")
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=st.sampled_from(SAMPLES), seed=st.integers(0, 2**32))
def test_damage_costs_no_event_that_it_does_not_touch(
    name: str, seed: int, samples: Path, tmp_path: Path
) -> None:
    sample = Sample(samples / name)
    chance = random.Random(seed)
    content, start, end = damaged(sample.content, chance)
    assert violations(sample, content, start, end, tmp_path, chance) == []
