"""The columns of efficiency on page Modules, without a browser."""

import pytest

import ingest
from tests.builders.events import kernel, op
from tests.dashboard.conftest import CPU, OWLV2
from tests.dashboard.elements import add_whole, table_with, texts


def test_modules_have_what_they_reach_and_could_save(opened, shown_store, run_of):
    run = run_of(OWLV2)
    table = table_with(opened(shown_store, "modules", run=run, columns="efficiency"), "saved_ns")
    row = table.set_index("name").loc["Owlv2ForObjectDetection_0"]
    with ingest.connect(shown_store) as connection:
        [(saved_ns, rate, moved)] = connection.execute(
            "SELECT sum(saved_ns), sum(flops) / sum(work_ns) / 1e3, "
            "sum(bytes) / sum(work_ns) FILTER (WHERE bytes IS NOT NULL) / 1e3 "
            "FROM op_efficiency WHERE run_id = $1 AND is_median AND module_id IS NOT NULL",
            [run],
        ).fetchall()
    assert row[["saved_ns", "tflop_per_s", "tb_per_s", "known_percent"]].tolist() == [
        saved_ns,
        pytest.approx(rate),
        pytest.approx(moved),
        100,
    ]
    assert 0 < row["mfu_percent"] < row["peak_percent"] < row["bandwidth_percent"] < 100


def test_a_host_without_peaks_says_why_shares_are_unknown(opened, shown_store, run_of):
    page = opened(shown_store, "modules", run=run_of(CPU), columns="efficiency")
    assert "tflop_per_s" in table_with(page, "known_percent")
    assert "The peaks of the device are unknown" in texts(page)


def test_modules_without_shapes_say_what_is_missing(app, shared_traces):
    frame = op("nn.Module: Linear_0", 1, 40, cat="python_function")
    launch = op("cudaLaunchKernel", 3, 5, cat="cuda_runtime", args={"correlation": 1})
    events = [frame, op("aten::mm", 2, 20), launch, kernel("gemm", 30, 100, correlation=1)]
    run = add_whole(shared_traces, "modules without shapes", events)
    page = app(shared_traces.store.path, "modules", run=run, columns="efficiency")
    assert "record_shapes=True" in texts(page)
