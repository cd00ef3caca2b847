"""Measures the reading of memory snapshots: `python benchmarks/memory.py [--events N] [--shared]`.

Builds a snapshot of N events in the form that torch writes: each allocation has its own list of
frames, which are shared objects, and the two events of a free share one list. With `--shared`, the
lists themselves are shared. Then measures in separate processes: Python's unpickler, which keeps
all objects in memory; the reader alone; and the complete ingest. Times are measured inside the
process, the fastest of `--repeat`. Peak RSS includes child processes. To get the column `× file`,
the script subtracts the RSS of an idle process from the peak, and divides by the size of the file.
It checks no limits, because times depend on the machine.
"""

import argparse
import pickle
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)  # otherwise `import ingest` finds benchmarks/ingest.py

import ingest  # noqa: E402
from benchmarks.processes import measure  # noqa: E402
from ingest.cli.terminal import results, table  # noqa: E402
from ingest.formats.snapshot.reader import MemorySnapshot  # noqa: E402
from ingest.formats.stacks import Stacks  # noqa: E402

STACKS, DEPTH, FRAMES = 200, 12, 500
SEGMENT_BYTES = 20 << 20
SIZES = (512, 2048, 4096, 65_536, 300_000, 2_097_152, 16_777_216)
LIVE = 2000  # maximum number of live allocations
START_US = 1_750_000_000_000_000
COLUMNS = ("what", "MB of pickle", "events", "s", "MB/s", "peak RSS MB", "× file")


# Functions that run in a separate process, which prints their seconds.


def nothing(path: str, store: str) -> None:
    """Read nothing, to measure a process that has only imported the modules."""


def unpickle(path: str, store: str) -> None:
    """Read the file with Python's unpickler in C."""
    with open(path, "rb") as file:
        pickle.load(file)


def read(path: str, store: str) -> None:
    """Read the file and discard the batches."""
    for _ in MemorySnapshot(Path(path), Stacks()).events():
        pass


def add(path: str, store: str) -> None:
    """Ingest the file into a new store."""
    ingest.Store(store).add(path)


def make(path: str, events: str, shared: str) -> None:
    """Write a snapshot of this number of events."""
    with open(path, "wb") as file:
        pickle.dump(snapshot(int(events), shared == "shared"), file, 4)


CALLS = {call.__name__: call for call in (nothing, unpickle, read, add, make)}


def snapshot(count: int, is_shared: bool) -> dict[str, Any]:
    """Build a snapshot. Replaying its actions yields the active blocks of its segments."""
    draw = random.Random(0)
    frames = [
        {"name": f"function_{n}", "filename": f"/home/user/model/file_{n % 40}.py", "line": n}
        for n in range(FRAMES)
    ]
    stacks = [draw.sample(frames, draw.randint(DEPTH - 4, DEPTH + 4)) for _ in range(STACKS)]
    trace: list[dict[str, Any]] = []
    live: list[tuple[int, int, int, list[Any]]] = []
    free: dict[int, list[int]] = {size: [] for size in SIZES}
    used = 0x7F00_0000_0000

    def event(action: str, address: int, size: int, stack: list[Any]) -> None:
        trace.append(
            {
                "action": action, "addr": address, "size": size, "stream": 0,
                "time_us": START_US + len(trace) * 7,
                "compile_context": "".join(["N", "/A"]),  # always a new string, as in torch
                "user_metadata": "", "frames": stack,
            }
        )  # fmt: skip

    while len(trace) < count:
        if len(live) < LIVE and (len(live) < LIVE // 2 or draw.random() < 0.5):
            rounded = draw.choice(SIZES)
            if not free[rounded]:
                free[rounded].append(used)
                used += rounded
            stack = draw.choice(stacks)
            live.append((free[rounded].pop(), rounded, rounded - draw.randrange(128), stack))
            event("alloc", live[-1][0], live[-1][2], stack if is_shared else list(stack))
        elif count - len(trace) >= 2:
            index = draw.randrange(len(live))
            live[index], live[-1] = live[-1], live[index]
            address, rounded, size, _ = live.pop()
            stack = draw.choice(stacks)
            stack = stack if is_shared else list(stack)
            event("free_requested", address, size, stack)
            event("free_completed", address, size, stack)
            free[rounded].append(address)
        else:
            break
    return {
        "segments": segments(live, free),
        "device_traces": [trace],
        "allocator_settings": {"expandable_segments": False, "max_split_size": -1},
        "external_annotations": [],
    }


def segments(live: list[Any], free: dict[int, list[int]]) -> list[dict[str, Any]]:
    """Build segments of adjacent blocks."""
    blocks = {address: (size, requested, stack) for address, size, requested, stack in live}
    blocks |= {address: (size, 0, []) for size, found in free.items() for address in found}
    listed: list[dict[str, Any]] = []
    for address, (size, requested, stack) in sorted(blocks.items()):
        if not listed or listed[-1]["total_size"] + size > SEGMENT_BYTES:
            listed.append(
                {
                    "device": 0, "address": address, "total_size": 0, "allocated_size": 0,
                    "active_size": 0, "requested_size": 0, "stream": 0, "segment_type": "large",
                    "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": [],
                }
            )  # fmt: skip
        segment = listed[-1]
        segment["total_size"] += size
        segment["requested_size"] += requested
        if requested:
            segment["allocated_size"] += size
            segment["active_size"] += size
        segment["blocks"].append(
            {
                "address": address, "size": size, "requested_size": requested,
                "state": "active_allocated" if requested else "inactive", "frames": stack,
            }
        )  # fmt: skip
    return listed


def main() -> None:
    """Build the snapshot, run the measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--shared", action="store_true", help="share the lists of frames")
    parser.add_argument("--only", nargs="+", choices=["unpickle", "read", "add"])
    parser.add_argument("--call", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.call:
        name, *arguments = options.call
        began = time.perf_counter()
        CALLS[name](*arguments)
        print(time.perf_counter() - began)
        return

    def call(*words: str) -> tuple[float, int]:
        """Run a function of this script in a process. Return its seconds and its peak RSS."""
        found = measure([sys.executable, __file__, "--call", *words])
        return float(found.output), found.peak_bytes

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "snapshot.pickle"
        call("make", str(path), str(options.events), "shared" if options.shared else "fresh")
        size = path.stat().st_size
        _, idle = call("nothing", str(path), "")
        rows = []
        for name in options.only or ("unpickle", "read", "add"):
            runs = [
                call(name, str(path), f"{directory}/store{number}")
                for number in range(options.repeat)
            ]
            seconds, peak = min(run[0] for run in runs), max(run[1] for run in runs)
            rows.append(
                [
                    name,
                    f"{size / 1e6:,.0f}",
                    f"{options.events:,}",
                    f"{seconds:.2f}",
                    f"{size / 1e6 / seconds:,.0f}",
                    f"{peak / 1e6:,.0f}",
                    f"{(peak - idle) / size:.2f}",
                ]
            )
        results().print(table(COLUMNS, rows, right=COLUMNS[1:]))


if __name__ == "__main__":
    main()
