"""Checks that a bad file does not affect others: `python benchmarks/fuzz_directories.py [SECONDS]`.

Changes real files of each format at random, and adds each beside an intact trace. Prints a line for
each violation, with the arguments to reproduce it: `--sample NAME --seed N`, and each sentence that
reports a bug. Exits with 1 if there is a violation.
"""

import argparse
import gzip
import json
import os
import pickle
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # otherwise `import ingest` finds benchmarks/ingest.py


from ingest.conversion import AddOptions, write_run  # noqa: E402
from ingest.errors import ProfileError  # noqa: E402
from ingest.formats.failure import REPORT  # noqa: E402
from ingest.inputs import read_run_input  # noqa: E402

INTACT = "traces/cpu_only.json.gz"
INTACT_ROWS = 16
SAMPLES = (
    "traces/mi300_torch_compile_triton.json.gz",
    "traces/alexnet_cuda_sync.json.gz",
    "traces/cpu_only.json.gz",
    "traces/memory_timeline.raw.json.gz",
    "megengine/prof_onlywait.json",
    "megengine/prof_fast.json",
    "snapshots/cpp_pickler_protocol2.pickle",
    "snapshots/trimmed.pickle",
    "compile/flux_compiled_b2-rank0.compile.log.gz",
    "run.json",
    "nodes.et.json",
)
ODD: tuple[Any, ...] = (
    *(None, True, "", "x", [], {}, [[]], [{}], {"": None}, "\x00", "\ud800", "名", "-1", "1e400"),
    *(0, -1, 1, 0.5, 1 << 31, 1 << 53, (1 << 63) - 1, 1 << 63, -(1 << 63), 1 << 64, 1 << 200),
    *(1e308, -1e308, 5e-324, float("inf"), float("nan"), "y" * 100_000, list(range(5_000))),
)
RUN = {
    "name": "mine", "model": "m", "world_size": 2, "tags": {"k": "v"}, "rank": 0, "batch": 1,
    "started_at": "2026-01-02T03:04:05Z", "warmup_steps": 1, "wall_time_ns": 5,
    "wall_times_ns": [1, 2, 3], "sweep": {"variant": "eager", "times_ns": [1, 2]},
    "memory": {"peak_bytes": 5}, "device_time": {"0": 5},
    "compilation": {"compilations": [{"compile_id": "0/0", "seconds": 2.5, "graph_breaks": 1}]},
}  # fmt: skip
NODES = {
    "schema": "1.1.1-chakra.0.0.4", "pid": 7, "nodes": [
        {
            "id": number, "name": f"aten::op{number}", "ctrl_deps": max(number - 1, 1),
            "inputs": {"values": [1, 2.5], "shapes": [[], []], "types": ["Int", "Float"]},
            "outputs": {"values": [], "shapes": [], "types": []},
            "attrs": [
                {"name": "rf_id", "type": "uint64", "value": number},
                {"name": "tid", "type": "uint64", "value": 1},
                {"name": "op_schema", "type": "string", "value": "aten::op()"},
            ],
        }
        for number in range(1, 9)
    ],
}  # fmt: skip


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return each list or object in a value, with each of its indices or keys."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        around = waiting.pop()
        keys = around if isinstance(around, dict) else range(len(around))
        found += [(around, key) for key in keys]
        waiting += [around[key] for key in keys if isinstance(around[key], list | dict)]
    return found


def change(value: Any, rng: random.Random) -> None:
    """Change up to four places of a value: give them odd values, or those of other places."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not (found := places(value)):
            return
        around, key = rng.choice(found)
        if rng.random() < 0.5:  # the same key of all objects
            chosen = [(other, name) for other, name in found if name == key]
        else:
            chosen = [(around, key)]
        other, name = rng.choice(found)
        new = deepcopy(rng.choice((rng.choice(ODD), rng.choice(ODD), other[name])))
        what = rng.choice(("set", "set", "set", "delete", "repeat"))
        for around, key in chosen:
            if what == "set" or isinstance(around, dict):
                around[key] = deepcopy(new)
            elif what == "repeat":
                around += deepcopy(around[: max(1, 1_000 // max(len(around), 1))])
            elif key < len(around):
                del around[key]


def damaged(name: str, content: bytes, rng: random.Random) -> bytes:
    """Return the content of a sample with changes."""
    if name.endswith(".pickle"):
        value = pickle.loads(content)
        change(value, rng)
        return pickle.dumps(value, protocol=rng.choice((2, 4)))
    if ".log" in name:
        lines = content.split(b"\n")
        for _ in range(rng.choice((1, 3, 10))):
            number = rng.randrange(len(lines))
            head, brace, text = lines[number].partition(b"{")
            try:
                value = json.loads(brace + text)
            except ValueError:
                continue
            change(value, rng)
            lines[number] = head + json.dumps(value).encode()
        return b"\n".join(lines)
    value = json.loads(content)
    change(value, rng)
    return json.dumps(value).encode()


def violations(directory: Path, say: Callable[[str], None]) -> list[str]:
    """Return a line for each error in how the run in `directory` is added."""
    try:
        run = read_run_input(directory / "run")
        tables = directory / "tables"
        tables.mkdir()
        write_run(run, AddOptions(), tables, directory / "row.parquet", threads=1)
    except ProfileError as error:
        return [f"refused: {error}"]
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    for source in run.sources:
        for message in source.warnings:
            if REPORT in message:
                say(message)
    intact = next(source for source in run.sources if source.path.name == "intact.json.gz")
    if (intact.status, intact.complete) != ("ok", INTACT_ROWS):
        return [f"the intact trace: {intact.status}, {intact.complete} rows, {intact.warnings}"]
    return []


def main() -> None:
    """Change and add files until the time is up, then print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", nargs="?", type=float, default=60)
    parser.add_argument("--sample", help="change only this sample")
    parser.add_argument("--seed", type=int, help="repeat only the change of this seed")
    args = parser.parse_args()
    root = Path(os.environ.get("TRACE_SAMPLES") or ROOT.parent / "shared" / "samples")
    contents = {"run.json": json.dumps(RUN).encode(), "nodes.et.json": json.dumps(NODES).encode()}
    for name in SAMPLES:
        if name not in contents:
            content = (root / name).read_bytes()
            contents[name] = gzip.decompress(content) if name.endswith(".gz") else content
    names = [args.sample] if args.sample else list(SAMPLES)
    until = time.monotonic() + args.seconds
    tried = failed = 0
    seen: set[str] = set()
    while time.monotonic() < until and not (tried and args.seed is not None):
        name = names[tried % len(names)]
        seed = random.randrange(2**32) if args.seed is None else args.seed
        rng = random.Random(seed)

        def say(message: str) -> None:
            kind = re.sub(r"\d+|\"[^\"]*\"", "…", message.partition(": ")[2])
            if kind not in seen:
                seen.add(kind)
                print(f"--sample {name} --seed {seed}: {message}", flush=True)  # noqa: B023

        with tempfile.TemporaryDirectory() as directory:
            run = Path(directory, "run")
            run.mkdir()
            (run / "intact.json.gz").write_bytes((root / INTACT).read_bytes())
            file = run / name.rpartition("/")[2].removesuffix(".gz")
            file.write_bytes(damaged(name, contents[name], rng))
            wrong = violations(Path(directory), say)
        tried, failed = tried + 1, failed + bool(wrong)
        for line in wrong:
            print(f"--sample {name} --seed {seed}: {line}", flush=True)
    print(f"{tried} changed files, {failed} with violations")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
