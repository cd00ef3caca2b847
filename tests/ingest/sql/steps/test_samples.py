"""The metrics of each sample and the parts of its steps, compared with plain Python."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import pytest

import ingest
from tests.helpers.samples import COMPILED, EAGER, Samples
from tests.ingest.sql.runs import metrics_in_python
from tests.ingest.sql.runs.metrics_in_python import Event
from tests.ingest.sql.runs.test_run_metrics import adds_up, rows, with_causes
from tests.ingest.sql.steps import parts_in_python
from tests.ingest.sql.steps.test_step_parts import found_in

FLUX = "nn.Module: FluxTransformer2DModel_0"
SAMPLES = {  # number of steps, how they are found, their name: read from the traces
    "alexnet_cuda_sync": (1, "run", None),
    "b200_gptoss": (1, "run", None),
    "cpu_only": (1, "ProfilerStep", "ProfilerStep"),
    "cupti_counters": (1, "run", None),
    "flux_compile_recompile": (1, "run", None),
    f"{COMPILED}-rank0": (2, "module", "nn.Module: OptimizedModule_0"),
    "flux_compiled_steady_bs5": (1, "run", None),
    EAGER: (2, "module", FLUX),
    "flux_eager_full": (2, "annotation", "transformer_forward"),
    "flux_eager_min": (2, "annotation", "transformer_forward"),
    "h100_owlv2": (1, "ProfilerStep", "ProfilerStep"),
    "h100_qwen1.5-0.5b": (1, "ProfilerStep", "ProfilerStep"),
    "mi210_gpu_only": (1, "run", None),
    "mi300_flux1_graph_capture": (1, "run", None),
    "mi300_flux1_graph_replay": (1, "ProfilerStep", "ProfilerStep"),
    "mi300_owlv2": (1, "ProfilerStep", "ProfilerStep"),
    "mi300_resnet_ddp_rank0": (3, "ProfilerStep", "ProfilerStep"),
    "mi300_torch_compile_triton": (1, "run", None),
    "misc_backward_threads": (1, "run", None),
    "mtia_inference": (1, "run", None),  # tasks of several threads, at the same time
    "nccl_training_control": (6, "ProfilerStep", "ProfilerStep"),
    "nccl_training_test": (6, "ProfilerStep", "ProfilerStep"),
    "two_rank_rank0": (2, "ProfilerStep", "ProfilerStep"),
    "two_rank_rank1": (2, "ProfilerStep", "ProfilerStep"),
    "v100_resnet50_workers0": (6, "ProfilerStep", "ProfilerStep"),
    "v100_resnet50_workers4": (6, "ProfilerStep", "ProfilerStep"),
}
COUNTED = (
    *("bubbles", "activities", "kernels", "launches", "graph_launches", "launch_call_ns"),
    *("short_kernels", "exposed_communication_ns", "exposed_copy_ns"),
)


@pytest.fixture(scope="module")
def ingested(sampled: Samples) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a store of the samples."""
    with ingest.connect(sampled.store(*SAMPLES)) as connection:
        yield connection


@dataclass(frozen=True)
class Sample:
    """The events of a trace, the name of its steps, and its run in the store."""

    store: duckdb.DuckDBPyConnection
    name: str
    events: list[Event]
    step_name: str | None

    def rows(self, relation: str) -> list[dict[str, Any]]:
        """Return the rows of the run."""
        return rows(self.store, f"FROM {relation} {self.condition}")

    @property
    def condition(self) -> str:
        return f"WHERE run_id = (SELECT run_id FROM runs WHERE name = '{self.name}')"


@pytest.fixture(scope="module", params=SAMPLES)
def sample(
    request: pytest.FixtureRequest, ingested: duckdb.DuckDBPyConnection, sampled: Samples
) -> Sample:
    """Each sample in turn: all tests of one run before it is dropped, because reading is slow."""
    [path] = sampled.files(request.param)
    return Sample(ingested, request.param, metrics_in_python.read(path), SAMPLES[request.param][2])


def test_metrics_of_a_sample_are_exact(sample: Sample) -> None:
    parts = sample.rows("run_parts")
    gaps = sample.rows("bubbles")
    found = with_causes(sample.rows("run_totals"), parts, "total_ns")
    summaries = with_causes(sample.rows("run_metrics"), parts, "ns")
    named = {(f["steps"], f["steps_from"], f["step_name"]) for f in summaries}
    assert named == {SAMPLES[sample.name]}
    expected = metrics_in_python.metrics(sample.events, sample.step_name)
    assert {f["device"] for f in found} == set(expected)
    for metrics in found:
        adds_up(metrics)
        known = expected[metrics["device"]]
        known["idle_ns"] -= metrics["fill_ns"]
        outside_ns = known.pop("outside_busy_ns")
        assert {key: metrics.get(key) for key in known} == known
        [summary] = (f for f in summaries if f["device"] == metrics["device"])
        adds_up(summary)
        assert (summary["steps"], summary["measure"]) == (metrics["steps"], metrics["measure"])
        assert summary["outside_busy_ns"] == outside_ns
        assert summary["mean_wall_ns"] == metrics["wall_ns"] // metrics["steps"]
        if metrics["measure"] == "device" and summary["outside_busy_ns"] == 0:
            ours = [
                gap
                for gap in gaps
                if gap["device"] == metrics["device"]
                and (
                    gap["step"] is not None or not gap["is_edge"] or summary["steps_from"] == "run"
                )
            ]
            lost = Counter[str]()
            for gap in ours:
                lost[gap["cause"]] += gap["dur_ns"]
            for part in parts:
                if part["is_idle"] and part["device"] == metrics["device"]:
                    lost[part["part"]] -= part["total_ns"]
            assert lost.total() == metrics["fill_ns"]
            assert min(lost.values(), default=0) >= 0


def is_median_of(step: dict[str, Any], metrics: dict[str, Any]) -> bool:
    return bool(step["is_median"] and step["device"] == metrics["device"])


def test_parts_of_a_sample_are_exact(sample: Sample) -> None:
    found = found_in(sample.store, sample.condition)
    steps = sample.rows("step_metrics")
    of_median = sample.rows("run_parts")
    windows = sample.rows("measured_windows")
    events, step_name = sample.events, sample.step_name
    expected = parts_in_python.parts(events, step_name)
    assert {device: parts_in_python.nonzero(parts) for device, parts in found.items()} == {
        device: parts_in_python.nonzero(parts) for device, parts in expected.items()
    }
    counts = parts_in_python.counts(events, step_name)
    for row in steps:
        known = counts.get(row["device"], {}).get(row["step"], Counter())
        recorded = parts_in_python.recorded(events, row["device"])
        assert {key: row[key] for key in COUNTED} == {
            key: known[key] if key in recorded else None for key in COUNTED
        }
    for row in sample.rows("run_metrics"):
        parts = expected[row["device"]]
        median = parts_in_python.median_step(parts, is_whole=step_name is None)
        assert row["step"] == median
        assert row["wall_ns"] == sum(parts[median].values())
        busy = ("compute", "communication", "copy", "compiled_code", "overlap")
        assert row["busy_ns"] == sum(parts[median][part] for part in busy)
        assert [step["step"] for step in steps if is_median_of(step, row)] == [median]
        of_device = [window for window in windows if window["device"] == row["device"]]
        assert [window["median_step"] for window in of_device] == [median]
        ours = [part for part in of_median if part["device"] == row["device"]]
        assert sum(part["ns"] for part in ours) == row["wall_ns"]
        idle = sum(part["ns"] for part in ours if part["is_idle"])
        assert idle == row["idle_ns"] == parts[median]["idle"]


def test_every_sample_is_tested(sampled: Samples) -> None:
    names = {*sampled.names("traces"), EAGER, f"{COMPILED}-rank0"}
    assert names - {"memory_timeline.raw"} == set(SAMPLES)
