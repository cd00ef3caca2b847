"""Real and damaged traces: the events do not depend on the formatting or on damage elsewhere."""

import gzip
import json
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

import pytest

import ingest
from ingest.errors import ProfileError
from ingest.formats import io
from tests.builders.events import op
from tests.builders.relations import Run, built
from tests.helpers.samples import Samples
from tests.ingest.formats.conftest import Load, Ranks

ODD_NAME = 'a "quoted" }, {"ph": ] "traceEvents": [ \\ name'
EVENTS = [
    op(
        ODD_NAME,
        1.5,
        4.25,
        args={"list": [{"a": 1}, {"b": 2}, {"c": 3}], "traceEvents": [{"d": 4}]},
    ),
    op("short", 2, 1),
    {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}},
    op("last", 7, 1, args={"end": [{"e": 5}]}),
]
EXPECTED = [(ODD_NAME, 1500, 4250), ("short", 2000, 1000), ("last", 7000, 1000)]
AROUND = {
    "before": {"schemaVersion": 1, "deviceProperties": [{"name": "GPU"}, {"name": "GPU"}]},
    "after": {"traceName": "t", "more": [{"f": 6}, {"g": 7}, {"h": 8}]},
}


def printed(indent: int | None, separators: tuple[str, str] | None = None) -> str:
    whole = {**AROUND["before"], "traceEvents": EVENTS, **AROUND["after"]}
    return json.dumps(whole, indent=indent, separators=separators)


PRINTED = {
    "compact": printed(None, (",", ":")),
    "spaced": printed(None),
    "indented by 1": printed(1),
    "indented by 8": printed(8),
    "spaces around commas": printed(None, (" , ", " : ")),
    "bare array": json.dumps(EVENTS),
    "bare array with white space": f" \n[ {json.dumps(EVENTS)[1:-1]} ]\n\n",
    "trailing comma": json.dumps(EVENTS)[:-1] + ",]",
    "garbage after the end": printed(None) + "\n-- ",
    "cut before the closing brackets": printed(None).partition('], "traceName"')[0],
}


@pytest.mark.parametrize("block_bytes", [1, 7, 64, io.BLOCK_BYTES])
def test_events_depend_neither_on_formatting_nor_on_where_a_block_ends(
    block_bytes: int, ranks: Ranks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.formats.io.BLOCK_BYTES", block_bytes)
    sources = dict(zip(PRINTED, ranks.add(*PRINTED.values()), strict=True))
    rows = ranks.rows("SELECT rank, name, start_ns, dur_ns FROM events ORDER BY start_ns")
    assert dict(zip(PRINTED, rows, strict=True)) == dict.fromkeys(PRINTED, EXPECTED)
    for form in ("compact", "spaced", "indented by 1", "indented by 8", "spaces around commas"):
        assert sources[form].metadata == {**AROUND["before"], **AROUND["after"]}
    kept = [event.get("args") for event in EVENTS if event["ph"] == "X"]
    for args in ranks.rows("SELECT rank, args FROM events ORDER BY start_ns"):
        assert [text and json.loads(text) for (text,) in args] == kept


def test_lists_of_objects_in_arguments_do_not_end_the_array(ranks: Ranks) -> None:
    lists = [[{"ph": i, "a": {}} for i in range(count)] for count in (2, 70, 300)]
    events = [
        [op("first", 1, 1, args={"list": li, "z": 1}), op("last", 3, 1, args={"l": li})]
        for li in lists
    ]
    traces = [{"traceEvents": each, "baseTimeNanoseconds": 10**18} for each in events]
    for source in ranks.add(*traces):
        assert (source.status, source.events) == ("ok", 2)
    for rows in ranks.rows("SELECT rank, name, start_ns FROM events ORDER BY start_ns"):
        assert rows == [("first", 10**18 + 1000), ("last", 10**18 + 3000)]


def test_a_missing_comma_loses_nothing() -> None:
    a, b, c, d = (json.dumps(op(name, i, 1)) for i, name in enumerate("abcd"))
    connection = built(Run({"trace.json": f'{{"traceEvents": [{a} {b}, {c}{d}]}}'}))
    assert connection.sql("SELECT name FROM events ORDER BY start_ns").fetchall() == [
        *zip("abcd", strict=True)
    ]
    assert connection.sql("SELECT count(DISTINCT event_id) FROM events").fetchall() == [(4,)]
    assert connection.sql("SELECT events, complete_events FROM sources").fetchall() == [(4, 4)]


def test_invalid_times_are_counted(ranks: Ranks) -> None:
    numbers = ["1712195495521130028", "1e300", '"abc"', "null", "[1]", "9e15"]
    good = json.dumps(op("good", 1, 1))
    invalid = [
        (
            json.dumps(op("bad", 77, 1)).replace("77", number),
            json.dumps(op("bad", 1, 77)).replace("77", number),
        )
        for number in numbers
    ]
    for source in ranks.add(*[f"[{bad_ts}, {good}, {bad_dur}]" for bad_ts, bad_dur in invalid]):
        assert sum(source.other.values()) == 2
    assert ranks.rows("SELECT rank, name FROM events") == [[("good",)]] * len(numbers)
    kept = ranks.rows("SELECT rank, event FROM other_events ORDER BY event_id")
    for number, events, expected in zip(numbers, kept, invalid, strict=True):
        assert [json.loads(event) for (event,) in events] == [*map(json.loads, expected)], number


def test_keys_without_a_column_are_kept_in_the_arguments() -> None:
    events = [
        {**op("a", 1, 1, args={"b": 2}), "tts": 3, "id": "0x1"},
        {**op("c", 2, 1), "cname": "good"},
        {"ph": "f", "bp": "e", "id": 7, "pid": 1, "tid": 1, "ts": 3, "name": "ac2g", "cat": "ac2g"},
    ]
    connection = built(events)
    rows = connection.sql("SELECT args FROM events ORDER BY start_ns").fetchall()
    assert [json.loads(args) for (args,) in rows] == [
        {"event": {"tts": 3, "id": "0x1"}, "b": 2},
        {"event": {"cname": "good"}, "args": None},
    ]
    [(event,)] = connection.sql("SELECT event FROM other_events").fetchall()
    assert json.loads(event) == events[2]


# The time of an event in the trace, the base of the trace, and the resulting time.
TIMES = (
    # torch ≥ 2.4: relative µs with three decimals, and a base.
    ("4026146440765.572", 1782967788000000000, 1786993934440765572),
    # torch 2.2 and 2.3: µs since the epoch with three decimals, too precise for a double.
    ("1712195495521130.028", 0, 1712195495521130028),
    ("1712195495521130.999", 0, 1712195495521130999),
    # Older versions: whole µs since the epoch.
    ("1623142624633484", 0, 1623142624633484000),
    # Strings, which some programs write.
    ('"1712195495521130.028"', 0, 1712195495521130028),
    ("-12.5", 1_000_000, 987_500),
)


def test_times_keep_their_nanoseconds(ranks: Ranks) -> None:
    event = json.dumps(op("op", 0, 1.003))
    events = [event.replace('"ts": 0', f'"args": {{"ts": 5}}, "ts": {ts}') for ts, *_ in TIMES]
    ranks.add(
        *[
            f'{{"baseTimeNanoseconds": {base}, "traceEvents": [{event}]}}'
            for event, (_, base, _) in zip(events, TIMES, strict=True)
        ]
    )
    assert ranks.rows("SELECT rank, start_ns, dur_ns FROM events") == [
        [(start_ns, 1003)] for *_, start_ns in TIMES
    ]


def test_times_have_a_resolution_of_one_nanosecond(ranks: Ranks) -> None:
    around_us = [
        0,
        2**40,
        2**42,  # doubles from here are up to half a nanosecond apart
        2**52 // 1000,  # doubles from here, times 1000, are whole numbers
        2**43,  # doubles from here are up to a nanosecond apart
        9 * 10**12,
        2**44,
        1_712_195_495_521_130,
    ]
    starts = [[1000 * us + 997 * step for step in range(-1000, 1000)] for us in around_us]
    durs = [number % 997 for number in range(2000)]
    ranks.add(*[timed(each, durs) for each in starts])
    rows = ranks.rows("SELECT rank, start_ns, dur_ns FROM events ORDER BY ALL")
    assert rows == [list(zip(each, durs, strict=True)) for each in starts]


def test_long_durations_have_a_resolution_of_one_nanosecond() -> None:
    durs = [end - ns for end in (2**42, 2**49, 10**15) for ns in range(1, 20)]
    content = timed(range(len(durs)), durs)
    rows = built(Run({"trace.json": content})).sql("SELECT dur_ns FROM events ORDER BY start_ns")
    assert rows.fetchall() == [(dur,) for dur in durs]


def timed(starts: Iterable[int], durs: Iterable[int]) -> str:
    """Return a trace of operators with these starts and durations in ns."""
    text = json.dumps(op("op", "TS", "DUR"))
    written = [
        text.replace('"TS"', digits(start)).replace('"DUR"', digits(dur))
        for start, dur in zip(starts, durs, strict=True)
    ]
    return f'{{"traceEvents": [{",".join(written)}]}}'


def digits(ns: int) -> str:
    """Return nanoseconds in the form of a trace: microseconds with three decimals."""
    return f"{'-' * (ns < 0)}{abs(ns) // 1000}.{abs(ns) % 1000:03d}"


def test_nanoseconds_of_a_sample_are_exact(sampled: Samples) -> None:
    run = "mi300_resnet_ddp_rank0"
    [path] = sampled.files(run)
    trace = json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)
    base = trace["baseTimeNanoseconds"]
    expected = sorted(
        (base + int(Decimal(e["ts"]) * 1000), int(Decimal(e["dur"]) * 1000), e["name"])
        for e in trace["traceEvents"]
        if e["ph"] == "X"
    )
    with ingest.connect(sampled.store(run)) as connection:
        rows = connection.sql("SELECT start_ns, dur_ns, name FROM events ORDER BY ALL").fetchall()
    assert rows == expected


def test_a_truncated_trace_keeps_its_intact_events(load: Load) -> None:
    text = printed(None)
    cut = text[: text.index('"last"') + 3]
    [source] = load(cut)
    assert (source.status, source.events, source.complete) == ("truncated", 3, 2)
    lost = len(cut) - cut.rindex('{"ph": "X"')
    assert source.warnings == [
        f"the file ends inside traceEvents: {lost} bytes after the last complete event were lost"
    ]


def test_a_damaged_compressed_sample_keeps_events_before_the_damage(
    samples: Path, load: Load
) -> None:
    content = (samples / "traces" / "two_rank_rank0.json.gz").read_bytes()
    middle = len(content) // 2
    cut, damaged = load(content[:middle], content[:middle] + bytes(100) + content[middle + 100 :])
    assert cut.status == damaged.status == "truncated"
    assert 2000 < cut.complete < 4811
    assert damaged.complete > 1000
    assert "damaged" in damaged.message("truncated")


def test_only_an_event_that_is_not_json_is_dropped() -> None:
    broken = json.dumps(EVENTS).replace('"short"', "sh")
    connection = built(Run({"trace.json": broken}))
    assert connection.sql("SELECT name FROM events ORDER BY start_ns").fetchall() == [
        (ODD_NAME,),
        ("last",),
    ]
    [(other, dropped, warnings)] = connection.sql(
        "SELECT other_counts, dropped_counts, warnings FROM sources"
    ).fetchall()
    assert (other, dropped) == ({"phase M": 1}, {"not valid JSON": 1})
    offset = broken.index('{"ph": "X", "cat": "cpu_op", "name": sh')
    assert warnings == [
        f"1 piece of traceEvents left out: not valid JSON, the first at byte {offset:,}"
    ]


def test_unescaped_quotes_and_control_characters_are_repaired() -> None:
    broken = json.dumps(EVENTS, indent=1).replace('"short"', '"sh"o\trt \\\\" \\""')
    connection = built(Run({"trace.json": broken}))
    assert connection.sql("SELECT name FROM events WHERE start_ns = 2000").fetchall() == [
        ('sh"o rt \\" "',)
    ]
    assert connection.sql("SELECT events, dropped_counts, warnings FROM sources").fetchall() == [
        (4, {}, ["1 event repaired: unescaped quotes in the name"])
    ]


def test_events_without_name_or_time_are_counted_by_reason(load: Load) -> None:
    events = [
        op("good", 1, 1),
        {"ph": "X", "ts": 1, "dur": 1, "pid": 1, "tid": 1},
        {"ph": "X", "name": "no ts", "dur": 1, "pid": 1, "tid": 1},
        {"ph": "X", "name": "null dur", "ts": 1, "dur": None, "pid": 1, "tid": 1},
        {"ph": "X", "name": "negative", "ts": 1, "dur": -1, "pid": 1, "tid": 1},
    ]
    [source] = load(events)
    reasons = ["a name", "a valid ts", "a valid dur"]
    counted = {f"complete event without {reason}": 1 for reason in reasons}
    assert (source.events, source.complete) == (5, 1)
    assert source.other == {**counted, "complete event with a negative dur": 1}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "empty file"),
        (gzip.compress(b"", mtime=0), "empty file"),
        (
            gzip.compress(b"{}" * 99, mtime=0)[:15],
            "the compressed stream ends after 15 bytes, before any",
        ),
        (b"{}", "no traceEvents: not a profiler trace"),
        (b'{"schemaVersion": 1, "dev', "not valid JSON: Unterminated string"),
        (b"hello", "neither a JSON object nor an array: not a profiler trace"),
        (b'{"a": "' + b"a" * (17 << 20) + b'", "traceEvents": []}', "no traceEvents in its first"),
        (b'{"a": "traceEvents"}', "no traceEvents array: not a profiler trace"),
        (b"\x80\x04\x95", "the file ends after 3 bytes, inside the pickle"),
        (b"[[1, 2, 3]]", "row 0 is not a list of four integers: not a raw memory timeline"),
        (gzip.compress(b"hello", mtime=0), "not a profiler trace"),
    ],
)
def test_a_file_that_is_not_a_trace_is_refused_with_its_name(
    content: bytes, complaint: str, store: ingest.Store, tmp_path: Path
) -> None:
    path = tmp_path / "bad file.json"
    path.write_bytes(content)
    with pytest.raises(ProfileError) as refusal:
        store.add(path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert complaint in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert store.run_ids() == []
    assert not list(store.path.glob(".work-*"))


def test_malformed_files_of_torch_are_read(samples: Path, load: Load) -> None:
    names = ["misc_escape", "misc_badmeta", "misc_label_3", "misc_pyexport"]
    files = [(samples / "malformed" / f"{name}.json").read_bytes() for name in names]
    for name, source in zip(names, load(*files), strict=True):
        assert source.status == "ok", name
        assert source.complete > 0
        assert source.dropped == {}
        assert "baseTimeNanoseconds" in source.metadata


def test_numbers_that_json_does_not_have_are_null_and_texts_stay(ranks: Ranks) -> None:
    text = r"q: NaN, \"nan\",-inf]"
    odd = (
        '{"x": NaN, "y": [-Infinity, 1, nan, {"z": inf}, -nan], '
        f'"text": "{text}", "none": null, "info": "inf"}}'
    )
    event = f'{{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1, "args": {odd}}}'
    counter = '{"ph": "C", "name": "c", "ts": 1, "args": {"v": Infinity}}'
    [source] = ranks.add(f"[{event}, {counter}]")
    assert (source.complete, source.warnings) == (1, [])
    [[(args,)]] = ranks.rows("SELECT rank, args FROM events")
    assert json.loads(args, parse_constant=pytest.fail) == {
        "x": None,
        "y": [None, 1, None, {"z": None}, None],
        "text": json.loads(f'"{text}"'),
        "none": None,
        "info": "inf",
    }
    [[(recorded,)]] = ranks.rows("SELECT rank, event FROM other_events")
    assert json.loads(recorded)["args"] == {"v": None}
