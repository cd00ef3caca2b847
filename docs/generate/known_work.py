"""Writes docs/known_work.md, which shows how much of the work in the samples is known.

python -m docs.generate.known_work SAMPLES
"""

import shutil
import sys
import tempfile
from pathlib import Path

import ingest
from docs.generate import pages

PAGE = "known_work.md"
# Sample traces with a device, and profiles of MegEngine: the files of each, by the name of the run.
RUNS = {
    "alexnet_cuda_sync": "traces/alexnet_cuda_sync.json.gz",
    "b200_gptoss": "traces/b200_gptoss.json.gz",
    "h100_owlv2": "traces/h100_owlv2.json.gz",
    "h100_qwen1.5-0.5b": "traces/h100_qwen1.5-0.5b.json.gz",
    "mi210_gpu_only": "traces/mi210_gpu_only.json.gz",
    "mi300_flux1_graph_capture": "traces/mi300_flux1_graph_capture.json.gz",
    "mi300_flux1_graph_replay": "traces/mi300_flux1_graph_replay.json.gz",
    "mi300_owlv2": "traces/mi300_owlv2.json.gz",
    "mi300_resnet_ddp_rank0": "traces/mi300_resnet_ddp_rank0.json.gz",
    "mi300_torch_compile_triton": "traces/mi300_torch_compile_triton.json.gz",
    "mtia_inference": "traces/mtia_inference.json.gz",
    "nccl_training_control": "traces/nccl_training_control.json.gz",
    "nccl_training_test": "traces/nccl_training_test.json.gz",
    "prof_async": "megengine/prof_async.json",
    "prof_fast": "megengine/prof_fast.json",
    "prof_net3": "megengine/prof_net3.json",
    "two_ranks": "traces/two_rank_rank?.json.gz",
    "v100_resnet50_workers0": "traces/v100_resnet50_workers0.pt.trace.json.gz",
    "v100_resnet50_workers4": "traces/v100_resnet50_workers4.pt.trace.json.gz",
}
REASONS = {
    "graph_launch": "The launch of a graph started the kernel. No operator runs at that time.",
    "no_launch": "The trace has no launch: the kernel was launched before the recording began, or "
    "the profiler lost the call.",
    "no_operator": "The kernel was launched outside of operators, or the trace has none.",
    "no_shapes": "The operator has no shapes: the profiler ran without `record_shapes`.",
    "no_formula": "No formula lists the operator. View `work_formulas` has them all.",
    "formula": "What traces record of this operator does not determine its floating-point "
    "operations, such as the weights of `vllm::moe_forward` or the operators in a generated "
    "kernel without a compile log.",
    "inputs": "A shape, type or value is missing. Old versions of torch do not record values such "
    "as the stride of a convolution.",
    "not_recorded": "The profiler of MegEngine counted no operations, as for copies and norms.",
}
HEAD = """# Known work

`python -m docs.generate.known_work SAMPLES` generates this page. Table `op_work` computes the work
of operators from their recorded shapes, types and values. Where these are missing, the work is
unknown. MegEngine records the work itself (`prof_…`). The table below shows how much of the work is
known in the sample traces with a device.

The columns are shares of the device time of the measured steps, without communication, in percent.
`flops` and `bytes` are the shares of operators whose floating-point operations and bytes are known.
The other columns divide the time without known floating-point operations by reason. Bytes can be
known there. They can be unknown where the operations are known: `aten::cat` has no operations, but
traces do not record the types of tensors in lists.

"""
TAIL = """
View `work_coverage` has the same shares for your runs:

```sql
SELECT run_id, rank, device_id, coalesce(reason, 'known') AS reason, activities, device_ns,
    round(percent, 1) AS percent, round(bytes_percent, 1) AS bytes_percent
FROM work_coverage ORDER BY run_id, device_id, device_ns DESC
```

"""
SHARES = """SELECT runs.name, rank, sum(percent) FILTER (reason IS NULL) AS flops,
    sum(bytes_percent) AS bytes, {reasons}
FROM work_coverage INNER JOIN runs USING (run_id)
GROUP BY runs.name, rank, device_id ORDER BY runs.name, rank, device_id"""


def main() -> None:
    """Write the page."""
    samples = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        store = ingest.Store(Path(directory) / "store")
        for name, pattern in RUNS.items():
            folder = Path(directory) / name
            folder.mkdir()
            for file in samples.glob(pattern):
                shutil.copy(file, folder)
            store.add(folder, ingest.AddOptions(name=name))
        pages.write(PAGE, page(store))


def page(store: ingest.Store) -> str:
    """Return the text of the page. The store has `RUNS` by these names."""
    reasons = ", ".join(
        f"sum(percent) FILTER (reason = '{reason}') AS {reason}" for reason in REASONS
    )
    with ingest.connect(store) as connection:
        rows = connection.execute(SHARES.format(reasons=reasons)).fetchall()
    titles = ["trace", "rank", "flops", "bytes", *REASONS]
    lines = [_line(titles), _line(["---", *["--:"] * (len(titles) - 1)])]
    lines += [_line([name, str(rank), *map(_percent, shares)]) for name, rank, *shares in rows]
    lines += ["", "| reason | meaning |", "| --- | --- |"]
    lines += [f"| `{reason}` | {meaning} |" for reason, meaning in REASONS.items()]
    return HEAD + "\n".join(lines) + "\n" + TAIL.rstrip("\n") + "\n"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _percent(share: float | None) -> str:
    return f"{share:.1f}" if share else ""


if __name__ == "__main__":
    main()
