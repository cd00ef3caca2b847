"""Writes docs/compared_figures.md, which compares numbers of HTA and TraceLens with tracehouse's.

    python -m docs.generate.compared_figures SAMPLES

The folder `expected` of the samples has the output of both tools for some of the traces.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import ingest
from docs.generate import pages
from docs.generate.figures_of_peers import (
    hta_device,
    hta_diff,
    hta_host,
    tracelens_ops,
    tracelens_time,
    tracelens_work,
)
from docs.generate.figures_of_peers.figures import EQUAL, UNEXPLAINED, Comparison, Trace
from docs.generate.markdown import cell

PAGE = "compared_figures.md"
OF_HTA = {
    "alexnet_cuda_sync": "hta_alexnet",
    "nccl_training_control": "hta_control",
    "nccl_training_test": "hta_test",
}
OF_TRACELENS = {
    "b200_gptoss": "b200_gptoss_eager",
    "h100_owlv2": "h100_owlv2",
    "h100_qwen1.5-0.5b": "h100_qwen1.5-0.5b",
}
HEAD = """# Compared figures

`python -m docs.generate.compared_figures SAMPLES` generates this page. It compares each figure that
HTA 0.6.1 or TraceLens reported for a sample trace with the figure of tracehouse for the same
question. [From HTA](from_hta.md) and [From TraceLens](from_tracelens.md) name the view for each
question.

If two figures differ, the script computes ours again from the events, once by our rule and once by
a rule of the other tool. The rule is the reason only if the first result equals our figure and the
second equals the other tool's. A comma between two rules means that both are needed. Two reasons
come from the other tool's output instead: a bandwidth below 1e-9 GB/s is a rounding error of HTA's
sums, and TraceLens marks the operators that it adds as synthetic. A figure without a reason is
*unexplained*.

Two figures are equal if they differ by no more than the other tool rounds. HTA rounds percentages,
ratios, and the means and deviations of idle times to two digits, and the shares of kernel types to
one digit. TraceLens stores times as floating-point numbers, so each activity adds an error of up to
0.25 ns. If only one of the two tools has a figure, it counts as 0 in the other.

The analysis `unified_perf_summary, work` compares `GFLOPS`, `Data Moved (MB)` and `FLOPS/Byte` with
`op_work`. `unified_perf_summary, rates` compares `TFLOPS/s` and `TB/s` with `op_efficiency`. Rows
without a model in TraceLens are left out. The work of a row is that of its kernels. Here, it can
belong to another operator: to `aten::linear` instead of `aten::addmm`. The script computes these
figures again from the arguments of the call, without the formulas of `op_work`.
"""


RUNS = (*OF_HTA, *OF_TRACELENS)


def main() -> None:
    """Write the page, and print the figures without a reason."""
    samples = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        store = ingest.Store(Path(directory) / "store")
        for name in RUNS:
            store.add(samples / "traces" / f"{name}.json.gz", ingest.AddOptions(name=name))
        sections = compared(store, samples / "expected")
    pages.write(PAGE, page(sections))
    for comparison in chain.from_iterable(sections.values()):
        for key, figures in comparison.unexplained().items():
            print(comparison.analysis, comparison.trace, *key, *figures, sep=" | ")


def compared(store: ingest.Store, expected: Path) -> dict[str, list[Comparison]]:
    """Return the comparisons by section of the page. The store has `RUNS` by these names."""
    with ingest.connect(store) as connection:
        runs = connection.execute("SELECT name, run_id FROM runs").fetchall()
        traces = {name: Trace(connection, name, run) for name, run in runs}
        return {
            "HTA": list(_hta(traces, expected / "hta")),
            "TraceLens": list(_tracelens(traces, expected / "tracelens")),
            "A plain reading of the file": list(_exact(traces, expected / "hta")),
        }


def page(sections: dict[str, list[Comparison]]) -> str:
    """Return the text of the page."""
    return HEAD + "".join(map(_section, sections, sections.values()))


def _hta(traces: dict[str, Trace], expected: Path) -> Iterator[Comparison]:
    for name, file in OF_HTA.items():
        output = _read(expected, file)
        yield from hta_device.comparisons(traces[name], output["include_last_step"])
        yield from hta_host.comparisons(traces[name], output["include_last_step"])
        yield from hta_host.without_last_step(traces[name], output["default"])
    control, test = traces["nccl_training_control"], traces["nccl_training_test"]
    output = _read(expected, "trace_diff")["compare_traces_first_iteration"]
    yield from hta_diff.differences(control, test, output)


def _exact(traces: dict[str, Trace], expected: Path) -> Iterator[Comparison]:
    for name, file in OF_HTA.items():
        yield hta_host.exact(traces[name], _read(expected, file)["exact_from_raw"])


def _tracelens(traces: dict[str, Trace], expected: Path) -> Iterator[Comparison]:
    for name, file in OF_TRACELENS.items():
        output = _read(expected, file)
        yield from tracelens_time.comparisons(traces[name], output)
        yield from tracelens_ops.comparisons(traces[name], output)
        yield from tracelens_work.comparisons(traces[name], output)


def _read(folder: Path, name: str) -> Any:
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def _section(tool: str, comparisons: list[Comparison]) -> str:
    judged = [(each, each.judged()) for each in comparisons]
    judged.sort(key=lambda pair: pair[0].analysis)
    totals = sum((counts for _, counts in judged), Counter[str]())
    lines = [
        f"\n## {tool}\n",
        f"{totals.total():,} figures: {totals[EQUAL]:,} equal, "
        f"{totals.total() - totals[EQUAL]:,} different, {totals[UNEXPLAINED]:,} unexplained.\n",
        "| analysis | trace | figures | equal | different | why |",
        "| --- | --- | --: | --: | --: | --- |",
    ]
    for each, counts in judged:
        if counts:
            reasons = {name: count for name, count in counts.most_common() if name != EQUAL}
            why = "; ".join(f"{count:,}: {reason}" for reason, count in reasons.items())
            figures = f"{counts.total():,} | {counts[EQUAL]:,} | {sum(reasons.values()):,}"
            lines.append(f"| {cell(each.analysis)} | {each.trace} | {figures} | {cell(why)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
