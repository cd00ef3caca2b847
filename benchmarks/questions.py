"""What the first and the tenth question of a trace cost: `python benchmarks/questions.py`.

The question is which kernels take the most time. In tracehouse, the first one needs `ingest add`.
The tenth is asked in a new process (`ingest sql`), and in a process that has asked before. `--hta
PYTHON` compares this with HTA, in an environment of its own (`pip install HolisticTraceAnalysis
"pandas<3"`). HTA loads the trace in each process. Times in a new process are of the complete
process.
"""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)

from benchmarks.ingest import COMMAND, OWLV2, repeat_events  # noqa: E402
from benchmarks.processes import measure  # noqa: E402
from ingest.cli.terminal import results, table  # noqa: E402

QUESTION = (
    "SELECT name, count(*), sum(dur_ns) FROM kernels GROUP BY name ORDER BY 3 DESC, name LIMIT 10"
)
ASK = """
import sys, time
def ask_ten_times(ask):
    for _ in range(10):
        began = time.perf_counter()
        ask()
    print(time.perf_counter() - began)
"""
TRACEHOUSE = """
import ingest
connection = ingest.connect(sys.argv[1])
ask_ten_times(lambda: connection.execute(sys.argv[2]).fetchall())
"""
HTA = """
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/")
ask_ten_times(lambda: analysis.get_gpu_kernel_breakdown(num_kernels=10, visualize=False))
"""
COLUMNS = ("tool", "input", "first s", "tenth, new process s", "same process s", "peak RSS MB")


def of_tracehouse(trace: Path, directory: Path) -> list[str]:
    """Return the row of the table for tracehouse."""
    store = directory / "store"
    added = measure([COMMAND, "add", trace, "--store", store])
    asked = [measure([COMMAND, "sql", QUESTION, "--store", store]) for _ in range(10)]
    session = measure([sys.executable, "-c", ASK + TRACEHOUSE, store, QUESTION])
    first = added.seconds + asked[0].seconds
    return _row("tracehouse", trace, first, asked[-1].seconds, session.output, added.peak_bytes)


def of_hta(trace: Path, python: str) -> list[str]:
    """Return the row of the table for HTA. A new process costs as much as the first one."""
    session = measure([python, "-c", ASK + HTA, trace])
    first = session.seconds - 9 * float(session.output.split()[-1])
    return _row("HTA", trace, first, first, session.output, session.peak_bytes)


def _row(
    tool: str, trace: Path, first: float, tenth: float, output: str, peak_bytes: int
) -> list[str]:
    seconds = (f"{first:.2f}", f"{tenth:.2f}", f"{float(output.split()[-1]):.3f}")
    return [tool, trace.name, *seconds, f"{peak_bytes / 1e6:,.0f}"]


def main() -> None:
    """Measure both tools with a trace, and with its events repeated ten times."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hta", metavar="PYTHON", help="a Python that can import HTA")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for count in (1, 10):
            directory = Path(name) / str(count)
            directory.mkdir()
            trace = directory / f"h100_owlv2_{count}.json"
            repeat_events(OWLV2, count, trace)
            rows.append(of_tracehouse(trace, directory))
            if options.hta:
                rows.append(of_hta(trace, options.hta))
            trace.unlink()
    results().print(table(COLUMNS, rows, right=COLUMNS[2:]))


if __name__ == "__main__":
    main()
