"""Page Kernels, without a browser."""

import pytest

import ingest
from tests.builders.device import training
from tests.builders.events import host, kernel, op
from tests.dashboard.conftest import CPU, OWLV2, WORKERS0, WORKERS4
from tests.dashboard.elements import add_whole, charts, table_columns, table_with, tables, texts


@pytest.fixture(scope="module")
def small(shared_traces):
    """A run whose trace describes neither its device nor the launch shapes of its kernels."""
    return add_whole(shared_traces, "small", training())


def metrics(page):
    return {metric.label: metric.value for metric in page.metric}


def longest(store, run, offset=0):
    """Return a kernel of the run by launch shape, with the time of its first row."""
    with ingest.connect(store) as connection:
        [found] = connection.execute(
            "SELECT kernel, grid, calls, device_ns FROM kernel_shapes_of_steps($1) "
            "ORDER BY device_ns DESC, kernel, grid LIMIT 1 OFFSET $2",
            [run, offset],
        ).fetchall()
    return found


def test_kernels_are_ranked_by_launch_shape(opened, shown_store, run_of):
    run = run_of(OWLV2)
    page = opened(shown_store, "kernels", run=run, step="all")
    table = table_with(page, "kernel")
    name, _, calls, ns = longest(shown_store, run)
    assert table.iloc[0][["kernel", "calls", "device_ns"]].tolist() == [name, calls, ns]
    assert table["percent"].sum() == pytest.approx(100)
    assert table["shape"].iloc[0] == "82,960 / 1,024"
    headings = [column["heading"] for column in table_columns(page)]
    assert headings == [
        *("kernel", "calls", "device time", "%", "mean", "waves", "% of peak", "% of bandwidth"),
        *("bound by", "could save", "occupancy", "std", "grid / block"),
    ]


def test_metrics_answer_first(opened, shown_store, run_of):
    run = run_of(OWLV2)
    page = opened(shown_store, "kernels", run=run, step="all")
    with ingest.connect(shown_store) as connection:
        [(kernels, short)] = connection.execute(
            "SELECT sum(kernels), sum(short_kernels) FROM step_metrics WHERE run_id = $1", [run]
        ).fetchall()
    found = metrics(page)
    assert found["Kernels"] == f"{kernels:,}"
    assert found["Shorter than their launch"] == f"{100 * short / kernels:.1f}%"
    assert list(found)[4:] == ["On matrix cores, by name", "Less than one wave", "Known work"]
    assert table_with(page, "bound")["percent"].max() < 100
    assert table_with(page, "fill")["percent"].sum() == pytest.approx(100)


def test_a_histogram_counts_each_kernel_once(opened, shown_store, run_of):
    page = opened(shown_store, "kernels", run=run_of(OWLV2), step="all")
    (bars,) = charts(page)
    assert f"{bars['calls'].sum():,}" == metrics(page)["Kernels"]


def test_a_kernel_in_the_address_opens_its_details(app, shown_store, run_of):
    run = run_of(OWLV2)
    name, _, calls, _ = longest(shown_store, run, offset=1)
    page = app(shown_store, "kernels", run=run, step="all", name=name)
    assert [tab.label for tab in page.tabs] == ["Operators", "Modules", "Lines", "Calls"]
    found = metrics(page)
    assert found["Grid"] == "328×3×16"
    assert (found["Registers"], found["Resident blocks"]) == ("236", "1")
    shown = texts(page)
    assert "By its name, it uses tensor cores" in shown
    assert "by the datasheet of H100 SXM" in shown
    assert table_with(page, "op")["calls"].tolist() == [calls]
    assert "modeling_owlv2.py" in table_with(page, "name")["name"].iloc[0]
    assert charts(page)[0]["calls"].sum() == calls


def test_a_shape_in_the_address_opens_its_row(app, shown_store, run_of):
    run = run_of(OWLV2)
    with ingest.connect(shown_store) as connection:
        name, grids = connection.execute(
            "SELECT kernel, list(grid[1] ORDER BY device_ns DESC) "
            "FROM kernel_shapes_of_steps($1) WHERE grid[2] = 1 AND grid[3] = 1 "
            "GROUP BY kernel HAVING count(DISTINCT (block, registers, shared_bytes)) = 1 "
            "ORDER BY count(*) DESC, kernel LIMIT 1",
            [run],
        ).fetchone()
        shape = connection.execute(
            "SELECT concat_ws(' ', grid::VARCHAR, block::VARCHAR, registers, shared_bytes) "
            "FROM kernel_shapes_of_steps($1) WHERE kernel = $2 AND grid[1] = $3",
            [run, name, grids[-1]],
        ).fetchone()[0]
    assert len(grids) > 1
    page = app(shown_store, "kernels", run=run, step="all", name=name, shape=shape)
    assert metrics(page)["Grid"] == f"{grids[-1]:,}"


def test_search_narrows_the_table(app, shown_store, run_of):
    page = app(shown_store, "kernels", run=run_of(OWLV2))
    page.text_input(key="q").set_value("SOFTMAXFORWARD").run()
    assert len(table_with(page, "kernel")) == 1
    page.query_params["name"] = "gelu"
    page.run()
    assert "The filter hides **gelu**" in texts(page)
    page.text_input(key="q").set_value("no such thing").run()
    assert "Clear the search" in texts(page)


def test_a_run_without_a_device_says_so(opened, shown_store, run_of):
    page = opened(shown_store, "kernels", run=run_of(CPU))
    assert "Kernels run on devices only" in texts(page)
    assert not tables(page)


def test_unknown_peaks_can_be_given(opened, shared_traces, small):
    page = opened(shared_traces.store.path, "kernels", run=small)
    shown = texts(page)
    assert "The peaks are unknown: the trace does not describe the device." in shown
    assert "ingest edit RUN --tag peak_bfloat16=989 --tag peak_bandwidth=3.35" in shown


def test_columns_that_were_not_recorded_are_left_out(opened, shared_traces, small):
    page = opened(shared_traces.store.path, "kernels", run=small)
    assert {"waves", "occupancy_percent", "peak_percent"}.isdisjoint(table_with(page, "kernel"))
    shown = texts(page)
    assert "does not have registers and shared memory" in shown
    assert "does not have the grids" in shown


def test_details_say_what_is_unknown(app, shared_traces, small):
    page = app(shared_traces.store.path, "kernels", run=small, name="gelu_kernel")
    shown = texts(page)
    assert "It ran once" in shown
    assert "does not say which nn.Module" in shown
    assert "does not say which line of Python" in shown
    page = app(shared_traces.store.path, "kernels", run=small, name="sgemm_128x64")
    assert "The peaks of the device are unknown" in texts(page)


def test_given_peaks_are_named(app, traces):
    options = ingest.AddOptions(tags={"peak_float32": "10", "peak_bandwidth": "1"})
    run = traces.store.add(traces.write(training(), "given"), options).run_id
    page = app(traces.store.path, "kernels", run=run, name="sgemm_128x64")
    assert "Peaks: 10.0 TFLOPS in float32, 1.00 TB/s by the run's tags." in texts(page)


def test_a_device_that_only_copied_has_no_kernels(app, traces):
    copy = kernel("Memcpy HtoD", 20, 5, category="gpu_memcpy", correlation=1)
    launch = host("cudaMemcpyAsync", "cuda_runtime", 5, 2, {"correlation": 1})
    run = add_whole(traces, "copies", [op("aten::copy_", 0, 10), launch, copy])
    assert "No kernel ran on this device in the measured steps" in texts(
        app(traces.store.path, "kernels", run=run)
    )


def test_a_run_without_activity_says_so(app, traces):
    run = add_whole(traces, "idle", [{"ph": "X", "cat": "python_function", "name": "f", "ts": 1}])
    assert "No activity was recorded" in texts(app(traces.store.path, "kernels", run=run))


def test_several_runs_are_side_by_side(app, shown_store, run_of):
    runs = [run_of(WORKERS0), run_of(WORKERS4)]
    page = app(shown_store, "kernels", run=runs)
    (table,) = tables(page)
    first, second = (table[f"{run}_ns"].fillna(0) for run in runs)
    assert list(table["change_ns"]) == list(second - first)
    assert table["change_ns"].abs().is_monotonic_decreasing
    page.text_input(key="q").set_value("no such thing").run()
    assert "Clear the search" in texts(page)


def test_counters_of_kernels_stand_beside_the_computed_work(app, shared_traces):
    counters = {
        f"smsp__sass_thread_inst_executed_op_{kind}{name}_pred_on.sum": 1000
        for kind in "dfh"
        for name in ("add", "mul", "fma")
    }
    shapes = {"Input Dims": [[10, 20], [20, 30]], "Input type": ["float", "float"]}
    events = [
        op("aten::mm", 1, 20, args=shapes),
        host("cudaLaunchKernel", "cuda_runtime", 2, 2, {"correlation": 1}),
        host("sgemm", "cuda_profiler_range", 50, 2, counters, tid=9),
    ]
    run = add_whole(shared_traces, "counters", events)
    page = app(shared_traces.store.path, "kernels", run=run)
    row = table_with(page, "measured_flops").iloc[0]
    assert row[["kernel", "op", "measured_flops", "flops"]].tolist() == [
        *("sgemm", "aten::mm"),
        *(12_000, 2 * 10 * 20 * 30),
    ]
    assert "hardware counters of kernels instead of their times" in texts(page)


def test_hosts_of_several_runs_have_no_kernels(app, traces):
    runs = [add_whole(traces, name, [op("aten::mm", 0, 10)]) for name in ("one", "two")]
    assert "Kernels run on devices only" in texts(app(traces.store.path, "kernels", run=runs))
