"""What dumps of the flight recorder say about a hang, in sentences."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from ingest.units import counted, number_ranges, shapes

Row = dict[str, Any]

MAX_SENTENCES = 5  # about the last calls of ranks that have not come
LAST = ("last_kind", "last_seq", "last_process_group", "last_frame", "is_last_done")
DIFFERENCES = {"kind": "kind", "shape": "shape", "dtype": "data type"}


def hang_sentences(hang: Row, ranks: Sequence[Row], mismatches: Sequence[Row]) -> Iterator[str]:
    """Yield what is known about a row of view `hangs`.

    `ranks` are its rows of `hang_ranks`, and `mismatches` the rows of `flight_mismatches` of its
    group.
    """
    place = f"Process group {_group(hang)}"
    yield f"{place}: {_call_of(hang)} was not done when the dumps were written."
    timed_out = ", and it timed out" if hang["is_timed_out"] else ""
    yield f"{_ranks(hang['waiting_ranks'])} {_verb(hang['waiting_ranks'], 'wait')}{timed_out}."
    if hang["absent_ranks"]:
        has = "has" if len(hang["absent_ranks"]) == 1 else "have"
        yield f"{_ranks(hang['absent_ranks'])} {has} not come."
        yield from _last_calls([row for row in ranks if row["role"] == "absent"])
    yield from _missing([row for row in ranks if row["role"] == "missing"])
    if hang["passed_ranks"]:
        yield f"It is done on {_ranks(hang['passed_ranks']).lower()}."
    if hang["mismatch"]:
        yield mismatch_sentence(mismatches)
    elif not hang["absent_ranks"] and not hang["missing_ranks"]:
        yield (
            "All ranks have come, with the same call: the transfer itself does not end, or was in "
            "progress."
        )
    if not hang["is_origin"]:
        yield "The ranks that have not come wait in other calls: the cause is there."


def mismatch_sentence(rows: Sequence[Row]) -> str:
    """Return what differs, from the rows of a group in view `flight_mismatches`."""
    first = rows[0]
    alike: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row["is_odd"] is not True, row["rank"])):
        alike.setdefault(_differing(row), []).append(row)
    parts = []
    for value, found in alike.items():
        on = _ranks([row["rank"] for row in found]).lower()
        parts.append(f"{value} on {on}{_at(found[0]['caller_frame'])}")
    return (
        f"The ranks differ in the {DIFFERENCES[first['difference']]} of collective "
        f"{first['collective_seq']:,} of group {first['process_group']}: {'; '.join(parts)}."
    )


def _differing(row: Row) -> str:
    """Return the value that differs, as text."""
    if row["difference"] == "kind":
        return str(row["kind"])
    if row["difference"] == "shape":
        return f"{row['kind']} of {_shape(row['input_sizes'])} → {_shape(row['output_sizes'])}"
    return f"{row['kind']} of {', '.join(row['input_dtypes'] or row['output_dtypes'] or ())}"


def _last_calls(rows: Sequence[Row]) -> Iterator[str]:
    def key(row: Row) -> str:
        return str([row[name] for name in LAST])

    groups = [list(found) for _, found in groupby(sorted(rows, key=key), key)]
    for alike in groups[:MAX_SENTENCES]:
        row = alike[0]
        whose = f"The last call of {_ranks([each['rank'] for each in alike]).lower()}"
        if row["last_kind"] is None:
            yield f"{whose}: none is recorded."
            continue
        state = "is done" if row["is_last_done"] else "is not done either"
        number = "" if row["last_seq"] is None else f" {row['last_seq']:,}"
        place = f"of group {row['last_process_group']}{_at(row['last_frame'])}"
        yield f"{whose} was {row['last_kind']}{number} {place}, which {state}."
    if len(groups) > MAX_SENTENCES:
        yield f"{counted(len(groups) - MAX_SENTENCES, 'other last call')} are not listed here."


def _missing(rows: Sequence[Row]) -> Iterator[str]:
    for reason, text in (("no dump", "no dump"), ("unreadable", "a dump that cannot be read")):
        found = [row["rank"] for row in rows if row["missing_reason"] == reason]
        if found:
            has = "has" if len(found) == 1 else "have"
            yield f"{_ranks(found)} {has} {text}, so it is unknown where {_they(found)}."


def _they(ranks: Sequence[int]) -> str:
    return "it is" if len(ranks) == 1 else "they are"


def _group(row: Row) -> str:
    described = row["group_description"]
    more = f" ({described})" if described and described != row["process_group"] else ""
    return f"{row['process_group']}{more}"


def _call_of(hang: Row) -> str:
    shape = f" of {_shape(hang['input_sizes'])}" if hang["input_sizes"] else ""
    what = f"{hang['kind']}{shape}{_at(hang['caller_frame'])}"
    if hang["collective_seq"] is not None:
        return f"collective {hang['collective_seq']:,} ({what})"
    ends = (("from", hang["source_rank"]), ("to", hang["destination_rank"]))
    places = " ".join(f"{word} rank {rank}" for word, rank in ends if rank is not None)
    return f"the point-to-point call {places} ({what})"


def _at(frame: str | None) -> str:
    return f" at {frame}" if frame else ""


def _ranks(ranks: Sequence[int]) -> str:
    return f"Rank{'' if len(ranks) == 1 else 's'} {number_ranges(sorted(ranks))}"


def _verb(ranks: Sequence[int], verb: str) -> str:
    return f"{verb}s" if len(ranks) == 1 else verb


def _shape(tensors: Sequence[Sequence[int]] | None) -> str:
    """Return the shapes of tensors as text: 16×64, 64."""
    return shapes(json.dumps(tensors)) or ("a scalar" if tensors else "no tensor")
