"""Bad input gives clear messages. Intact events are kept, and everything is counted."""

import gzip
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import ingest
from benchmarks.fuzz import SAMPLES, Sample, damage_at_random, violations
from ingest.formats import io
from ingest.formats.kineto.chunks import LONG_PIECE
from tests.builders.events import op
from tests.ingest.formats.conftest import Load, Ranks

pytestmark = pytest.mark.slow  # hundreds of damaged files
A, B, C = (json.dumps(op(name, i)) for i, name in enumerate("abc"))
BASE = 1_700_000_000_000_000_000
AFTER = f', "traceName": "t", "baseTimeNanoseconds": {BASE}}}'
PARTS = ["{}", "5", "null", '"x"', "[]", '{"ph": 5}', "[[{}]]", '[{"a": 1}, {"b": 2}]', '"}], {"']


def counts_of(source: Any) -> dict[str, int]:
    return {"complete": source.complete, **source.other, **source.dropped}


def test_elements_that_are_not_events_do_not_affect_events(load: Load) -> None:
    head = '{"schemaVersion": 1, "traceEvents": ['
    texts = [
        head + ", ".join([part, A, part, B, part, part, C, part]) + "]" + AFTER for part in PARTS
    ]
    for part, source in zip(PARTS, load(*texts), strict=True):
        counted = {"complete": 3, "not an event": 5}
        assert (source.status, counts_of(source)) == ("ok", counted), part
        assert source.metadata == {
            "schemaVersion": 1,
            "traceName": "t",
            "baseTimeNanoseconds": BASE,
        }
        assert source.warnings == [
            f"5 pieces of traceEvents left out: not an event, the first at byte {len(head)}"
        ]


def test_events_inside_arguments_stay_arguments(load: Load) -> None:
    outer = json.dumps(op("outer", args={"list": [op("inner"), op("inner"), op("inner")], "z": 1}))
    orders = [[outer, A, B], [A, outer, B], [A, B, outer]]
    for source in load(*['{"traceEvents": [' + ", ".join(parts) + "]" + AFTER for parts in orders]):
        assert (source.status, counts_of(source)) == ("ok", {"complete": 3})
        assert source.metadata["traceName"] == "t"


def test_events_cut_into_many_pieces_are_complete(ranks: Ranks) -> None:
    """The second event is longer than a piece can be (`LONG_PIECE`)."""
    lists = [[{"a": i} for i in range(count)] for count in (600, 100_000)]
    events = [json.dumps([op("a"), op("long", args={"list": li}), op("b")]) for li in lists]
    assert len(events[1]) > LONG_PIECE
    for source in ranks.add(*events):
        assert (source.status, source.complete) == ("ok", 3)
    rows = ranks.rows("SELECT rank, args FROM events WHERE name = 'long'")
    assert [json.loads(args) for [(args,)] in rows] == [{"list": listed} for listed in lists]


METADATA: list[dict[str, Any]] = [
    {"more": [op("no"), op("event"), op("here")], "z": 1},
    {"a": [{"b": 1}, {"c": 2}], "b": "]}", "c": [[op("n"), op("n")]]},
    {"deep": {"traceEvents": [op("no"), op("event")]}, "text": '"traceEvents": ['},
]


def test_any_metadata_around_the_events_is_read(load: Load) -> None:
    events = {"traceEvents": [op("a"), op("b")]}
    documents = [
        document for metadata in METADATA for document in (metadata | events, events | metadata)
    ]
    for document, source in zip(documents, load(*map(json.dumps, documents)), strict=True):
        metadata = {key: value for key, value in document.items() if key != "traceEvents"}
        assert (source.status, counts_of(source)) == ("ok", {"complete": 2})
        assert source.metadata == metadata


def test_damage_between_events_does_not_affect_them(load: Load) -> None:
    strays = ["]", "]}", '], "x":', "}", "{", '"', "\0", "x"]
    texts = [f'{{"traceEvents": [{A}{stray}, {B}{stray}, {C}]{AFTER}' for stray in strays]
    for stray, source in zip(strays, load(*texts), strict=True):
        assert source.complete == 3, stray
        assert source.metadata["baseTimeNanoseconds"] == BASE, stray


def test_metadata_after_a_damaged_last_event_is_read(load: Load) -> None:
    args = '{"Input Dims": [[1]], "Input type": ["float"]}'
    bad = f'{{"ph": "X", "name": "bad", "ts": oops, "args": {args}}}'
    [source] = load(f'{{"traceEvents": [{A}, {bad}]{AFTER}')
    assert (source.status, counts_of(source)) == ("ok", {"complete": 1, "not valid JSON": 1})
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
def test_an_event_is_treated_the_same_at_each_position(after: str, load: Load) -> None:
    cases = [(damage, position) for damage in DAMAGE for position in (0, 1, 3)]
    texts = []
    for damage, position in cases:
        parts = [A, B, C]
        odd = f'{{"ph": "X", "cat": "cpu_op", "name": "odd", "ts": 5, "dur": 1, {damage}}}'
        parts.insert(position, odd)
        texts.append(f'{{"traceEvents": [{", ".join(parts)}]{after}')
    for case, source in zip(cases, load(*texts), strict=True):
        is_kept = DAMAGE[case[0]]
        counted = {"complete": 4} if is_kept else {"complete": 3, "not valid JSON": 1}
        assert (source.status, counts_of(source)) == ("ok", counted), case
        assert len(source.warnings) == (not is_kept), case
        assert source.metadata.get("traceName", "t") == "t", case


def test_extremely_deep_nesting_does_not_affect_other_events(load: Load) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    event = json.dumps(op("deep", args=0))[:-2] + deep + "}"
    around, base = f'"deep": {deep}', f'"baseTimeNanoseconds": {BASE}'
    sources = load(
        f'{{"traceEvents": [{A}, {event}, {B}], {base}}}',
        f'{{"traceEvents": [{A}, {B}, {event}], {base}}}',
        f'{{{around}, "traceEvents": [{A}, {B}, {C}], {base}}}',
        f'{{"traceEvents": [{A}, {B}, {C}], {base}, {around}}}',
    )
    for source in sources:
        assert (source.status, source.complete) == ("ok", 3)
        assert source.metadata["baseTimeNanoseconds"] == BASE


def test_nested_metadata_of_any_depth_is_handled(load: Load) -> None:
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
    for depth, source in zip(depths, load(*texts), strict=True):
        assert (source.status, source.complete) == ("ok", 2)
        assert source.metadata["baseTimeNanoseconds"] == BASE
        assert bool(source.warnings) == ("deep" not in source.metadata) == (depth > 200)


INVALID_METADATA = (
    '"baseTimeNanoseconds": "abc"',
    '"baseTimeNanoseconds": 1e300',
    '"distributedInfo": {"rank": "x", "world_size": 1e10}',
    '"distributedInfo": {"rank": -1, "world_size": 99999999999999999999}',
    '"deviceProperties": [5, null, {"name": 5}]',
    '"a\\ud800": "\\udc00"',
    '"": "", "x": NaN, "y": 1e999, "x": -Infinity',
)


def test_invalid_metadata_does_not_affect_events(load: Load) -> None:
    texts = [f'{{{each}, "traceEvents": [{A}], "after": 1, {each}}}' for each in INVALID_METADATA]
    for metadata, source in zip(INVALID_METADATA, load(*texts), strict=True):
        assert (source.status, source.complete) == ("ok", 1), metadata


UNUSUAL = (
    json.dumps(op("lone surrogate \ud800")),
    json.dumps(op("null \0 byte")),
    json.dumps(op("a", args={"correlation": 2**64})),
    json.dumps(op("a", args={"correlation": 1})).replace("1}}", "1e999}}"),
    json.dumps(op("a", args={"n": 1})).replace("1}}", f"1{'0' * 5000}}}}}"),
    json.dumps(op("a", pid=-1, tid=2**53 + 1)),
    json.dumps(op("")),
)


def test_unusual_events_become_rows(ranks: Ranks) -> None:
    texts = [
        "[" + ", ".join(events) + "]" for odd in UNUSUAL for events in ([A, odd, B], [A, B, odd])
    ]
    assert [source.complete for source in ranks.add(*texts)] == [3] * len(texts)
    assert ranks.rows("SELECT rank, count(*) FROM events GROUP BY ALL") == [[(3,)]] * len(texts)


def test_damaged_compressed_files_keep_all_events_before_the_damage(
    load: Load,
) -> None:
    events = [json.dumps(op(f"{random.Random(i).random()}", i)) for i in range(3000)]
    text = '{"traceEvents": [' + ", ".join(events) + "]" + AFTER
    compressed = gzip.compress(text.encode())
    damaged_at = len(compressed) // 2
    garbage = compressed[:damaged_at] + b"\xff" * 100 + compressed[damaged_at + 100 :]
    cut, damaged, *others = load(
        compressed[:damaged_at],
        garbage,
        compressed[:-8],
        compressed[:-8] + b"\0" * 4 + compressed[-4:],
        compressed + b"junk",
        gzip.compress(text[:999].encode()) + gzip.compress(text[999:].encode()),
    )
    assert cut.status == "truncated"
    assert 1000 < cut.complete < 2000
    lost = cut.json_bytes - len('{"traceEvents": [' + ", ".join(events[: cut.complete]))
    assert cut.warnings[0].startswith("the file ends inside traceEvents: ")
    assert int(cut.warnings[0].split(": ")[1].split()[0].replace(",", "")) in (lost, lost - 2)

    assert (damaged.status, damaged.complete >= cut.complete) == ("truncated", True)
    assert "damaged at byte" in damaged.warnings[0]

    kinds = {
        "no checksum": "truncated",
        "other checksum": "truncated",
        "junk": "ok",
        "members": "ok",
    }
    for (name, status), source in zip(kinds.items(), others, strict=True):
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
    expected = f"TRACEHOUSE_MAX_INFLATION: must be a number of at least 1, not {limit}"
    assert str(refusal.value) == expected


read_sample = cache(Sample)


@pytest.fixture
def block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """The block size, which is restored after the test."""
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
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(name=st.sampled_from(SAMPLES), seed=st.integers(0, 2**32))
@example(name="malformed/misc_badmeta.json", seed=13830)  # no event remains
def test_damage_does_not_affect_other_events(
    name: str, seed: int, samples: Path, tmp_path: Path
) -> None:
    sample = read_sample(samples / name)
    rng = random.Random(seed)
    content, start, end = damage_at_random(sample.content, rng)
    assert violations(sample, content, start, end, tmp_path, rng) == []


@pytest.mark.parametrize(
    ("last", "after", "rank", "status"),
    [
        # Damaged: the end of the array is after the event.
        (
            '{"ph":"X","name":"n","ts":9,"dur":5 "q" 7,"args":{"x":[{"a":1}],"z":1}}',
            '],"distributedInfo":{"rank":3}}',
            3,
            "ok",
        ),
        # Truncated: the array has no end.
        (
            '{"ph":"X","name":"n","ts":9,"dur":5,"args":{"x":[{"a":1}],'
            '"distributedInfo":{"rank":7},"z":"kk',
            "",
            0,
            "truncated",
        ),
        # Truncated right after what looks like the end of the array.
        ('{"ph":"X","name":"n","ts":9,"dur":5,"args":{"x":[{"a":1}]', "", 0, "truncated"),
    ],
)
def test_a_list_inside_a_damaged_last_event_does_not_end_the_array(
    load: Load, last: str, after: str, rank: int, status: str
) -> None:
    before = "" if after else '"distributedInfo":{"rank":0},'
    events = ",".join(json.dumps(op("a", 10 * number, 5)) for number in range(3))
    [source] = load("{" + before + '"traceEvents":[' + events + "," + last + after)
    assert source.metadata["distributedInfo"]["rank"] == rank
    assert (source.complete, source.status) == (3, status)
