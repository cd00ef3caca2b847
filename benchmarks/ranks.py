"""Measures adding runs of many ranks: `python benchmarks/ranks.py [--ranks N ...]`.

The ranks train in steps of an all-reduce and 40 kernels; rank 1 computes 0.8 ms more in each step.
Each run is added by a new process into a new store. `CPU, × one rank` is the processor time divided
by that of adding one rank, and by the number of ranks: less than 1 if ranks share what a process
and a statement cost. `RSS, × one rank` is the peak RSS of the process tree divided by that of one
rank. The script checks no limits, because times depend on the machine.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)  # otherwise `import ingest` finds benchmarks/ingest.py

from benchmarks.processes import Measured, measure  # noqa: E402
from ingest.cli.terminal import results, table  # noqa: E402
from tests.builders.collectives import computing, loop, recorded, shifted  # noqa: E402

RANKS = (1, 64, 256, 512)
CALLS, KERNELS = 32, 40
HOST_RANKS = 8
COMPUTE_US, MORE_US = 1_000, 800
COMMAND = Path(sys.executable).with_name("ingest")
COLUMNS = ("ranks", "events", "s", "CPU s", "CPU, × one rank", "RSS MB", "RSS, × one rank")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS)
    rows = []
    one: Measured | None = None
    for ranks in sorted({1, *parser.parse_args().ranks}):
        with tempfile.TemporaryDirectory() as directory:
            run = Path(directory) / "run"
            events = write(run, ranks)
            found = measure([COMMAND, "add", run, "--store", Path(directory) / "store"])
        one = one or found
        rows.append(
            (
                f"{ranks}",
                f"{events:,}",
                f"{found.seconds:.1f}",
                f"{found.processor_seconds:.1f}",
                f"{found.processor_seconds / one.processor_seconds / ranks:.2f}",
                f"{found.peak_bytes / 1e6:.0f}",
                f"{found.peak_bytes / one.peak_bytes:.2f}",
            )
        )
    results().print(table(COLUMNS, rows, right=COLUMNS))


def write(directory: Path, ranks: int) -> int:
    """Write the traces of a job. Return the number of their events."""
    directory.mkdir()
    calls = loop(ranks, CALLS, lambda rank, _: COMPUTE_US + MORE_US * (rank == 1))
    clocks = {rank: shifted(100 * (rank // HOST_RANKS)) for rank in range(ranks)}
    hosts = {rank: f"host{rank // HOST_RANKS}" for rank in range(ranks)}
    run = computing(recorded(calls, clocks, hosts=hosts), lambda _: KERNELS)
    for name, content in run.files.items():
        (directory / name).write_text(json.dumps(content))
    return sum(len(content["traceEvents"]) for content in run.files.values())


if __name__ == "__main__":
    main()
