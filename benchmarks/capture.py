"""Measures the cost of profiling: `python benchmarks/capture.py [--calls N]`.

Calls a tiny FLUX transformer, in turn without a profiler, inside a disabled profiler, and with each
option. Prints the fastest call of each, because the speed of the machine drifts by more than the
cost of profiling, and its ratio to a call without a profiler. The export of the trace is not
included. The script checks no limits, because times depend on the machine.
"""

import argparse
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)  # otherwise `import capture` finds this file

from capture import Profiler  # noqa: E402
from capture.pipelines.flux import tiny_flux  # noqa: E402
from ingest.cli.terminal import results, table  # noqa: E402

PLAIN = {"with_stack": False, "record_shapes": False}
SETTINGS: dict[str, dict[str, Any] | None] = {
    "no profiler": None,
    "a disabled profiler": {"enabled": False},
    "operators": PLAIN,
    "and shapes": PLAIN | {"record_shapes": True},
    "and allocations": PLAIN | {"profile_memory": True},
    "and Python frames": PLAIN | {"with_stack": True},
    "all of them": {"with_stack": True, "record_shapes": True, "profile_memory": True},
}
ROUNDS = 8


def seconds(setting: dict[str, Any] | None, calls: int, call: Any) -> list[float]:
    """Return the seconds of each call."""
    taken = []
    with tempfile.TemporaryDirectory() as directory:
        around = nullcontext() if setting is None else Profiler(output_dir=directory, **setting)
        with around as profiler:
            for _ in range(calls):
                began = time.perf_counter()
                call()
                taken.append(time.perf_counter() - began)
                if profiler:
                    profiler.step()
    return taken


def main() -> None:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--calls", type=int, default=20)
    args = parser.parse_args()
    transformer = tiny_flux().transformer
    tokens, text = 256, 64
    inputs = {
        "hidden_states": torch.randn(1, tokens, 16),
        "encoder_hidden_states": torch.randn(1, text, 32),
        "pooled_projections": torch.randn(1, 32),
        "timestep": torch.ones(1),
        "guidance": torch.ones(1),
        "img_ids": torch.zeros(tokens, 3),
        "txt_ids": torch.zeros(text, 3),
    }

    @torch.no_grad()
    def call() -> None:
        transformer(**inputs)

    taken: dict[str, list[float]] = {name: [] for name in SETTINGS}
    for _ in range(ROUNDS):
        for name, setting in SETTINGS.items():
            call()
            taken[name] += seconds(setting, args.calls, call)
    fastest = {name: min(times) for name, times in taken.items()}
    bare = fastest["no profiler"]
    rows = [(name, f"{1e3 * best:.2f}", f"{best / bare:.2f}") for name, best in fastest.items()]
    columns = ("recorded", "ms a call", "× without")
    results().print(table(columns, rows, right=columns[1:]))


if __name__ == "__main__":
    main()
