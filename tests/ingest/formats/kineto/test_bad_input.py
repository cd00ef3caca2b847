"""Bad input: clear messages, intact events are kept, and everything is counted."""

import gzip
import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import ingest
from benchmarks.fuzz import SAMPLES, Sample, damaged, violations
from ingest.formats import io
from tests.builders.events import op

pytestmark = pytest.mark.slow  # hundreds of damaged files
A, B, C = (json.dumps(op(name, i)) for i, name in enumerate("abc"))
BASE = 1_700_000_000_000_000_000
AFTER = f', "traceName": "t", "baseTimeNanoseconds": {BASE}}}'
PARTS = ["{}", "5", "null", '"x"', "[]", '{"ph": 5}', "[[{}]]", '[{"a": 1}, {"b": 2}]', '"}], {"']


Read = Callable[..., list[Any]]


def named(source: Any) -> dict[str, int]:
    return {"complete": source.complete, **source.other, **source.dropped}


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    """A function that adds contents as the ranks of a run and returns their sources."""
    directory = tmp_path_factory.mktemp("bad")
    store = ingest.Store(directory / "store")

    def added(*contents: str | bytes) -> list[Any]:
        run = directory / f"run{len(store.run_ids())}"
        run.mkdir()
        for rank, content in enumerate(contents):
            path = run / f"t_rank{rank}.json"
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        sources = sorted(store.add(run).sources, key=lambda source: source.rank)
        assert [source.rank for source in sources] == list(range(len(contents)))
        for source in sources:
            assert source.events == sum(named(source).values())
        return sources

    return added


def test_elements_that_are_not_events_do_not_affect_events(read: Read) -> None:
    head = '{"schemaVersion": 1, "traceEvents": ['
    texts = [
        head + ", ".join([part, A, part, B, part, part, C, part]) + "]" + AFTER for part in PARTS
    ]
    for part, source in zip(PARTS, read(*texts), strict=True):
        counted = {"complete": 3, "not an event": 5}
        assert (source.status, named(source)) == ("ok", counted), part
        assert source.metadata == {
            "schemaVersion": 1,
            "traceName": "t",
            "baseTimeNanoseconds": BASE,
        }
        assert source.warnings == [
            f"5 pieces of traceEvents left out: not an event, the first at byte {len(head)}"
        ]


def test_events_inside_arguments_stay_arguments(read: Read) -> None:
    outer = json.dumps(op("outer", args={"list": [op("inner"), op("inner"), op("inner")], "z": 1}))
    orders = [[outer, A, B], [A, outer, B], [A, B, outer]]
    for source in read(*['{"traceEvents": [' + ", ".join(parts) + "]" + AFTER for parts in orders]):
        assert (source.status, named(source)) == ("ok", {"complete": 3})
        assert source.metadata["traceName"] == "t"


@pytest.mark.parametrize("count", [600, 200_000])
def test_events_cut_into_many_pieces_are_complete(count: int, traces: Any) -> None:
    listed = [{"a": i} for i in range(count)]
    connection = traces.add([op("a"), op("long", args={"list": listed}), op("b"), op("c")])
    [(args,)] = connection.sql("SELECT args FROM events WHERE name = 'long'").fetchall()
    assert json.loads(args) == {"list": listed}
    assert connection.sql("SELECT status, complete_events FROM sources").fetchall() == [("ok", 4)]


AROUND: list[dict[str, Any]] = [
    {"more": [op("no"), op("event"), op("here")], "z": 1},
    {"a": [{"b": 1}, {"c": 2}], "b": "]}", "c": [[op("n"), op("n")]]},
    {"deep": {"traceEvents": [op("no"), op("event")]}, "text": '"traceEvents": ['},
]


def test_any_metadata_around_the_events_is_read(read: Read) -> None:
    events = {"traceEvents": [op("a"), op("b")]}
    wholes = [whole for around in AROUND for whole in (around | events, events | around)]
    for whole, source in zip(wholes, read(*map(json.dumps, wholes)), strict=True):
        around = {key: value for key, value in whole.items() if key != "traceEvents"}
        assert (source.status, named(source), source.metadata) == ("ok", {"complete": 2}, around)


def test_damage_between_events_does_not_affect_them(read: Read) -> None:
    strays = ["]", "]}", '], "x":', "}", "{", '"', "\0", "x"]
    texts = [f'{{"traceEvents": [{A}{stray}, {B}{stray}, {C}]{AFTER}' for stray in strays]
    for stray, source in zip(strays, read(*texts), strict=True):
        assert source.complete == 3, stray
        assert source.metadata["baseTimeNanoseconds"] == BASE, stray


def test_metadata_after_a_damaged_last_event_is_read(read: Read) -> None:
    args = '{"Input Dims": [[1]], "Input type": ["float"]}'
    bad = f'{{"ph": "X", "name": "bad", "ts": oops, "args": {args}}}'
    [source] = read(f'{{"traceEvents": [{A}, {bad}]{AFTER}')
    assert (source.status, named(source)) == ("ok", {"complete": 1, "not valid JSON": 1})
    assert source.metadata == {"traceName": "t", "baseTimeNanoseconds": BASE}


DAMAGE = {  # a damaged part of an event, and whether the event is kept
    '"args": {"x": nan, "y": -inf}': True,
    '"args": {"x": [1, ], "y": 1,}': True,
    '"dur": 3,': True,
    '"args": {"x": }': False,
    '"args": {"x": [1}': False,
    '"args": {"x": {"y": 1}': False,
    '"args": {"x": "abc}': False,
}


@pytest.mark.parametrize("after", [AFTER, "}"])
def test_an_event_is_treated_the_same_at_each_position(after: str, read: Read) -> None:
    cases = [(damage, place) for damage in DAMAGE for place in (0, 1, 3)]
    texts = []
    for damage, place in cases:
        parts = [A, B, C]
        parts.insert(place, f'{{"ph": "X", "name": "odd", "ts": 5, "dur": 1, {damage}}}')
        texts.append(f'{{"traceEvents": [{", ".join(parts)}]{after}')
    for case, source in zip(cases, read(*texts), strict=True):
        is_kept = DAMAGE[case[0]]
        counted = {"complete": 4} if is_kept else {"complete": 3, "not valid JSON": 1}
        assert (source.status, named(source)) == ("ok", counted), case
        assert len(source.warnings) == (not is_kept), case
        assert source.metadata.get("traceName", "t") == "t", case


def test_extremely_deep_nesting_does_not_affect_other_events(read: Read) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    event = json.dumps(op("deep", args=0))[:-2] + deep + "}"
    around, base = f'"deep": {deep}', f'"baseTimeNanoseconds": {BASE}'
    sources = read(
        f'{{"traceEvents": [{A}, {event}, {B}], {base}}}',
        f'{{"traceEvents": [{A}, {B}, {event}], {base}}}',
        f'{{{around}, "traceEvents": [{A}, {B}, {C}], {base}}}',
        f'{{"traceEvents": [{A}, {B}, {C}], {base}, {around}}}',
    )
    for source in sources:
        assert (source.status, source.complete) == ("ok", 3)
        assert source.metadata["baseTimeNanoseconds"] == BASE


def test_nested_metadata_of_any_depth_is_handled(read: Read) -> None:
    cases = [
        (depth, opening, closing)
        for depth in (100, 300, 500, 700, 900, 1100, 5000)
        for opening, closing in (("[", "]"), ('{"a":', "}"))
    ]
    texts = []
    for depth, opening, closing in cases:
        deep = opening * depth + "0" + closing * depth
        around = f'"baseTimeNanoseconds": {BASE}, "deep": {deep}'
        texts.append(f'{{{around}, "traceEvents": [{A}, {B}]}}')
        texts.append(f'{{"traceEvents": [{A}, {B}], {around}}}')
    depths = [depth for depth, *_ in cases for _ in range(2)]
    for depth, source in zip(depths, read(*texts), strict=True):
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
def test_absurd_metadata_does_not_affect_events(metadata: str, traces: Any) -> None:
    connection = traces.add(f'{{{metadata}, "traceEvents": [{A}], "after": 1, {metadata}}}')
    assert connection.sql("SELECT status, complete_events FROM sources").fetchall() == [("ok", 1)]


@pytest.mark.parametrize(
    "event",
    [
        json.dumps(op("half of a pair \ud800")),
        json.dumps(op("null \0 byte")),
        json.dumps(op("a", args={"correlation": 2**64})),
        json.dumps(op("a", args={"correlation": 1})).replace("1}}", "1e999}}"),
        json.dumps(op("a", args={"n": 1})).replace("1}}", f"1{'0' * 5000}}}}}"),
        json.dumps(op("a", pid=-1, tid=2**53 + 1)),
        json.dumps(op("")),
    ],
)
def test_odd_events_are_rows(event: str, traces: Any) -> None:
    for name, parts in (("middle", [A, event, B]), ("last", [A, B, event])):
        connection = traces.add("[" + ", ".join(parts) + "]", name)
        assert connection.sql("SELECT complete_events FROM sources").fetchall()[-1] == (3,)


def test_damaged_compressed_files_keep_all_events_before_the_damage(
    read: Read,
) -> None:
    events = [json.dumps(op(f"{random.Random(i).random()}", i)) for i in range(3000)]
    text = '{"traceEvents": [' + ", ".join(events) + "]" + AFTER
    whole = gzip.compress(text.encode())
    [cut] = read(whole[: len(whole) // 2])
    assert cut.status == "truncated"
    assert 1000 < cut.complete < 2000
    lost = cut.json_bytes - len('{"traceEvents": [' + ", ".join(events[: cut.complete]))
    assert cut.warnings[0].startswith("the file ends inside traceEvents: ")
    assert int(cut.warnings[0].split(": ")[1].split()[0].replace(",", "")) in (lost, lost - 2)

    damaged_at = len(whole) // 2
    garbage = whole[:damaged_at] + b"\xff" * 100 + whole[damaged_at + 100 :]
    [source] = read(garbage)
    assert (source.status, source.complete >= cut.complete) == ("truncated", True)
    assert "damaged at byte" in source.warnings[0]

    for name, content, status in (
        ("no checksum", whole[:-8], "truncated"),
        ("other checksum", whole[:-8] + b"\0" * 4 + whole[-4:], "truncated"),
        ("junk", whole + b"junk", "ok"),
        ("members", gzip.compress(text[:999].encode()) + gzip.compress(text[999:].encode()), "ok"),
    ):
        [source] = read(content)
        assert (source.status, source.complete) == (status, 3000), name
        assert source.metadata["baseTimeNanoseconds"] == BASE
        assert bool(source.warnings) == (name != "members")


@pytest.mark.parametrize("limit", ["abc", "-1", "0", "nan"])
def test_an_invalid_inflation_limit_is_an_error(
    limit: str, samples: Path, store: ingest.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEHOUSE_MAX_INFLATION", limit)
    with pytest.raises(ingest.IngestError) as refusal:
        store.add(samples / "traces" / "cpu_only.json.gz")
    wanted = f"TRACEHOUSE_MAX_INFLATION: must be a number of at least 1, not {limit}"
    assert str(refusal.value) == wanted


read_sample = cache(Sample)


@pytest.fixture
def block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the block size after a test."""
    monkeypatch.setattr("ingest.formats.io.BLOCK_BYTES", io.BLOCK_BYTES)


@pytest.mark.usefixtures("block_size")
@pytest.mark.parametrize("name", SAMPLES)
def test_rows_and_drops_add_up_on_every_undamaged_sample(
    name: str, samples: Path, tmp_path: Path
) -> None:
    sample = read_sample(samples / name)
    assert violations(sample, sample.content, 0, 0, tmp_path, random.Random(1)) == []


@pytest.mark.usefixtures("block_size")
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=st.sampled_from(SAMPLES), seed=st.integers(0, 2**32))
@example(name="malformed/misc_badmeta.json", seed=13830)  # no event remains
def test_damage_does_not_affect_other_events(
    name: str, seed: int, samples: Path, tmp_path: Path
) -> None:
    sample = read_sample(samples / name)
    chance = random.Random(seed)
    content, start, end = damaged(sample.content, chance)
    assert violations(sample, content, start, end, tmp_path, chance) == []
