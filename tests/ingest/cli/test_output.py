"""The output of the commands on five runs, compared with the output that is recorded here.

`RECORD_OUTPUT=1 pytest tests/ingest/cli/test_output.py` records it anew, after a change on purpose.
"""

import os
import re
from pathlib import Path

import pytest

from tests.helpers.command import Command
from tests.helpers.recorded import COMPILED, DEVICE, EAGER, NETWORK, SNAPSHOT, TWO_RANKS

RECORDED = Path(__file__).parent / "output"
COMMANDS = [
    ("list",),
    *(("show", run) for run in (EAGER, COMPILED, TWO_RANKS, DEVICE, SNAPSHOT)),
    *(("top", run) for run in (EAGER, TWO_RANKS, DEVICE, SNAPSHOT, NETWORK)),
    ("top", DEVICE, "--by", "leaf"),
    ("top", COMPILED, "--by", "kernel", "--limit", 3),
    ("table", EAGER),
    ("table", TWO_RANKS, "--per-rank"),
    *(("memory", run) for run in (EAGER, DEVICE, SNAPSHOT)),
    ("memory", SNAPSHOT, "--by", "stack", "--at", "end"),
    ("memory", SNAPSHOT, "--at", "oom"),
    ("diff", EAGER, COMPILED),
    ("diff", EAGER, COMPILED, "--by", "class", "--fail-if", "wall>+0%"),
    ("diff", EAGER, COMPILED, "--json", "--by", "module"),
    ("diff", EAGER, DEVICE),
    ("sweep", "none"),
    ("profile-analyze", NETWORK),
    ("export", DEVICE, "--stacks", "-"),
    ("export", SNAPSHOT, "--chrome", "-"),
    ("sql", "SELECT run_id, rank, wall_ns FROM step_metrics ORDER BY ALL", "--format", "csv"),
    ("schema", "devices"),
    ("check",),
    ("show", "missing"),
    ("edit", EAGER),
]


def name_of(arguments: tuple[object, ...]) -> str:
    """Return the name of the file with a command's output."""
    return re.sub(r"[^\w.]+", "_", " ".join(map(str, arguments)))[:60].strip("_")


@pytest.mark.parametrize("arguments", COMMANDS, ids=name_of)
def test_output_is_as_recorded(
    command: Command, recorded_store: Path, arguments: tuple[object, ...]
) -> None:
    result = command(*arguments, store=recorded_store)
    found = f"exit code {result.code}\n{result.out}"
    if result.err:
        found += f"stderr:\n{result.err}"
    found = found.replace(str(Path(__file__).parents[2]), "TESTS")
    found = found.replace(str(recorded_store.parent), "DIRECTORY")
    found = re.sub(r"(?m)^( ingested_at +).*$", r"\1TIME", found)
    file = RECORDED / f"{name_of(arguments)}.txt"
    if "RECORD_OUTPUT" in os.environ:
        file.parent.mkdir(exist_ok=True)
        file.write_text(found, encoding="utf-8")
    assert found == file.read_text(encoding="utf-8")


def test_each_recorded_output_has_its_command() -> None:
    assert {file.stem for file in RECORDED.iterdir()} == set(map(name_of, COMMANDS))
