"""Damages real traces at random and checks what is read: `python benchmarks/fuzz.py [SECONDS]`.

Prints a line for each violation, with the arguments that repeat it: `--sample NAME --seed N`.
"""

import argparse
import gzip
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import duckdb

ROOT = Path(__file__).parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # else this file itself is what `import ingest` finds


from ingest.errors import ProfileError  # noqa: E402
from ingest.formats import io  # noqa: E402
from ingest.formats.kineto.load import load  # noqa: E402
from ingest.formats.source import Source  # noqa: E402
from ingest.formats.staging import Staging  # noqa: E402
from ingest.pipeline.build import prepare  # noqa: E402

SAMPLES = (
    "traces/cpu_only.json.gz",
    "traces/mi300_torch_compile_triton.json.gz",
    "traces/alexnet_cuda_sync.json.gz",
    "malformed/misc_escape.json",
    "malformed/misc_badmeta.json",
    "malformed/misc_label_3.json",
    "malformed/misc_pyexport.json",
    "malformed/misc_short.json",
)
SIGNS = b'{}[],:"\\\0\n 0-\xff'
DECODER = json.JSONDecoder(strict=False, parse_float=Decimal)

Identity = tuple[str, str, str, str]


class Sample:
    """A real trace, inflated, with the place and the identity of each event in it."""

    def __init__(self, path: Path) -> None:
        recorded = path.read_bytes()
        self.content = gzip.decompress(recorded) if path.suffix == ".gz" else recorded
        self.events: list[tuple[int, int, Identity]] = []
        text = self.content.decode("latin-1")  # a byte a character
        position = text.index("[", text.index('"traceEvents"')) + 1
        while (position := text.find("{", position)) >= 0:
            try:
                event, end = DECODER.raw_decode(text, position)
            except ValueError:  # as torch wrote it
                position += 1
                continue
            if "ph" in event and "name" in event:
                self.events.append((position, end, identity(event)))
            position = end


def identity(event: dict[str, Any]) -> Identity:
    """What tells an event from others: phase, name, thread, time in ns."""
    ts = Decimal(event["ts"]) * 1000 if "ts" in event else None
    time_ns = "" if ts is None else str(int(ts.to_integral_value(ROUND_HALF_UP)))
    name = str(event["name"]).encode("latin-1", "replace").decode("utf-8", "replace")
    return str(event["ph"]), name, str(event.get("tid", "")), time_ns


def damaged(content: bytes, chance: random.Random) -> tuple[bytes, int, int]:
    """The content with one damage, and which bytes of the original it took the place of."""
    start = chance.randrange(len(content) + 1)
    length = chance.choice((0, 1, 1, 2, 3, 10, 100, 1000, 10_000, len(content)))
    end = min(start + length, len(content))
    slice_start = chance.randrange(len(content))
    new = chance.choice(
        (
            b"",
            bytes(chance.choices(SIGNS, k=chance.randrange(1, 8))),
            bytes(chance.randrange(256) for _ in range(end - start if length < 1000 else 9)),
            content[slice_start : slice_start + chance.choice((1, 10, 100, 1000))],
        )
    )
    return content[:start] + new + content[end:], start, end


def violations(
    sample: Sample, content: bytes, start: int, end: int, directory: Path, chance: random.Random
) -> list[str]:
    """What is wrong with the reading of `content`, the sample but for bytes `start` to `end`.

    It is read compressed or not, and in blocks of some size, as `chance` has it.
    """
    path = directory / "damaged.json"
    path.write_bytes(gzip.compress(content, 1) if chance.random() < 0.2 else content)
    io.BLOCK_BYTES = chance.choice((1 << 10, 10_000, 4 << 20))
    untouched = Counter(
        event for first, last, event in sample.events if last <= start or first >= end
    )
    source = Source(0, path, "kineto", len(content), "")
    with duckdb.connect(config={"memory_limit": "512MB", "threads": 1}) as connection:
        prepare(connection)
        try:
            load(source, Staging(connection), lambda _: None)
        except ProfileError as error:
            clear = str(error).startswith(f"{path}: ") and "\n" not in str(error)
            may_be_refused = start < sample.events[0][0] or not untouched  # its head, or all of it
            return [] if clear and may_be_refused else [f"refused: {error}"]
        except Exception as error:
            return [f"{type(error).__name__}: {error}"]
        rows = connection.execute(
            "SELECT phase, name, coalesce(tid, ''), coalesce(relative_ns::VARCHAR, ''), "
            "side IS NOT NULL FROM staged"
        ).fetchall()
    found = []
    complete = sum(is_complete for *_, is_complete in rows)
    other = sum(source.other.values())
    if (complete, len(rows) - complete) != (source.complete, other):
        found.append(f"{len(rows)} rows, counted as {source.complete} + {other}")
    if source.events != len(rows) + sum(source.dropped.values()):
        found.append(f"{source.events} events, but {len(rows)} rows and {source.dropped} dropped")
    if lost := untouched - Counter((p, n, t, ns) for p, n, t, ns, _ in rows):
        found.append(f"{lost.total()} untouched events lost, such as {next(iter(lost))}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", nargs="?", type=float, default=60)
    parser.add_argument("--sample", help="only this one")
    parser.add_argument("--seed", type=int, help="only this damage")
    said = parser.parse_args()
    root = Path(os.environ.get("TRACE_SAMPLES") or ROOT.parent / "shared" / "samples")
    names = [said.sample] if said.sample else SAMPLES
    samples = {name: Sample(root / name) for name in names}
    until = time.monotonic() + said.seconds
    tried = failed = 0
    with tempfile.TemporaryDirectory() as directory:
        while time.monotonic() < until and not (tried and said.seed is not None):
            name = random.choice(names)
            seed = random.randrange(2**32) if said.seed is None else said.seed
            chance = random.Random(seed)
            content, start, end = damaged(samples[name].content, chance)
            wrong = violations(samples[name], content, start, end, Path(directory), chance)
            tried, failed = tried + 1, failed + bool(wrong)
            for line in wrong:
                print(f"--sample {name} --seed {seed}: {line}")
    print(f"{tried} damaged files, {failed} read wrongly")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
