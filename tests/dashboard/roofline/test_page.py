"""Page Roofline, without a browser."""

import pytest

import ingest
from tests.builders.events import kernel, op
from tests.dashboard.conftest import CPU, OWLV2, WORKERS0
from tests.dashboard.elements import add_whole, data_of, table_with, tables, texts

SOFTMAX = "aten::_softmax [[16,5185,5185],[],[]] bfloat16"


@pytest.fixture(scope="module")
def without_shapes(shared_traces):
    """A run whose operators have no shapes."""
    events = [
        op("aten::mm", 1, 20),
        op("cudaLaunchKernel", 2, 5, cat="cuda_runtime", args={"correlation": 1}),
        kernel("gemm", 30, 100, correlation=1),
    ]
    return add_whole(shared_traces, "without shapes", events)


def metrics(page):
    return {metric.label: metric.value for metric in page.metric}


def test_rows_have_the_time_that_reaching_the_roofline_saves(opened, shown_store, run_of):
    run = run_of(OWLV2)
    table = table_with(opened(shown_store, "roofline", run=run), "saved_ns")
    with ingest.connect(shown_store) as connection:
        expected = connection.execute(
            "SELECT op, sum(work_ns)::BIGINT, sum(saved_ns)::BIGINT FROM op_efficiency "
            "WHERE run_id = $1 AND is_median GROUP BY op, input_dims, dtype "
            "ORDER BY 3 DESC NULLS LAST LIMIT 5",
            [run],
        ).fetchall()
    assert table.head(5)[["name", "work_ns", "saved_ns"]].values.tolist() == list(
        map(list, expected)
    )


def test_the_top_line_is_the_utilisation_of_the_median_step(opened, shown_store, run_of):
    page = opened(shown_store, "roofline", run=run_of(OWLV2))
    assert metrics(page)["MFU"] == "2.4%"
    assert metrics(page)["Known work"] == "100.0%"
    assert "Peaks from the datasheet of H100 SXM" in texts(page)


def test_points_lie_below_the_roofs_of_their_types(opened, shown_store, run_of):
    page = opened(shown_store, "roofline", run=run_of(OWLV2))
    (chart,) = page.get("vega_lite_chart")
    frames = [each.to_pandas() for each in data_of(chart)]
    roofs, points = (
        next(frame for frame in frames if column in frame) for column in ("roof", "of_peak")
    )
    assert set(roofs["roof"]) == {"bfloat16 datasheet", "float32 datasheet"}
    assert roofs["y"].max() == pytest.approx(989.4e12)
    # A roof slopes by the bandwidth up to its edge.
    slope = roofs.groupby("roof").first()
    assert (slope["y"] / slope["x"]).tolist() == pytest.approx([3.35e12] * len(slope))
    assert (points["y"] < 989.4e12).all()
    assert {"compute", "memory", "launch", "neither"} == set(points["bound"])


def test_rows_above_the_peak_have_a_warning(opened, app, shown_store, run_of):
    run = run_of(OWLV2)
    with ingest.connect(shown_store) as connection:
        [(above,)] = connection.execute(
            "SELECT count(*) FROM op_efficiency "
            "WHERE run_id = $1 AND is_median AND warning = 'above_peak'",
            [run],
        ).fetchall()
    assert above
    for page in (
        opened(shown_store, "roofline", run=run),
        app(shown_store, "roofline", run=[run, run_of(WORKERS0)]),
    ):
        assert "inputs may come from a cache" in texts(page)


def test_a_ticked_row_has_its_calls(app, shown_store, run_of):
    page = app(shown_store, "roofline", run=run_of(OWLV2), at=SOFTMAX)
    calls = table_with(page, "launch_call_ns")
    assert len(calls) == 120
    assert metrics(page)["Time"] == "262 ms"
    assert "Bound by neither: less than 60% of both." in texts(page)


def test_the_work_of_modules_and_kernels_adds_up_to_that_of_operators(opened, shown_store, run_of):
    sums = {
        level: table_with(
            opened(shown_store, "roofline", run=run_of(OWLV2), points=level), "saved_ns"
        )["work_ns"].sum()
        for level in ("op", "kernel", "module", "kind")
    }
    assert len(set(sums.values())) == 1


def test_two_runs_are_side_by_side(app, shown_store, run_of):
    page = app(shown_store, "roofline", run=[run_of(OWLV2), run_of(WORKERS0)])
    table = table_with(page, "change_ns")
    assert {"aten::_softmax", "aten::cudnn_batch_norm"} <= set(table["name"])
    assert "Median steps." in texts(page)


def test_kinds_of_work_are_compared_if_operators_differ(app, shown_store, run_of):
    page = app(shown_store, "roofline", run=[run_of(OWLV2), run_of(WORKERS0)], points="kind")
    table = table_with(page, "change_ns").set_index("name")
    assert table.loc["product", ["first_ns", "second_ns"]].notna().all()
    assert table.index.is_unique


def test_a_host_without_peaks_says_how_to_give_them(opened, shown_store, run_of):
    page = opened(shown_store, "roofline", run=run_of(CPU))
    assert "a host has no datasheet" in texts(page)
    assert "ingest edit RUN --tag peak_bfloat16=989" in texts(page)


def test_a_run_without_shapes_says_what_is_missing(app, shared_traces, without_shapes):
    page = app(shared_traces.store.path, "roofline", run=without_shapes)
    assert "record_shapes=True" in texts(page)
    assert tables(page) == []


def test_a_search_that_finds_nothing_says_so(app, shown_store, run_of):
    page = app(shown_store, "roofline", run=run_of(OWLV2), q="no such operator")
    assert "No name contains this text" in texts(page)
