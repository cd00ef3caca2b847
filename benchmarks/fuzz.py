"""Checks that damaged traces are read correctly: `python benchmarks/fuzz.py [SECONDS]`.

Damages real traces at random. Prints a line for each violation, with the arguments to reproduce it:
`--sample NAME --seed N`. Exits with 1 if there is a violation.
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

ROOT = Path(__file__).parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # otherwise `import ingest` finds benchmarks/ingest.py


from ingest.conversion.scratch import open_scratch  # noqa: E402
from ingest.errors import ProfileError  # noqa: E402
from ingest.formats import io  # noqa: E402
from ingest.formats.kineto.load import load  # noqa: E402
from ingest.formats.source import Source  # noqa: E402
from ingest.formats.staging import Staging  # noqa: E402

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
JSON_BYTES = b'{}[],:"\\\0\n 0-\xff'
DECODER = json.JSONDecoder(strict=False, parse_float=Decimal)

Identity = tuple[str, str, str, str]


class Sample:
    """A real trace, uncompressed, with the position and identity of each event."""

    def __init__(self, path: Path) -> None:
        recorded = path.read_bytes()
        self.content = gzip.decompress(recorded) if path.suffix == ".gz" else recorded
        self.events: list[tuple[int, int, Identity]] = []
        text = self.content.decode("latin-1")  # one byte per character
        position = text.index("[", text.index('"traceEvents"')) + 1
        while (position := text.find("{", position)) >= 0:
            try:
                event, end = DECODER.raw_decode(text, position)
            except ValueError:  # torch wrote invalid JSON here
                position += 1
                continue
            if "ph" in event and "name" in event:
                self.events.append((position, end, identity(event)))
            position = end


def identity(event: dict[str, Any]) -> Identity:
    """Return the identity of an event: phase, name, thread, time in ns."""
    ts = Decimal(event["ts"]) * 1000 if "ts" in event else None
    time_ns = "" if ts is None else str(int(ts.to_integral_value(ROUND_HALF_UP)))
    name = str(event["name"]).encode("latin-1", "replace").decode("utf-8", "replace")
    return str(event["ph"]), name, str(event.get("tid", "")), time_ns


def damage_at_random(content: bytes, rng: random.Random) -> tuple[bytes, int, int]:
    """Damage the content in one place. Return it with the start and end of the replaced bytes."""
    start = rng.randrange(len(content) + 1)
    length = rng.choice((0, 1, 1, 2, 3, 10, 100, 1000, 10_000, len(content)))
    end = min(start + length, len(content))
    slice_start = rng.randrange(len(content))
    new = rng.choice(
        (
            b"",
            bytes(rng.choices(JSON_BYTES, k=rng.randrange(1, 8))),
            bytes(rng.randrange(256) for _ in range(end - start if length < 1000 else 9)),
            content[slice_start : slice_start + rng.choice((1, 10, 100, 1000))],
        )
    )
    return content[:start] + new + content[end:], start, end


def violations(
    sample: Sample, content: bytes, start: int, end: int, directory: Path, rng: random.Random
) -> list[str]:
    """Return a line for each error in how `content` is read.

    `content` differs from the sample in the bytes from `start` to `end`. `rng` decides whether to
    compress the file, and chooses the size of the blocks that are read.
    """
    path = directory / "damaged.json"
    path.write_bytes(gzip.compress(content, 1) if rng.random() < 0.2 else content)
    io.BLOCK_BYTES = rng.choice((1 << 10, 10_000, 4 << 20))
    untouched = Counter(
        event for first, last, event in sample.events if last <= start or first >= end
    )
    source = Source(0, path, "kineto", len(content), "")
    with (
        tempfile.TemporaryDirectory() as scratch,
        open_scratch(Path(scratch) / "scratch", memory_limit="512MB", threads=1) as connection,
    ):
        try:
            load(source, Staging(connection, [source]), lambda _: None)
        except ProfileError as error:
            clear = str(error).startswith(f"{path}: ") and "\n" not in str(error)
            # A file may be refused if its header or all of it is damaged.
            may_be_refused = start < sample.events[0][0] or not untouched
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
    """Damage and read traces until the time is up, then print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", nargs="?", type=float, default=60)
    parser.add_argument("--sample", help="damage only this sample")
    parser.add_argument("--seed", type=int, help="repeat only the damage of this seed")
    args = parser.parse_args()
    root = Path(os.environ.get("TRACE_SAMPLES") or ROOT.parent / "shared" / "samples")
    names = [args.sample] if args.sample else SAMPLES
    samples = {name: Sample(root / name) for name in names}
    until = time.monotonic() + args.seconds
    tried = failed = 0
    with tempfile.TemporaryDirectory() as directory:
        while time.monotonic() < until and not (tried and args.seed is not None):
            name = random.choice(names)
            seed = random.randrange(2**32) if args.seed is None else args.seed
            rng = random.Random(seed)
            content, start, end = damage_at_random(samples[name].content, rng)
            wrong = violations(samples[name], content, start, end, Path(directory), rng)
            tried, failed = tried + 1, failed + bool(wrong)
            for line in wrong:
                print(f"--sample {name} --seed {seed}: {line}")
    print(f"{tried} damaged files, {failed} with violations")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
