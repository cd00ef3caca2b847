"""The results of the commands and queries that pages show, from the sample profiles.

- A ```console block with `$ ingest …` and text below it shows what the command prints.
- A ```sql block with a table below it shows the rows of the query.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import ingest
from docs.generate.markdown import cell
from docs.generate.pages import REPOSITORY

COMMAND = re.compile(r"```console\n\$ (ingest [^\n]*)\n(?!\$|```).*?```", re.DOTALL)
QUERY = re.compile(r"```sql\n((?:(?!```).)*)```\n\n(?:\|[^\n]*\n)+", re.DOTALL)
SECONDS = re.compile(r"\d+\.\d s\b")  # the duration of a command, which differs each time

H100 = {"h100_owlv2": "traces/h100_owlv2.json.gz"}
SNAPSHOT = {"train_ctx512": "snapshots/train_ctx512.pickle"}
WORKERS = {
    "v100_resnet50_workers0": "traces/v100_resnet50_workers0.pt.trace.json.gz",
    "v100_resnet50_workers4": "traces/v100_resnet50_workers4.pt.trace.json.gz",
}
FLUX = {
    "flux_compiled_b2": "compile/flux_compiled_b2-*",
    "flux_eager_b2": "compile/flux_eager_b2-*",
}
MANY = {
    "flux_compile_recompile": "traces/cpu/flux_compile_recompile.json.gz",
    "mi300_flux1_graph_capture": "traces/mi300_flux1_graph_capture.json.gz",
    "mi300_flux1_graph_replay": "traces/mi300_flux1_graph_replay.json.gz",
    "mi300_owlv2": "traces/mi300_owlv2.json.gz",
    "nccl_training_control": "traces/nccl_training_control.json.gz",
    "nccl_training_test": "traces/nccl_training_test.json.gz",
    "two_ranks": "traces/two_rank_rank?.json.gz",
    **FLUX,
    **H100,
    **SNAPSHOT,
    **WORKERS,
}
# The runs of each page with results: the sample file of each, by the name of the run.
RUNS: dict[str, dict[str, str]] = {
    "adding.md": H100,
    "compare.md": FLUX,
    "concepts.md": H100,
    "efficiency.md": H100,
    "memory.md": SNAPSHOT,
    "sql.md": H100,
    "from_megengine.md": {
        name: f"megengine/{name}.json"
        for name in (
            "prof_async",
            "prof_embed",
            "prof_fast",
            "prof_iter3",
            "prof_net3",
            "prof_onlywait",
        )
    },
    "questions.md": MANY,
    "tasks.md": MANY,
}


def with_results(text: str, store: Path, directory: Path) -> str:
    """Return `text` with the results of its commands, run in `directory`, and of its queries."""
    text = COMMAND.sub(lambda match: _command(match[1], store, directory), text)
    with ingest.connect(store) as connection:

        def query(match: re.Match[str]) -> str:
            rows = connection.sql(match[1])
            return f"```sql\n{match[1]}```\n\n{_table(rows.columns, rows.fetchall())}"

        return QUERY.sub(query, text)


def page_with_results(page: str, text: str, samples: Path) -> str:
    """Return `text`, the page's, with its results."""
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        store = ingest.Store(directory / "store")
        for name, pattern in RUNS[page].items():
            source = _linked(sorted(samples.glob(pattern)), name, directory)
            if f"$ ingest add {source.name}" not in text:
                store.add(source, ingest.AddOptions(name=name))
        return with_results(text, store.path, directory)


def _linked(files: list[Path], name: str, directory: Path) -> Path:
    """Return the path in `directory` of the only file, or of a run directory of several files."""
    if len(files) == 1:
        link = directory / files[0].name
        link.symlink_to(files[0].resolve())
        return link
    run = directory / name
    run.mkdir()
    for file in files:
        shutil.copy(file, run)
    return run


def _command(command: str, store: Path, directory: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "TRACEHOUSE_STORE": str(store)},
        capture_output=True,
        text=True,
        check=True,
    )
    output = "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")
    return f"```console\n$ {command}\n{SECONDS.sub('… s', output)}\n```"


def _table(columns: list[str], rows: list[tuple[Any, ...]]) -> str:
    numeric = [
        any(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        for values in zip(*rows, strict=True)
    ]
    lines = [columns, ["--:" if is_number else "---" for is_number in numeric]]
    lines += [[cell(_value(value)) for value in row] for row in rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:,}"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if text.endswith(".") else f"`{text}`"  # a sentence is not code
