"""The critical paths of two samples, compared with those that HTA 0.6.1 printed."""

import gzip
import json
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from tests.ingest.conversion.critical_path.hta_graph import Path as PathOfHta
from tests.ingest.conversion.critical_path.hta_graph import critical_path

ALEXNET = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"
CONTROL, STEP = "nccl_training_control", 1011  # the instance 2 of ProfilerStep


def path_of(samples: Path, run: str, annotation: str, instance: int) -> PathOfHta:
    with gzip.open(samples / "traces" / f"{run}.json.gz") as file:
        return critical_path(json.load(file), annotation, instance)


@pytest.fixture(scope="module")
def of_control(samples: Path) -> PathOfHta:
    return path_of(samples, CONTROL, "ProfilerStep", 2)


def test_alexnet_has_the_path_of_hta(samples: Path) -> None:
    path = path_of(samples, "alexnet_cuda_sync", ALEXNET, 0)
    assert (path.nodes, len(path.edges), path.weight) == (484, 170, 78_776)
    assert path.edges_by_type == Counter(
        {
            "OPERATOR_KERNEL": 372,
            "KERNEL_KERNEL_DELAY": 34,
            "DEPENDENCY": 27,
            "KERNEL_LAUNCH_DELAY": 5,
            "SYNC_DEPENDENCY": 5,
        }
    )
    assert {kind: round(percent, 4) for kind, percent in path.summary.items()} == {
        "cpu_bound": pytest.approx(95.186, abs=5e-4),
        "gpu_compute_bound": pytest.approx(4.712, abs=5e-4),
        "gpu_kernel_kernel_overhead": 0.0635,
        "gpu_kernel_launch_overhead": 0.0381,
    }


def test_nccl_training_control_has_the_path_of_hta(of_control: PathOfHta) -> None:
    assert (of_control.nodes, of_control.weight) == (19_960, 40_689)
    assert {kind: round(percent, 3) for kind, percent in of_control.summary.items()} == {
        "cpu_bound": 66.563,
        "gpu_compute_bound": 31.475,
        "gpu_kernel_kernel_overhead": 1.939,
        "gpu_kernel_launch_overhead": 0.022,
    }


def test_the_path_covers_the_step_and_that_of_hta_half_of_it(
    of_control: PathOfHta, store_of_samples: duckdb.DuckDBPyConnection
) -> None:
    run = store_of_samples.execute("SELECT run_id FROM runs WHERE name = ?", [CONTROL]).fetchone()
    assert run
    start_ns, end_ns = store_of_samples.execute(
        """
        SELECT any_value(start_ns), max(work_end_ns) FROM step_metrics
        WHERE run_id = ? AND step = ?
        """,
        [*run, STEP],
    ).fetchall()[0]
    edges = store_of_samples.execute(
        "SELECT start_ns, dur_ns FROM critical_path(?, of_rank := 3, of_step := ?)", [*run, STEP]
    ).fetchall()
    assert edges[0][0] == start_ns
    assert sum(dur_ns for _, dur_ns in edges) == end_ns - start_ns == 76_234_000
    assert of_control.weight * 1000 == 40_689_000
