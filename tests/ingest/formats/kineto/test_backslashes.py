"""Traces of torch up to 2.0 on Windows, whose paths have backslashes that are not escaped."""

import json
from typing import Any

import pytest

from tests.builders.events import frame, op
from tests.ingest.formats.conftest import Ranks

NAMES = (
    r"C:\users\bob\train.py(3): <module>",  # \u and \b
    r"torch\nn\modules\module.py(1501): _call_impl",
    r"torch\nn\functional.py(1455): relu",  # valid escapes only
    r"a\u0041\x.py(5): f",
)
REPAIRED = "unescaped backslashes"


def text_of(events: list[dict[str, Any]], **metadata: Any) -> str:
    """Return a trace as torch wrote it: no backslash is escaped."""
    return json.dumps({**metadata, "traceEvents": events}).replace(r"\\", "\\")


def test_all_backslashes_of_a_file_are_literal(ranks: Ranks) -> None:
    frames = [frame(name, 10 * number, 5) for number, name in enumerate(NAMES)]
    shown = op("aten::relu", 90, args={"Call stack": r"torch\nn\x.py(1): f"})
    texts = [
        text_of([*frames, shown]),
        text_of([shown, *frames[::-1]], traceName=r"C:\Users\new.json"),
        text_of([*frames[2:3], shown]),  # no escape is invalid
        text_of([shown, *frames]) + "   ",
    ]
    sources = ranks.add(*texts)
    kept = [[*NAMES], [*NAMES], [NAMES[2]], [*NAMES]]
    for source, names in zip(sources, kept, strict=True):
        assert (source.status, source.complete, source.dropped) == ("ok", len(names) + 1, {})
        assert source.warnings == [f"{len(names) + 1} events repaired: {REPAIRED}"]
    found = ranks.rows("SELECT rank, name FROM events WHERE category = 'python_function'")
    assert [sorted(name for (name,) in rows) for rows in found] == [sorted(n) for n in kept]
    stacks = ranks.rows("SELECT rank, args ->> 'Call stack' FROM events WHERE category = 'cpu_op'")
    assert stacks == [[(r"torch\nn\x.py(1): f",)]] * len(texts)
    assert sources[1].metadata["traceName"] == r"C:\Users\new.json"


def test_quotes_are_still_escaped(ranks: Ranks) -> None:
    text = text_of([frame(NAMES[1], 1, 5), op('say "hi"', 10)])
    [source] = ranks.add(text)
    assert source.warnings == [f"1 event repaired: {REPAIRED}"]
    assert ranks.rows("SELECT rank, name FROM events WHERE category = 'cpu_op'") == [
        [('say "hi"',)]
    ]


@pytest.mark.parametrize("end", [30, 90, 150])
def test_a_truncated_file_keeps_its_events(end: int, ranks: Ranks) -> None:
    events = [frame(name, 10 * number, 5) for number, name in enumerate(NAMES)]
    [source] = ranks.add(text_of(events)[:-end])
    assert source.status == "truncated"
    [rows] = ranks.rows("SELECT rank, name FROM events ORDER BY start_ns")
    assert [name for (name,) in rows] == list(NAMES[: source.complete])
    assert source.complete >= len(NAMES) - 2


def test_escaped_backslashes_are_read_as_before(ranks: Ranks) -> None:
    """They may follow the events, in metadata, which is part of the last piece."""
    label = "fit\nat train.py(12): step"
    events = [*(frame(name, 10 * n, 5) for n, name in enumerate(NAMES)), op(label, 90)]
    path = r"C:\data\t.json"
    quoted = r'], "note": "C:\data"}'
    texts = [
        json.dumps({"traceEvents": events, "traceName": path}),
        json.dumps({"traceName": path, "traceEvents": events}),
        json.dumps(events),
        json.dumps({"traceEvents": events}).removesuffix("]}") + quoted,  # only this is unescaped
    ]
    for source in ranks.add(*texts):
        assert (source.complete, source.dropped) == (5, {})
        assert not any(REPAIRED in warning for warning in source.warnings)
    for rows in ranks.rows("SELECT rank, name FROM events ORDER BY start_ns"):
        assert [name for (name,) in rows] == [*NAMES, label]


def test_metadata_of_users_is_escaped(ranks: Ranks) -> None:
    text = (
        text_of([frame(NAMES[1], 1, 5)]).removesuffix("}") + ', "mine": "C:\\\\x", "a": "\\u00e9"}'
    )
    [source] = ranks.add(text)
    assert source.warnings == [f"1 event repaired: {REPAIRED}"]
    assert source.metadata == {"mine": r"C:\x", "a": "é"}


NUMBERS = ("N/A", "n/a", "-nan(ind)", "nan(0x1)", "1.#INF", "-1.#IND", "None", "undefined")


def test_invalid_numbers_become_null(ranks: Ranks) -> None:
    texts = [
        '[{"ph": "X", "cat": "cpu_op", "name": "N/A, x", "ts": 5, "dur": 1, '
        f'"args": {{"a": {number}, "b": 2}}}}, '
        f"{json.dumps(op('last'))}]"
        for number in NUMBERS
    ]
    for source, number in zip(ranks.add(*texts), NUMBERS, strict=True):
        assert (source.complete, source.dropped) == (2, {}), number
        assert source.warnings == ["1 event repaired: values that JSON does not allow"], number
    found = ranks.rows("SELECT rank, name, args FROM events WHERE name <> 'last'")
    assert [[(name, json.loads(args)) for name, args in rows] for rows in found] == [
        [("N/A, x", {"a": None, "b": 2})]
    ] * len(NUMBERS)


def test_an_infinite_bandwidth_is_unknown(ranks: Ranks) -> None:
    copy = (
        '{{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": {}, '
        '"dur": {}, "args": {{"device": 0, "stream": 7, "bytes": 4000, '
        '"memory bandwidth (GB/s)": {}}}}}'
    )
    copies = [(0, 2, "inf"), (10, 0, "N/A"), (20, 0, "Infinity"), (30, 4, "NaN"), (40, 1, "3.5")]
    ranks.add(f"[{', '.join(copy.format(*each) for each in copies)}]")
    [rows] = ranks.rows("SELECT rank, gb_per_s FROM kernels ORDER BY start_ns")
    assert rows == [(2.0,), (None,), (None,), (1.0,), (3.5,)]
