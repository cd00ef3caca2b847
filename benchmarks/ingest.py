"""Compares the ingest with a bare parse: `python benchmarks/ingest.py [--ten] [--repeat N]`.

For each input, in turn and in separate processes: DuckDB's bare `read_json` of the same
`traceEvents` array with the same columns, into a table in a database file and into a table in
memory; then the complete ingest (read, parse, normalise, nest, link, write Parquet). Times are
measured inside the process, the fastest of N. Peak RSS is that of the process tree. `--ten` adds an
input with the events of the large trace ten times (6 GB of JSON on disk). There are no limits:
numbers depend on the machine.
"""

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import duckdb

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)  # otherwise `import ingest` finds benchmarks/ingest.py

import ingest  # noqa: E402
from ingest.terminal import results, table  # noqa: E402

SAMPLES = Path(os.environ.get("TRACE_SAMPLES", ROOT.parent / "shared" / "samples"))
OWLV2 = SAMPLES / "traces" / "h100_owlv2.json.gz"
LARGE = SAMPLES / "large" / "flux_compile_cachehit_stack.json.gz"
SHIFTED = re.compile(
    rb'("(ts|id|correlation|External id|Ev Idx|Python id|Python parent id)": ?)(\d+)'
)
SHIFT_US = 600_000_000  # longer than any of the traces
SHIFT_IDS = 10_000_000
COLUMNS = (
    "input", "MB of JSON", "events", "bare, file s", "bare, memory s", "ingest s", "× file",
    "× memory", "MB/s", "events/s", "peak RSS MB", "store %",
)  # fmt: skip
MANY_RUNS = 24
MANY_COLUMNS = ("--jobs", f"s for {MANY_RUNS} runs", "peak RSS MB")
POLL_SECONDS = 0.02
BARE = """
    CREATE TABLE events AS FROM read_json('{array}', format = 'array',
        maximum_object_size = 100_000_000, columns = {{
            ph: 'VARCHAR', cat: 'VARCHAR', name: 'VARCHAR', pid: 'VARCHAR', tid: 'VARCHAR',
            id: 'VARCHAR', ts: 'DOUBLE', dur: 'DOUBLE', args: 'JSON'
        }})
"""


# Functions that run in a separate process, which prints their seconds.


def bare(array: str, database: str) -> float:
    """Parse the array of events into a table with DuckDB. Return the seconds."""
    with duckdb.connect(database, config={"preserve_insertion_order": False}) as connection:
        connection.execute("SET enable_progress_bar = false")
        began = time.perf_counter()
        connection.execute(BARE.format(array=array))
        return time.perf_counter() - began


def whole(trace: str, store: str) -> float:
    """Ingest the trace into a new store. Return the seconds."""
    opened = ingest.Store(store)
    began = time.perf_counter()
    opened.add(trace)
    return time.perf_counter() - began


def measured(*call: str, script: str = __file__) -> tuple[float, int]:
    """Run a function of a script in a process. Return its seconds and peak RSS (tree), bytes."""
    command = [sys.executable, script, "--call", *call]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        peak = watched(process)
        assert process.stdout
        assert process.stderr
        printed, errors = process.stdout.read(), process.stderr.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(call)}: {errors.decode()}")
    return float(printed), peak


def watched(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process. Return the peak RSS of it and its descendants, bytes."""
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(rss, descendants(process.pid))))
        time.sleep(POLL_SECONDS)
    return peak


def descendants(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in children.read_text().split():
                yield from descendants(int(child))
        except OSError:
            continue  # the process has ended


def rss(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


# Inputs.


def times(trace: Path, count: int, target: Path) -> None:
    """Write the events of a trace `count` times, each time at a later time and with new ids."""
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
    """Return the start and end of the events of a pretty-printed trace, inside the brackets."""
    start = text.index(b"[", text.index(b'"traceEvents"')) + 1
    return start, text.index(b"\n  ]", start)


def prepared(directory: Path, trace: Path) -> Path:
    """Write the array of events to a separate file, for the bare parse. Return its path."""
    array = directory / "array.json"
    text = trace.read_bytes()
    start, end = array_of(text)
    array.write_bytes(b"[" + text[start:end] + b"]")
    return array


# Measurements.


def compare(trace: Path, compressed: Path, repeat: int, directory: Path) -> list[list[str]]:
    """Return the rows of the table for one trace, as .json and .json.gz."""
    array, size = prepared(directory, trace), trace.stat().st_size
    database, store = directory / "bare.duckdb", directory / "store"
    seconds: dict[str, list[float]] = {}
    peaks: dict[str, int] = {}
    for _ in range(repeat):
        for what, call in (
            ("file", ("bare", str(array), str(database))),
            ("memory", ("bare", str(array), ":memory:")),
            ("json", ("whole", str(trace), str(store))),
            ("json.gz", ("whole", str(compressed), str(store))),
        ):
            shutil.rmtree(store, ignore_errors=True)
            database.unlink(missing_ok=True)
            took, peak = measured(*call)
            seconds.setdefault(what, []).append(took)
            peaks[what] = max(peak, peaks.get(what, 0))
    stored = sum(file.stat().st_size for file in store.glob("runs/*/run_id=*/*.parquet"))
    [(events,)] = ingest.connect(store).sql("SELECT sum(events) FROM sources").fetchall()
    array.unlink()
    best = {what: min(times) for what, times in seconds.items()}
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
            f"{size / 1e6 / best[form]:,.0f}",
            f"{events / best[form]:,.0f}",
            f"{peaks[form] / 1e6:,.0f}",
            f"{100 * stored / size:.1f}",
        ]
        for form in ("json", "json.gz")
    ]


def many(directory: Path) -> list[list[str]]:
    """Time a command that adds many runs, with one process and with two. Return the rows."""
    for number in range(MANY_RUNS):
        run = directory / "runs" / f"run{number}"
        run.mkdir(parents=True)
        shutil.copy(SAMPLES / "traces" / "mi300_resnet_ddp_rank0.json.gz", run)
        (run / "run.json").write_text(json.dumps({"seed": number}))
    paths = sorted(map(str, (directory / "runs").iterdir()))
    rows = []
    for jobs in ("1", "2"):
        store = directory / f"store{jobs}"
        command = [sys.executable, "-m", "ingest", "add", *paths, "--jobs", jobs, "--store", store]
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            peak = watched(process)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)}: failed")
        rows.append([jobs, f"{time.perf_counter() - began:.1f}", f"{peak / 1e6:,.0f}"])
    return rows


def main() -> None:
    """Build the inputs, run the measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--ten", action="store_true", help="also measure the large trace repeated ten times"
    )
    parser.add_argument("--call", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.call:
        name, *arguments = options.call
        print({"bare": bare, "whole": whole}[name](*arguments))
        return
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        inputs = [(OWLV2, 10), (LARGE, 1)]
        if options.ten:
            inputs.append((LARGE, 10))
        rows = []
        for sample, count in inputs:
            trace = directory / f"{sample.name.partition('.')[0]} ×{count}.json"
            times(sample, count, trace)
            compressed = trace.with_name(f"{trace.name}.gz")
            with trace.open("rb") as plain, gzip.open(compressed, "wb", compresslevel=6) as packed:
                shutil.copyfileobj(plain, packed, 1 << 20)
            rows += compare(trace, compressed, options.repeat, directory)
            trace.unlink()
            compressed.unlink()
        printed = results()
        printed.print(table(COLUMNS, rows, right=COLUMNS[1:]))
        printed.print(table(MANY_COLUMNS, many(directory), right=MANY_COLUMNS))


if __name__ == "__main__":
    main()
