"""Measures how long it takes to add a small trace: `python benchmarks/add.py [--times N]`.

Measures complete processes, in turn: DuckDB's bare `read_json` of the events into a table in
memory, in a Python process that imports only DuckDB; `ingest --version`, which is the time of the
interpreter and the imports; and `ingest add` into a store with a run, into a new store, and into
the first store of a machine. Prints medians. The script checks no limits, because times depend on
the machine.
"""

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)  # otherwise `import ingest` finds benchmarks/ingest.py

from ingest.cli.terminal import results, table  # noqa: E402

TRACES = Path(os.environ.get("TRACE_SAMPLES", ROOT.parent / "shared" / "samples")) / "traces"
SAMPLES = ("cpu_only", "alexnet_cuda_sync", "mi210_gpu_only", "cupti_counters")  # up to 1 MB
COMMAND = Path(sys.executable).with_name("ingest")
BARE = """
import duckdb, sys
duckdb.execute(
    "CREATE TABLE events AS FROM read_json($1, format = 'array', columns = {ph: 'VARCHAR', "
    "cat: 'VARCHAR', name: 'VARCHAR', pid: 'VARCHAR', tid: 'VARCHAR', id: 'VARCHAR', "
    "ts: 'DOUBLE', dur: 'DOUBLE', args: 'JSON'})", [sys.argv[1]])
"""
COLUMNS = (
    "input", "KB of JSON", "bare parse", "imports", "add", "× bare", "new store", "+", "new machine"
)  # fmt: skip


def seconds(command: Sequence[object], cache: Path) -> float:
    """Return the seconds of a process that caches the template of empty stores in `cache`."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # otherwise each process compiles its modules
    began = time.perf_counter()
    subprocess.run(command, check=True, env=environment, cwd=cache, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def round_of(trace: Path, array: Path, scratch: Path) -> dict[str, float]:
    """Measure each process once. `array` is a file with only the events of the trace."""
    cache, other = scratch / "cache", TRACES / "mi300_torch_compile_triton.json.gz"
    taken = {
        "bare parse": seconds([sys.executable, "-c", BARE, array], cache),
        "imports": seconds([COMMAND, "--version"], cache),
    }
    for what in ("new machine", "new store", "add"):
        store = scratch / "store"
        shutil.rmtree(store, ignore_errors=True)
        if what == "new machine":
            shutil.rmtree(cache)
            cache.mkdir()
        if what == "add":
            seconds([COMMAND, "add", other, "--store", store], cache)
        taken[what] = seconds([COMMAND, "add", trace, "--store", store], cache)
    return taken


def row(name: str, size: int, median: Mapping[str, float]) -> list[str]:
    """Return the row of a trace."""
    return [
        name,
        f"{size / 1e3:,.0f}",
        f"{median['bare parse']:.2f}",
        f"{median['imports']:.2f}",
        f"{median['add']:.2f}",
        f"{median['add'] / median['bare parse']:.1f}",
        f"{median['new store']:.2f}",
        f"{median['new store'] - median['add']:.2f}",
        f"{median['new machine']:.2f}",
    ]


def main() -> None:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--times", type=int, default=5, help="repetitions of each measurement")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        (scratch / "cache").mkdir()
        for name in SAMPLES:
            trace, array = TRACES / f"{name}.json.gz", scratch / "array.json"
            text = gzip.decompress(trace.read_bytes())
            array.write_text(json.dumps(json.loads(text)["traceEvents"]))
            round_of(trace, array, scratch)
            rounds = [round_of(trace, array, scratch) for _ in range(args.times)]
            median = {what: statistics.median(one[what] for one in rounds) for what in rounds[0]}
            rows.append(row(name, len(text), median))
    results().print(table(COLUMNS, rows, right=COLUMNS[1:]))


if __name__ == "__main__":
    main()
