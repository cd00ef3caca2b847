"""Damaged and hostile dumps: nothing runs, and only the file itself is lost."""

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

import ingest
from ingest.errors import ProfileError
from ingest.formats.flight_recorder import reader, tables
from tests.builders.flight_recorder import as_json, call, dump, pickled
from tests.builders.relations import Run, built

GOOD = pickled(dump([call()]))


class Runs:
    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.made),)


def failure(content: bytes) -> str:
    """Return why a dump cannot be read. The dump of another rank must not suffer."""
    found = built(Run({"dump_rank_0": GOOD, "dump_rank_1": content}))
    assert found.sql(
        "SELECT rank, records, is_latest FROM flight_dumps ORDER BY rank"
    ).fetchall() == [
        (0, 1, True),
        (1, None, False),
    ]
    assert found.sql("SELECT count(*) FROM flight_records").fetchall() == [(1,)]
    good, bad = found.sources
    assert (good.status, bad.status, bad.rank) == ("ok", "failed", 1)
    return str(bad.message("unreadable"))


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize("where", ["top", "entry", "frames", "groups"])
def test_code_in_a_dump_does_not_run(where: str, protocol: int, tmp_path: Path) -> None:
    made = tmp_path / "made"
    evil = Runs(made)
    found = dump([call()])
    if where == "top":
        found["more"] = evil
    elif where == "entry":
        found["entries"].append(evil)
    elif where == "frames":
        found["entries"][0]["frames"] = evil
    else:
        found["pg_config"] = {"0": {"name": "0", "desc": "", "ranks": evil}}
    content = pickle.dumps(found, protocol)
    assert "is not plain data; the file was refused, and none of it was run" in failure(content)
    assert not made.exists()
    pickle.loads(content)  # Python's unpickler runs it
    assert made.exists()


def test_a_truncated_dump_fails_alone() -> None:
    assert "inside the pickle" in failure(GOOD[:-50])
    assert "not valid JSON" in failure(as_json(dump([call()]))[:-50])


def test_every_truncation_and_many_changes_end_with_an_error_at_most(tmp_path: Path) -> None:
    path = tmp_path / "dump_rank_0"
    for end in range(0, len(GOOD), 7):
        path.write_bytes(GOOD[:end])
        with pytest.raises(ProfileError):
            reader.read_dump(path, lambda _: None)
    for at in range(2, len(GOOD), 5):
        path.write_bytes(GOOD[:at] + bytes([GOOD[at] ^ 0x15]) + GOOD[at + 1 :])
        try:
            value = reader.read_dump(path, lambda _: None).value
            tables.records_of(value, tables.Stacks())
            tables.groups_of(value)
            tables.status_of(value)
        except ProfileError:
            pass


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"entries": {}}, None),
        ({"entries": {"a": 1}}, "entries: a dict, not a list"),
        ({"entries": [1]}, r"entries[0]: an integer, not a dict"),
        ({"entries": [{}]}, "entries[0]: profiling_name is missing"),
        ({"entries": [call(seq="1")] if False else [call(pg_id="1")]}, "entries[0].pg_id"),
        ({"entries": [call(collective_seq_id=1 << 70)]}, "collective_seq_id: out of range"),
        ({"entries": [call(input_sizes=[8])]}, "entries[0].input_sizes: not a list of lists"),
        ({"entries": [call(input_sizes=[["8"]])]}, "input_sizes: not all sizes are integers"),
        ({"entries": [call(input_dtypes="Float")]}, "input_dtypes: not a list of strings"),
        ({"entries": [call(process_group=3)]}, "process_group: an integer, not a name"),
        ({"entries": [call(frames=[1])]}, "frames[0]: an integer, not a frame"),
        ({"pg_config": [1]}, "pg_config: a list, not a dict"),
        ({"pg_config": {"0": {"ranks": "[0, x]"}}}, "pg_config.0.ranks: not a list of ranks"),
        ({"pg_config": {"0": {"ranks": [-1]}}}, "pg_config.0.ranks: not a list of ranks"),
        ({"pg_status": {"a": {}}}, "pg_status.pg_id: not a number"),
    ],
)
def test_values_of_other_types_are_errors(changed: dict[str, Any], error: str | None) -> None:
    content = pickled(dump([call()]) | changed)
    if error is None:
        found = built(Run({"dump_rank_0": content}))
        assert found.sources[0].status == "ok"
    else:
        assert error in failure(content)


def test_shared_values_do_not_take_memory() -> None:
    """A small pickle can refer to one long list many times."""
    sizes = [[1] * 1000] * 1000
    entries = [call(input_sizes=sizes) for _ in range(20)]
    assert "input_sizes: more than 8,388,608 numbers" in failure(
        pickled(dump([]) | {"entries": entries})
    )
    dtypes = ["Float"] * 100_000
    entries = [call(input_dtypes=dtypes) for _ in range(500)]
    assert "input_dtypes: more than" in failure(pickled(dump([]) | {"entries": entries}))


def test_the_memory_of_values_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_HELD_BYTES", 1 << 20)
    entries = [call(timeout_ms=number) for number in range(4_000)]
    assert "more than 1 MiB of values" in failure(pickled(dump([]) | {"entries": entries}))


@pytest.mark.parametrize("extreme", [-(1 << 63), (1 << 63) - 1])
def test_extreme_numbers_are_stored_or_unknown(
    extreme: int, store: ingest.Store, tmp_path: Path
) -> None:
    numbers = dict.fromkeys(
        ("record_id", "pg_id", "collective_seq_id", "p2p_seq_id", "op_id", "timeout_ms",
         "time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns"), extreme
    )  # fmt: skip
    entry = call(state="started") | numbers | {"duration_ms": float("nan")}
    found = dump([call()]) | {"entries": [entry, entry | {"duration_ms": float("inf")}]}
    (tmp_path / "dump_rank_0").write_bytes(pickled(found))
    run_id = store.add(tmp_path / "dump_rank_0").run_id
    connection = ingest.connect(store.path)
    assert connection.execute(
        "SELECT DISTINCT created_ns, timeout_ns, dur_ns, collective_seq FROM flight_records "
        "WHERE run_id = $1",
        [run_id],
    ).fetchall() == [(None, None, None, extreme)]
    assert connection.sql("SELECT count(*) FROM hangs").fetchall() == [(1,)]
