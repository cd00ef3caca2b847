"""Measures a store on object storage: `python benchmarks/lake.py --runs 1000`.

Adds traces to a store in a directory and to one on a server with the interface of S3 (moto, in a
process of its own), and asks both the same questions. With `--simulated N`, measures a store of N
runs whose rows are copies of those of a few runs. Counts the requests to the server. Its answers
take some 5 ms each, and it uses the same processors.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)

from benchmarks.processes import measure  # noqa: E402
from ingest.cli.terminal import results, table  # noqa: E402
from ingest.sql import literal  # noqa: E402
from ingest.store.lake.commits import Change, change_runs, change_table  # noqa: E402
from ingest.store.lake.head import LakeFile, paths_to_read  # noqa: E402
from ingest.store.lake.lake import Lake  # noqa: E402
from ingest.store.lake.schema import DAY, RUNS  # noqa: E402
from ingest.store.lake.uploads import uploaded, write  # noqa: E402

COMMAND = Path(sys.executable).with_name("ingest")
BUCKET = "benchmark"
JOBS = 2
ASK = """
import statistics, sys, time, ingest
connection = ingest.connect(sys.argv[1])
def ask(query):
    began = time.perf_counter()
    connection.execute(query).fetchall()
    return time.perf_counter() - began
taken = [ask(f"FROM op_ranking WHERE run_id = '{run}'") for run in sys.argv[2:]]
print(taken[0], statistics.median(taken[1:]))
"""
# Tables of the simulated store, besides `runs`: those that the measured questions read.
SIMULATED = ("sources", "ops", "step_metrics", "device_time", "run_metrics")
SIMULATED_BATCH = 1_000
MODELS = 50
COPIES = """
    SELECT of_run.* REPLACE (copy.run_id AS run_id, $1 AS batch {labels})
    FROM {table} AS of_run INNER JOIN copy ON of_run.run_id = copy.original
    ORDER BY run_id
"""
LABELS = """,
    ingested_at + to_minutes(number) AS ingested_at,
    'model-' || number % {models} AS model,
    list_transform(run_overview, lambda row: struct_update(
        row,
        model := 'model-' || number % {models},
        ingested_at := row.ingested_at + to_minutes(number)
    )) AS run_overview
"""


class Server:
    """A server with the interface of S3. `requests` is the number of requests until now."""

    def __init__(self, log: Path) -> None:
        self._log = log

    @property
    def requests(self) -> int:
        """The number of requests until now."""
        return self._log.read_bytes().count(b" HTTP/1.1")


@contextmanager
def served(directory: Path) -> Iterator[Server]:
    """Start a server, and let all programs use it for S3."""
    log = directory / "requests.log"
    command = [Path(sys.executable).with_name("moto_server"), "-H", "127.0.0.1", "-p", "0"]
    with log.open("w") as opened, subprocess.Popen(command, stderr=opened) as process:
        while b"Running on" not in log.read_bytes():
            time.sleep(0.1)
        address = log.read_text().partition("Running on ")[2].split()[0]
        os.environ |= {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": address,
        }
        import s3fs

        s3fs.S3FileSystem().mkdir(BUCKET)
        try:
            yield Server(log)
        finally:
            process.kill()


def write_traces(directory: Path, runs: int) -> None:
    """Write small traces, each with other durations."""
    directory.mkdir()
    for number in range(runs):
        events = [
            {
                "ph": "X",
                "cat": "cpu_op" if index % 2 else "kernel",
                "name": f"aten::op{index % 7}" if index % 2 else f"kernel{index % 5}",
                "pid": index % 2,
                "tid": 7,
                "ts": 10 * index,
                "dur": 1 + (index + number) % 9,
                "args": {} if index % 2 else {"device": 0, "stream": 7},
            }
            for index in range(200)
        ]
        trace = directory / f"run{number:04}.json"
        trace.write_text(json.dumps({"traceEvents": events, "number": number}))


def ask(place: str, run_ids: list[str], server: Server) -> list[str]:
    """Return what the first and the next questions of single runs take, and their requests."""
    before = server.requests
    printed = measure([sys.executable, "-c", ASK, place, *run_ids]).output
    first, next_ones = map(float, printed.split())
    requests = (server.requests - before) / len(run_ids)
    return [f"{first:.2f}", f"{next_ones:.3f}", f"{requests:.0f}"]


def row(place: str, what: str, server: Server, *arguments: object, times: int = 3) -> list[str]:
    """Return the row for a command: median of its time, peak memory and requests."""
    before = server.requests
    taken = [measure([COMMAND, *arguments, "--store", place]) for _ in range(times)]
    return [
        what,
        f"{statistics.median(each.seconds for each in taken):.2f}",
        f"{max(each.peak_bytes for each in taken) / 1e6:.0f}",
        f"{(server.requests - before) / times:.0f}",
    ]


def questions(place: str, server: Server) -> Iterator[list[str]]:
    """Measure commands, each as a complete process."""
    run_id = Lake(place).run_ids()[0] if "://" in place else ""
    trends = "SELECT * FROM trend WHERE series = 'model-7'"  # of a model, as the page asks
    yield row(place, "list", server, "list")
    yield row(place, "trend of a model", server, "sql", trends)
    if run_id:
        yield row(place, "top of a run", server, "top", run_id)


def measure_runs(directory: Path, runs: int, server: Server) -> None:
    """Measure adding of traces, and questions, on a directory and on the server."""
    write_traces(directory / "traces", runs)
    traces = sorted((directory / "traces").iterdir())
    for place in (str(directory / "store"), f"s3://{BUCKET}/runs"):
        rows = [row(place, "add", server, "add", *traces, "--jobs", str(JOBS), times=1)]
        rows += questions(place, server)
        if "://" in place:
            ids = Lake(place).run_ids()[:10]
            results().print(table(("first s", "next s", "requests"), [ask(place, ids, server)]))
            rows.append(row(place, "compact", server, "compact", times=1))
            rows += questions(place, server)
            results().print(table(("first s", "next s", "requests"), [ask(place, ids, server)]))
        results().print(f"{runs:,} runs in {place}")
        results().print(table(("command", "s", "peak MB", "requests"), rows))


def simulate(url: str, runs: int, directory: Path) -> None:
    """Add copies of the runs of a store to it, until there are so many."""
    lake = Lake(url)
    place, files, originals = lake.place, lake.snapshot.files, lake.run_ids()
    with duckdb.connect() as connection:
        place.register(connection)
        tables = [name for name in (*SIMULATED, RUNS) if files(name)]
        for name in tables:
            paths = paths_to_read(place, name, files(name))
            read = f"FROM read_parquet({paths!r}, hive_partitioning = false)"
            connection.execute(f"CREATE TABLE {name} AS SELECT * {read}")
        for begin in range(0, runs, SIMULATED_BATCH):
            batch = uuid.uuid4().hex
            end = min(runs, begin + SIMULATED_BATCH)
            connection.execute(
                f"CREATE OR REPLACE TABLE copy AS SELECT range AS number, "
                "'copy-' || md5(range::VARCHAR)[:16] AS run_id, "
                f"{literal(originals)}[1 + range % {len(originals)}] AS original "
                f"FROM range({begin}, {end})"
            )
            day = f"2026-{1 + 12 * begin // runs:02}-{1 + begin // SIMULATED_BATCH % 28:02}"
            added: dict[str, LakeFile] = {}
            for name in tables:
                target = directory / f"{name}.parquet"
                labels = LABELS.format(models=MODELS) if name == RUNS else ""
                query = COPIES.format(table=name, labels=labels)
                if write(connection, query, target, [batch]):
                    added[name] = uploaded(place, name, target, f"{DAY}={day}/{batch}")
            of_runs = added.pop(RUNS)
            versions = {name: change_table(place, name, [file]) for name, file in added.items()}
            change_runs(
                place,
                lambda head, of_runs=of_runs, versions=versions: Change(
                    head.state.with_versions(versions), [of_runs]
                ),
            )


def measure_simulated(directory: Path, runs: int, server: Server) -> None:
    """Measure questions to many simulated runs, before and after a compaction."""
    url = f"s3://{BUCKET}/simulated"
    write_traces(directory / "originals", 5)
    measure([COMMAND, "add", *(directory / "originals").iterdir(), "--store", url])
    simulate(url, runs, directory)
    rows = [*questions(url, server), row(url, "compact", server, "compact", times=1)]
    rows += questions(url, server)
    results().print(f"{runs:,} simulated runs")
    results().print(table(("command", "s", "peak MB", "requests"), rows))


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--simulated", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as path, served(Path(path)) as server:
        if options.runs:
            measure_runs(Path(path), options.runs, server)
        if options.simulated:
            measure_simulated(Path(path), options.simulated, server)


if __name__ == "__main__":
    main()
