"""Compares the ingest with a bare parse: `python benchmarks/ingest.py [--ten] [--repeat N]`.

Each input is read in several ways, each time in a new process, in turn. First, DuckDB's `read_json`
reads the same `traceEvents` array with the same columns, once into a database file and once into
memory, in a Python process that imports only DuckDB. Then `ingest add` reads the complete trace
into a new store: read, parse, normalise, nest, link, write Parquet.

Times are of complete processes, the fastest of N. Peak RSS includes child processes. A second table
shows where the processor time of an `add` goes. `--ten` adds an input with the events of the
large trace repeated ten times (6 GB of JSON on disk). The script checks no limits, because times
depend on the machine.
"""

import argparse
import gzip
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)  # otherwise `import ingest` finds benchmarks/ingest.py

import ingest  # noqa: E402
from benchmarks.processes import Measured, measure, processor_seconds  # noqa: E402
from ingest.cli.terminal import results, table  # noqa: E402

SAMPLES = Path(os.environ.get("TRACE_SAMPLES", ROOT.parent / "shared" / "samples"))
OWLV2 = SAMPLES / "traces" / "h100_owlv2.json.gz"
LARGE = SAMPLES / "large" / "flux_compile_cachehit_stack.json.gz"
COMMAND = Path(sys.executable).with_name("ingest")
SHIFTED = re.compile(
    rb'("(ts|id|correlation|External id|Ev Idx|Python id|Python parent id)": ?)(\d+)'
)
SHIFT_US = 600_000_000  # longer than every trace
SHIFT_IDS = 10_000_000
COLUMNS = (
    "input", "MB of JSON", "events", "bare, file s", "bare, memory s", "add s", "× file",
    "× memory", "processor s", "× memory", "MB/s", "peak RSS MB", "store %",
)  # fmt: skip
SHARES = ("part of an add", "processor s", "%")
LEAST_SHARE = 0.005  # of the time, for a row of its own
MANY_RUNS = 24
MANY_COLUMNS = ("--jobs", f"s for {MANY_RUNS} runs", "peak RSS MB")
BARE = """
import duckdb, sys
connection = duckdb.connect(sys.argv[2], config={"preserve_insertion_order": False})
connection.execute("SET enable_progress_bar = false")
connection.execute(
    "CREATE TABLE events AS FROM read_json($1, format = 'array', "
    "maximum_object_size = 100_000_000, columns = {ph: 'VARCHAR', cat: 'VARCHAR', "
    "name: 'VARCHAR', pid: 'VARCHAR', tid: 'VARCHAR', id: 'VARCHAR', ts: 'DOUBLE', "
    "dur: 'DOUBLE', args: 'JSON'})", [sys.argv[1]])
"""


# The parts of an `add`, in a process of their own.


def print_parts(trace: str, store: str) -> None:
    """Add a trace, and print the processor time of each part in s, as JSON."""
    from ingest.conversion import build, parquet, run
    from ingest.formats.kineto import load, repair

    parts: dict[str, float] = {}

    def timed(module: Any, name: str, label: Callable[..., str]) -> None:
        function = getattr(module, name)

        @wraps(function)
        def measured(*args: Any, **kwargs: Any) -> Any:
            inside, before = sum(parts.values()), processor_seconds()
            try:
                return function(*args, **kwargs)
            finally:
                used = processor_seconds() - before - (sum(parts.values()) - inside)
                part = label(*args, **kwargs)
                parts[part] = parts.get(part, 0) + used

        setattr(module, name, measured)

    run.WORKERS = 1  # one part at a time, so that each one's processor time is its own
    timed(load, "parse", lambda *_: "read and parse")
    timed(repair, "parse", lambda *_: "read and parse")
    timed(run, "_stage", lambda *_: "other staging")
    timed(run, "redact_secrets", lambda *_: "secrets")
    timed(build, "_fill", lambda _, task: ", ".join(node.name for node in task.nodes))
    timed(parquet, "_write", lambda _, name, *__: f"write {name}")
    timed(parquet, "_copy", lambda _, source, *__: "write " + source.split()[1])
    opened = ingest.Store(store)
    before = processor_seconds()
    opened.add(trace)
    parts["everything else"] = processor_seconds() - before - sum(parts.values())
    print(json.dumps(parts))


def shares(trace: Path, store: Path) -> list[list[str]]:
    """Return the rows of the table of parts, largest first. Small parts are in one row."""
    shutil.rmtree(store, ignore_errors=True)
    printed = measure([sys.executable, __file__, "--parts", trace, store]).output
    parts: dict[str, float] = json.loads(printed)
    total = sum(parts.values())
    small = {part for part, used in parts.items() if used < LEAST_SHARE * total}
    rest = sum(parts.pop(part) for part in small)
    parts[f"{len(small)} smaller parts"] = rest
    return [
        [part, f"{used:.2f}", f"{100 * used / total:.1f}"]
        for part, used in sorted(parts.items(), key=lambda item: -item[1])
    ]


# Inputs.


def repeat_events(trace: Path, count: int, target: Path) -> None:
    """Write a trace with its events `count` times. Each copy has later times and new ids."""
    text = gzip.decompress(trace.read_bytes())
    start, end = array_of(text)
    events = text[start:end]
    with target.open("wb") as file:
        file.write(text[:start])
        for number in range(count):
            file.write(b"," if number else b"")
            file.write(SHIFTED.sub(partial(_shifted, number=number), events) if number else events)
        file.write(text[end:])


def _shifted(found: re.Match[bytes], number: int) -> bytes:
    shift = SHIFT_US if found[2] == b"ts" else SHIFT_IDS
    return b"%s%d" % (found[1], int(found[3]) + number * shift)


def array_of(text: bytes) -> tuple[int, int]:
    """Return the start and end of the events in a pretty-printed trace, without the brackets."""
    start = text.index(b"[", text.index(b'"traceEvents"')) + 1
    return start, text.index(b"\n  ]", start)


def write_array(directory: Path, trace: Path) -> Path:
    """Write the array of events to a separate file, for the bare parse. Return its path."""
    array = directory / "array.json"
    text = trace.read_bytes()
    start, end = array_of(text)
    array.write_bytes(b"[" + text[start:end] + b"]")
    return array


# Measurements.


def compare(trace: Path, compressed: Path, repeat: int, directory: Path) -> list[list[str]]:
    """Return the rows of the table for one trace: a row for .json, and a row for .json.gz."""
    array, size = write_array(directory, trace), trace.stat().st_size
    database, store = directory / "bare.duckdb", directory / "store"
    ways = {
        "file": [sys.executable, "-c", BARE, array, database],
        "memory": [sys.executable, "-c", BARE, array, ":memory:"],
        "json": [COMMAND, "add", trace, "--store", store],
        "json.gz": [COMMAND, "add", compressed, "--store", store],
    }
    found: dict[str, list[Measured]] = {way: [] for way in ways}
    for _ in range(repeat):
        for way, command in ways.items():
            shutil.rmtree(store, ignore_errors=True)
            database.unlink(missing_ok=True)
            found[way].append(measure(command))
    stored = sum(file.stat().st_size for file in store.glob("runs/*/run_id=*/*.parquet"))
    [(events,)] = ingest.connect(store).sql("SELECT sum(events) FROM sources").fetchall()
    array.unlink()
    best = {way: min(one.seconds for one in taken) for way, taken in found.items()}
    used = {way: min(one.processor_seconds for one in taken) for way, taken in found.items()}
    return [
        [
            f"{trace.stem}.{form}",
            f"{size / 1e6:,.0f}",
            f"{events:,}",
            f"{best['file']:.2f}",
            f"{best['memory']:.2f}",
            f"{best[form]:.2f}",
            f"{best[form] / best['file']:.2f}",
            f"{best[form] / best['memory']:.2f}",
            f"{used[form]:.2f}",
            f"{used[form] / used['memory']:.2f}",
            f"{size / 1e6 / best[form]:,.0f}",
            f"{max(one.peak_bytes for one in found[form]) / 1e6:,.0f}",
            f"{100 * stored / size:.1f}",
        ]
        for form in ("json", "json.gz")
    ]


def many(directory: Path) -> list[list[str]]:
    """Return a row for one process and a row for two: the time of a command that adds many runs."""
    for number in range(MANY_RUNS):
        run = directory / "runs" / f"run{number}"
        run.mkdir(parents=True)
        shutil.copy(SAMPLES / "traces" / "mi300_resnet_ddp_rank0.json.gz", run)
        (run / "run.json").write_text(json.dumps({"seed": number}))
    paths = sorted(map(str, (directory / "runs").iterdir()))
    rows = []
    for jobs in ("1", "2"):
        store = directory / f"store{jobs}"
        found = measure([COMMAND, "add", *paths, "--jobs", jobs, "--store", store])
        rows.append([jobs, f"{found.seconds:.1f}", f"{found.peak_bytes / 1e6:,.0f}"])
    return rows


def main() -> None:
    """Build the inputs, run the measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--ten",
        action="store_true",
        help="also measure the large trace with its events repeated ten times",
    )
    parser.add_argument("--parts", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.parts:
        print_parts(*options.parts)
        return
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        inputs = [(OWLV2, 10), (LARGE, 1)]
        if options.ten:
            inputs.append((LARGE, 10))
        rows, parts = [], {}
        for sample, count in inputs:
            trace = directory / f"{sample.name.partition('.')[0]} ×{count}.json"
            repeat_events(sample, count, trace)
            compressed = trace.with_name(f"{trace.name}.gz")
            with trace.open("rb") as plain, gzip.open(compressed, "wb", compresslevel=6) as packed:
                shutil.copyfileobj(plain, packed, 1 << 20)
            rows += compare(trace, compressed, options.repeat, directory)
            parts[trace.name] = shares(trace, directory / "store")
            trace.unlink()
            compressed.unlink()
        printed = results()
        printed.print(table(COLUMNS, rows, right=COLUMNS[1:]))
        for name, of_trace in parts.items():
            printed.print(name)
            printed.print(table(SHARES, of_trace, right=SHARES[1:]))
        printed.print(table(MANY_COLUMNS, many(directory), right=MANY_COLUMNS))


if __name__ == "__main__":
    main()
