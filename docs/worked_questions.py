"""Generates the results of the worked questions from the sample profiles."""

import re
import shutil
from pathlib import Path
from typing import Any

import ingest
from docs.markdown import cell

QUESTION = re.compile(r"```sql\n(.*?)```\n(?:\n(?:\|[^\n]*\n)+)?", re.DOTALL)
RUNS = {  # runs of docs/questions.md, and their files in the samples
    "flux_compile_recompile": "traces/cpu/flux_compile_recompile.json.gz",
    "flux_compiled_b2": "compile/flux_compiled_b2-*",
    "flux_eager_b2": "compile/flux_eager_b2-*",
    "h100_owlv2": "traces/h100_owlv2.json.gz",
    "mi300_flux1_graph_capture": "traces/mi300_flux1_graph_capture.json.gz",
    "mi300_flux1_graph_replay": "traces/mi300_flux1_graph_replay.json.gz",
    "mi300_owlv2": "traces/mi300_owlv2.json.gz",
    "nccl_training_control": "traces/nccl_training_control.json.gz",
    "nccl_training_test": "traces/nccl_training_test.json.gz",
    "train_ctx512": "snapshots/train_ctx512.pickle",
    "two_ranks": "traces/two_rank_rank?.json.gz",
    "v100_resnet50_workers0": "traces/v100_resnet50_workers0.pt.trace.json.gz",
    "v100_resnet50_workers4": "traces/v100_resnet50_workers4.pt.trace.json.gz",
}
MEGENGINE = {  # runs of docs/megengine.md
    name: f"megengine/{name}.json"
    for name in (
        "prof_async", "prof_embed", "prof_fast", "prof_iter3", "prof_net3", "prof_onlywait"
    )
}  # fmt: skip


def questions(text: str, store: Path) -> str:
    """Return `text` with the result of each query on `store` below the query."""
    connection = ingest.connect(store)

    def answer(match: re.Match[str]) -> str:
        rows = connection.sql(match[1])
        return f"```sql\n{match[1]}```\n\n{_markdown(rows.columns, rows.fetchall())}"

    return QUESTION.sub(answer, text)


def store_of(runs: dict[str, str], samples: Path, directory: Path) -> Path:
    """Create a store in `directory` with these runs. `runs` maps names to files in the samples."""
    store = ingest.Store(directory / "store")
    for name, pattern in runs.items():
        files = sorted(samples.glob(pattern))
        source = files[0]
        if len(files) > 1:
            source = directory / name
            source.mkdir()
            for file in files:
                shutil.copy(file, source)
        store.add(source, ingest.AddOptions(name=name))
    return store.path


def _markdown(columns: list[str], rows: list[tuple[Any, ...]]) -> str:
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
    return f"`{text}`"
