"""A package and a registration make an input format: rankings, idle time and export work on it."""

import json
import re
from pathlib import Path

import pytest

import ingest
from ingest import sql
from ingest.formats import FORMATS, Loader
from ingest.sql.topics import TOPICS
from tests.builders.kernel_csv import CSV, KERNEL_CSV
from tests.helpers.command import Command

CLOCK_NS = 1_700_000_000_000_000_000


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ingest.Store:
    """A store with a run of the format."""
    directory = tmp_path_factory.mktemp("new_format")
    (directory / "first.csv").write_text(CSV)
    store = ingest.Store(directory / "store")
    store.add(directory / "first.csv", formats=(*FORMATS, KERNEL_CSV))
    return store


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (
            "SELECT name, device_ns, calls FROM kernel_ranking ORDER BY device_ns DESC, name",
            [("bubble", 400, 2), ("gemm", 400, 1), ("relu", 200, 1)],
        ),
        (
            "SELECT device, stream, grid, registers, link, launch_ns - $clock, start_ns - $clock "
            "FROM kernels ORDER BY start_ns",
            [
                (0, 7, [8, 4, 1], 64, "correlation", 0, 100),
                (0, 8, [16, 1, 1], None, "correlation", 700, 800),
            ],
        ),
        (
            "SELECT start_ns - $clock, dur_ns, cause FROM bubbles WHERE NOT is_edge",
            [(500, 300, "host")],
        ),
        (
            "SELECT name, memory_bytes, multiprocessors FROM devices WHERE device = 0",
            [("Toy 1", 8 << 30, 16)],
        ),
        (
            "SELECT device_id, track, counter, start_ns - $clock, dur_ns, value FROM counters "
            "ORDER BY start_ns",
            [
                ("0:0", "multiprocessors", "busy, %", 100, None, 90.0),
                ("0:0", "multiprocessors", "busy, %", 800, None, 50.0),
            ],
        ),
        ("SELECT framework, device_name, world_size FROM runs", [("none", "Toy 1", 1)]),
        (
            "SELECT subject, value FROM run_conditions WHERE subject = 'driver'",
            [("driver", "1.0")],
        ),
        ("SELECT count(*) FROM cupti_counters", [(0,)]),
    ],
)
def test_views_answer(store: ingest.Store, query: str, rows: list[tuple[object, ...]]) -> None:
    with ingest.connect(store) as connection:
        query = query.replace("$clock", str(CLOCK_NS))
        assert connection.sql(query).fetchall() == rows


def test_an_export_has_what_the_format_has(
    command: Command, store: ingest.Store, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.json"
    assert command("export", "first", "--chrome", trace, store=store.path).code == 0
    events = json.loads(trace.read_text())["traceEvents"]
    [gemm] = [event for event in events if event.get("name") == "gemm"]
    assert gemm["args"] == {
        **{"device": 0, "stream": 7, "grid": [8, 4, 1], "registers per thread": 64},
        "correlation": 1,
        "owner": None,
    }
    counted = [event["args"] for event in events if event.get("name") == "multiprocessors"]
    assert counted == [{"busy, %": 90.0}, {"busy, %": 50.0}]
    again = ingest.Store(tmp_path / "again")
    again.add(trace)
    columns = "name, device, stream, grid, registers, dur_ns, link"
    with ingest.connect(store) as first, ingest.connect(again) as second:
        query = f"SELECT {columns} FROM kernels ORDER BY start_ns"
        assert second.sql(query).fetchall() == first.sql(query).fetchall()


ROOT = Path(ingest.__file__).parent
# Where the files of a format may be known: its package, its SQL, and the export, which writes
# Chrome traces.
ROOMS = ("formats", "export", *(f"sql/{path.name}" for path in ROOT.glob("formats/*/")))


def outside() -> dict[Path, str]:
    """Return the code of ingest outside of ROOMS, without comments."""
    found = {}
    for path in sorted([*ROOT.rglob("*.py"), *ROOT.rglob("*.sql")]):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(tuple(f"{room}/" for room in ROOMS)):
            comment = r"--.*" if path.suffix == ".sql" else r"#.*|\"\"\"(?s:.*?)\"\"\""
            found[path] = re.sub(comment, "", path.read_text(encoding="utf-8"))
    return found


def packages() -> set[str]:
    """Return the names of the packages of all formats."""
    return {format_.load.package for format_ in FORMATS if isinstance(format_.load, Loader)}


def test_each_package_is_a_registered_format() -> None:
    found = {path.parent.name for path in ROOT.glob("formats/*/recognition.py")}
    assert packages() == {f"ingest.formats.{name}" for name in found}


def test_no_other_room_names_a_format() -> None:
    code = outside()
    assert len(code) > 400
    others = {*sql.files(), *(topic.name for topic in TOPICS)}  # relations and topics
    kinds = {format_.kind for format_ in FORMATS}
    assert {"kineto", "compile_log", "execution_trace", "memory_snapshot"} <= kinds - others
    for path, text in code.items():
        for kind in kinds:
            assert f"'{kind}'" not in text, path
        for kind in kinds - others:
            assert f'"{kind}"' not in text, path
        for package in packages():
            assert package not in text, path


def test_no_other_room_reads_the_keys_of_traces() -> None:
    queries = [*(ROOT / "sql/kineto").rglob("*.sql")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in queries)
    keys = {key for key in re.findall(r'"([^"\n]+)": *[\["]', text) if re.search("[A-Z (]", key)}
    assert {"Input Dims", "registers per thread", "totalGlobalMem"} < keys
    keys |= {"baseTimeNanoseconds", "distributedInfo", "deviceProperties"}
    for path, code in outside().items():
        for key in keys:
            assert f'"{key}"' not in code, path
            assert f"'{key}'" not in code, path
