"""Input formats: a package and a registration suffice, as a toy format shows."""

from pathlib import Path

import pytest

import ingest
from ingest import sql
from ingest.cli.runs import list_runs, show
from ingest.cli.upkeep import remove
from ingest.errors import ProfileError
from ingest.formats import FORMATS, Format, Progress, Source, Staging

MAGIC = b"toy profile\n"
PROFILE = """toy profile
matmul 1000 300
relu 1300 200
sync 1600 -1
"""


def is_toy(head: bytes) -> bool:
    """Return whether the file begins like a toy profile."""
    return head.startswith(MAGIC)


def load_toy(source: Source, staging: Staging, progress: Progress) -> None:
    """Read lines `name start duration` as operators of one thread. Times are ns."""
    lines = source.path.read_text().splitlines()[1:]
    calls = [(name, int(start), int(dur)) for name, start, dur in map(str.split, lines)]
    complete = [call for call in calls if call[2] >= 0]
    if not complete:
        raise ProfileError(f"{source.path}: no call is complete")
    staging.connection.executemany(
        "INSERT INTO staged BY NAME SELECT $1 AS source_id, id_in_run($1, $2) AS event_id, "
        "'X' AS phase, 'host' AS side, 'cpu_op' AS category, $3 AS name, '1' AS pid, '1' AS tid, "
        "$4 AS relative_ns, $5 AS dur_ns",
        [(source.source_id, number, *call) for number, call in enumerate(complete)],
    )
    if broken := len(calls) - len(complete):
        source.warn("toy_call_broken", f"{broken} call without an end")
        source.dropped = {"without an end": broken}
    source.events, source.complete = len(calls), len(complete)
    progress(source.bytes)


TOY = Format(
    "toy",
    noun="call",
    encoding="text",
    suffix=r"\.toy",
    recognise=is_toy,
    load=load_toy,
    has_events=True,
)


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A file that only the toy format recognises."""
    path = tmp_path / "first.toy"
    path.write_text(PROFILE)
    return path


def test_a_format_is_recognised_loaded_listed_shown_and_removed(
    store: ingest.Store, profile: Path
) -> None:
    heard: list[float] = []
    added = store.add(profile, formats=(*FORMATS, TOY), progress=heard.append)
    assert added.run_id.startswith("first-")
    assert heard == sorted(heard)
    assert 0 < heard[0] < heard[-1] == 1
    [source] = added.sources
    assert source.summary() == (
        f"first.toy: rank 0, 3 calls, 0.0 MB of text, read in {source.seconds:.1f} s, "
        "2 rows, ok (1 call without an end)"
    )
    connection = ingest.connect(store.path)
    assert connection.sql(
        "SELECT kind, rank, events, complete_events, dropped_counts, warnings, warning_codes "
        "FROM sources"
    ).fetchall() == [
        ("toy", 0, 3, 2, {"without an end": 1}, ["1 call without an end"], ["toy_call_broken"])
    ]
    assert connection.sql("SELECT name, dur_ns FROM ops ORDER BY start_ns").fetchall() == [
        ("matmul", 300),
        ("relu", 200),
    ]
    assert connection.sql("SELECT sources, ranks, events FROM run_overview").fetchall() == [
        (1, 1, 2)
    ]
    store.remove(added.run_id)
    assert store.run_ids() == []


def test_the_files_of_a_run_have_separate_rows(store: ingest.Store, tmp_path: Path) -> None:
    for rank in range(2):
        (tmp_path / "run").mkdir(exist_ok=True)
        (tmp_path / "run" / f"rank{rank}.toy").write_text(f"{PROFILE}gelu {900 + rank} 10\n")
    store.add(tmp_path / "run", formats=(*FORMATS, TOY))
    assert ingest.connect(store.path).sql(
        "SELECT rank, count(*), count(DISTINCT event_id) FROM ops GROUP BY rank ORDER BY rank"
    ).fetchall() == [(0, 3, 3), (1, 3, 3)]


def test_the_commands_support_a_run_of_any_format(
    store: ingest.Store, profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = store.add(profile, formats=(*FORMATS, TOY)).run_id
    list_runs(store.path)
    assert run_id in capsys.readouterr().out
    show(run_id, store.path)
    shown = capsys.readouterr().out
    assert str(profile) in shown
    assert f"toy, rank 0, ok, {len(PROFILE)} bytes, 3 events, 2 rows, dropped: 1 ×" in shown
    assert "1 call without an end" in shown
    remove([run_id], store.path)
    assert store.run_ids() == []


def test_a_format_that_is_not_listed_is_not_read(store: ingest.Store, profile: Path) -> None:
    with pytest.raises(ProfileError, match="neither a JSON object nor an array"):
        store.add(profile)
    assert store.run_ids() == []


def test_only_an_unreadable_file_fails(store: ingest.Store, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    directory.mkdir()
    (directory / "first.toy").write_text(PROFILE)
    (directory / "run.json").write_text('{"name": "two"}')
    (directory / "second.toy").write_bytes(MAGIC + b"sync 1600 -1\n")
    first, run_json, second = store.add(directory, formats=(TOY,)).sources
    assert (first.status, run_json.status, second.status) == ("ok", "ok", "failed")
    assert (first.kind, run_json.kind, second.kind) == ("toy", "run_json", "toy")
    assert second.warning_codes[0] == "unreadable"
    assert "no call is complete" in second.warnings[0]


def test_the_dictionary_names_all_formats() -> None:
    [sources] = [table for table in sql.tables() if table.name == "sources"]
    for format_ in FORMATS:
        assert format_.kind in sources.documentation.columns["kind"]
