"""Measures comparisons of two large runs: `python benchmarks/diff.py [--times 16] [--store DIR]`.

The runs are two traces of TRACE_SAMPLES of the same model with Python stacks, on an H100 and on an
MI300X. The events of each are repeated `--times` times. An existing store is used again. Each time
is compared with the time to join both runs' rankings by name, as a comparison by names alone would
do. Times are the fastest of `--repeat`, after one run in the same process, except for the command
`ingest diff`, which is a new process. The script checks no limits, because times depend on the
machine.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)  # otherwise `import ingest` finds benchmarks/ingest.py

import ingest  # noqa: E402
from benchmarks.ingest import repeat_events  # noqa: E402
from ingest.cli.terminal import results, table  # noqa: E402

TRACES = Path(os.environ.get("TRACE_SAMPLES", ROOT.parent / "shared" / "samples")) / "traces"
PAIR = ("h100_owlv2", "mi300_owlv2")
BY_NAME = """
    SELECT name, any_value(device_ns) FILTER (WHERE run_id = $base) AS base_ns,
        any_value(device_ns) FILTER (WHERE run_id = $other) AS other_ns
    FROM op_ranking WHERE run_id IN ($base, $other) GROUP BY name
"""
MACROS = ("run_diff", "op_diff", "kernel_diff", "module_diff", "alignment", "comparability")


def build(store: ingest.Store, count: int) -> None:
    """Add both traces, each with its events `count` times, to an empty store."""
    for name in PAIR:
        with tempfile.TemporaryDirectory() as directory:
            trace = Path(directory) / f"{name}.json"
            repeat_events(TRACES / f"{name}.json.gz", count, trace)
            store.add(trace)


def fastest(action: Callable[[], object], repeat: int) -> float:
    """Return the seconds of the fastest repetition."""
    taken = []
    for _ in range(repeat):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return min(taken)


def main() -> None:
    """Build the store, run the measurements and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument(
        "--times", type=int, default=16, help="repetitions of the events of each trace"
    )
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--store", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        store = ingest.Store(args.store or Path(scratch) / "store")
        if not store.run_ids():
            build(store, args.times)
        connection = ingest.connect(store.path)
        runs = connection.execute(
            "SELECT run_id, events FROM run_overview ORDER BY name"
        ).fetchall()
        ids = {"base": runs[0][0], "other": runs[1][0]}
        queries = {"rankings joined by name": BY_NAME} | {
            name: f"FROM {name}($base, $other)" for name in MACROS
        }
        seconds = {}
        for what, query in queries.items():

            def ask(query: str = query) -> object:
                return connection.execute(query, ids).fetchall()

            ask()
            seconds[what] = fastest(ask, args.repeat)
        command = [sys.executable, "-m", "ingest", "diff", *ids.values(), "--store", store.path]
        seconds["`ingest diff`, the process"] = fastest(
            lambda: subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True),
            args.repeat,
        )
    print(" and ".join(f"{events:,}" for _, events in runs), "events")
    first = next(iter(seconds.values()))
    rows = [(what, f"{took:.2f}", f"{took / first:.1f}") for what, took in seconds.items()]
    columns = ("seconds for", "fastest", "× by name")
    results().print(table(columns, rows, right=columns[1:]))


if __name__ == "__main__":
    main()
