"""Measures a store of many runs: `python benchmarks/store.py --runs 1000 --store DIR`.

Ingests a few small traces of TRACE_SAMPLES and copies their runs, each with a new name, model, tags
and time, until there are enough. An existing store is used again. Then measures queries, and
commands as complete processes. Prints limits but does not enforce them, because times depend on the
machine. `pages.py` measures the dashboard.
"""

import argparse
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)  # otherwise `import ingest` finds benchmarks/ingest.py

import ingest  # noqa: E402
from ingest import sql  # noqa: E402
from ingest.cli.terminal import results, table  # noqa: E402

TRACES = Path(os.environ.get("TRACE_SAMPLES", ROOT.parent / "shared" / "samples")) / "traces"
SAMPLES = (
    "cpu_only",
    "alexnet_cuda_sync",
    "cupti_counters",
    "mi300_torch_compile_triton",
    "mi210_gpu_only",
    "cpu/flux_eager_min",
    "two_rank",
)
COMMAND = Path(sys.executable).with_name("ingest")
SHOWN = "two_rank"  # the queried run: the largest one
COPIED = """
    COPY (
        SELECT * REPLACE (
            $1 AS name, $2 AS model, ingested_at + to_minutes($3) AS ingested_at,
            map(['batch', 'host'], [$4, $5]) AS tags
        ) FROM read_parquet($6)
    ) TO {target} (FORMAT parquet, COMPRESSION zstd)
"""

Measured = tuple[str, float, list[float]]  # name, limit in seconds, seconds


def build(store: ingest.Store, runs: int) -> None:
    """Add runs until the store has this number of runs."""
    with tempfile.TemporaryDirectory() as directory:
        for sample in SAMPLES:
            files = list(TRACES.glob(f"{sample}.json.gz")) or list(TRACES.glob(f"{sample}_*"))
            run = Path(directory) / Path(sample).name
            run.mkdir()
            for file in files:
                shutil.copy(file, run)
            store.add(run)
    first = [run for run in store.run_ids() if not run.endswith("-copy")]
    with duckdb.connect() as connection:
        for number in range(len(store.run_ids()) - len(first), runs - len(first)):
            _copy(store, connection, first[number % len(first)], number)
    store.refresh()


def _copy(
    store: ingest.Store, connection: duckdb.DuckDBPyConnection, run: str, number: int
) -> None:
    name = f"{run.rpartition('-')[0]}-{number:05}"
    source = store.run_path(run)
    target = store.path / "runs" / sql.schema_version() / f"run_id={name}-copy"
    labelled = ("runs.parquet", "run_overview.parquet")
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(*labelled))
    for file in labelled:
        connection.execute(
            COPIED.format(target=sql.literal(target / file)),
            [
                name,
                f"model-{number % 25}",
                number,
                str(2 ** (number % 6)),
                f"node{number % 40:02}",
                str(source / file),
            ],
        )
    manifest = json.loads((source / "manifest.json").read_text())
    for file in labelled:
        content = (target / file).read_bytes()
        manifest["files"][file] = [len(content), hashlib.sha256(content).hexdigest()]
    (target / "manifest.json").write_text(json.dumps(manifest))


def seconds(action: Callable[[], object], times: int) -> list[float]:
    """Return the seconds of each repetition of the action."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return taken


def measure_queries(store: Path, run: str, times: int) -> Iterator[Measured]:
    """Measure connecting, and queries on an open connection."""
    yield "ingest.connect()", 0.1, seconds(lambda: ingest.connect(store), times)
    connection = ingest.connect(store)
    of_run = f"WHERE run_id = '{run}'"
    queries = {
        "op_ranking of a run": (0.1, f"FROM op_ranking {of_run}"),
        "bubble_causes of a run": (0.1, f"FROM bubble_causes {of_run}"),
        "host_op_ranking of a run": (0.1, f"FROM host_op_ranking {of_run}"),
        "device_time of all runs": (1.0, "FROM device_time"),
        "run_overview of all runs": (1.0, "FROM run_overview"),
        "efficiency_of_steps of a run": (0.5, f"FROM efficiency_of_steps('{run}', NULL, NULL)"),
        "run_efficiency of all runs": (1.0, "FROM run_efficiency"),
    } | {
        f"a name in {name} of all runs": (
            1.0,
            f"SELECT run_id, count(*) FROM {name} WHERE name LIKE '%softmax%' GROUP BY run_id",
        )
        for name in ("ops", "kernels", "events")
    }
    for what, (limit, query) in queries.items():

        def ask(query: str = query) -> object:
            return connection.execute(query).fetchall()

        ask()
        yield what, limit, seconds(ask, times)


def measure_commands(store: Path, run: str, times: int) -> Iterator[Measured]:
    """Measure commands as complete processes."""
    questions = ["FROM advice", "FROM trend"]
    commands = [(["list"], 0.5), (["show", run], 1.0), (["top", run], 1.0)]
    commands.append((["top", "--efficiency", run], 1.5))
    for arguments, limit in [*commands, *((["sql", query], 1.0) for query in questions)]:
        command = [COMMAND, *arguments, "--store", str(store)]

        def call(command: list[str] = command) -> object:
            return subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)

        call()
        yield f"ingest {' '.join(arguments).removesuffix(run)}".strip(), limit, seconds(call, times)


def main() -> None:
    """Build the store, run the measurements and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--times", type=int, default=5, help="repetitions of each measurement")
    args = parser.parse_args()
    store = ingest.Store(args.store)
    build(store, args.runs)
    run = next(run for run in store.run_ids() if run.startswith(SHOWN))
    rows = [
        (what, f"{limit:.1f}", f"{statistics.median(taken):.3f}", f"{min(taken):.3f}")
        for measure in (measure_queries, measure_commands)
        for what, limit, taken in measure(store.path, run, args.times)
    ]
    files = list((store.path / "revisions").rglob("*.parquet"))
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    print(f"{len(store.run_ids()):,} runs, {len(files):,} files, {megabytes:,.0f} MB")
    columns = ("seconds for", "limit", "median", "fastest")
    results().print(table(columns, rows, right=columns[1:]))


if __name__ == "__main__":
    main()
