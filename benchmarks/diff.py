"""How quick two large runs are compared: `python benchmarks/diff.py [--times 16] [--store DIR]`.

Two traces of TRACE_SAMPLES, an H100's and an MI300X's of one model with Python stacks, each with
its events so many times over, are runs of a store (one that is there already is used again). Each
figure is beside that of the join of both runs' rankings by name, which is what a comparison by
names alone would do. Seconds are the fastest of `--repeat` in a process that has done the same
before, but for the whole command; it judges nothing: figures depend on the machine.
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
sys.path[0] = str(ROOT)  # else a file beside this one is what `import ingest` finds

import ingest  # noqa: E402
from benchmarks.ingest import times  # noqa: E402
from ingest.terminal import results, table  # noqa: E402

TRACES = Path(os.environ.get("TRACE_SAMPLES", ROOT.parent / "shared" / "samples")) / "traces"
PAIR = ("h100_owlv2", "mi300_owlv2")
BY_NAME = """
    SELECT name, any_value(device_ns) FILTER (WHERE run_id = $base) AS base_ns,
        any_value(device_ns) FILTER (WHERE run_id = $other) AS other_ns
    FROM op_ranking WHERE run_id IN ($base, $other) GROUP BY name
"""
MACROS = ("run_diff", "op_diff", "kernel_diff", "module_diff", "alignment", "comparability")


def build(store: ingest.Store, count: int) -> None:
    """Fills an empty store with both traces, `count` times over."""
    for name in PAIR:
        with tempfile.TemporaryDirectory() as directory:
            trace = Path(directory) / f"{name}.json"
            times(TRACES / f"{name}.json.gz", count, trace)
            store.add(trace)


def fastest(action: Callable[[], object], repeat: int) -> float:
    """Seconds that it takes."""
    taken = []
    for _ in range(repeat):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return min(taken)


def main() -> None:
    """Builds, measures, prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--times", type=int, default=16, help="the events of each trace")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--store", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        store = ingest.Store(asked.store or Path(scratch) / "store")
        if not store.run_ids():
            build(store, asked.times)
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
            seconds[what] = fastest(ask, asked.repeat)
        command = [sys.executable, "-m", "ingest", "diff", *ids.values(), "--store", store.path]
        seconds["`ingest diff`, the process"] = fastest(
            lambda: subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True),
            asked.repeat,
        )
    print(" and ".join(f"{events:,}" for _, events in runs), "events")
    first = next(iter(seconds.values()))
    rows = [(what, f"{took:.2f}", f"{took / first:.1f}") for what, took in seconds.items()]
    columns = ("seconds for", "fastest", "× by name")
    results().print(table(columns, rows, right=columns[1:]))


if __name__ == "__main__":
    main()
