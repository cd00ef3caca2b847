"""Page Bubbles, without a browser."""

import pyarrow as pa
import pytest

from tests.dashboard.elements import MARKS, add_whole, event, marks, texts
from tests.samples import TWO_RANKS


def test_bubbles_begin_with_a_run_that_has_a_device(app, traces):
    host = add_whole(traces, "host", [event("cpu_op", 0)])
    device = add_whole(traces, "device", [event("kernel", 0)])
    page = app(traces.store.path, "bubbles", run=[host, device])
    assert page.selectbox(key="of").value == device
    assert len(page.get("vega_lite_chart")) > 1
    page.selectbox(key="of").select(host).run()
    assert "no device" in texts(page)
    assert len(page.get("vega_lite_chart")) == 1


def test_runs_whose_ids_begin_alike_have_bars_of_their_own(app, traces):
    name = "a_long_name_of_a_training_run_that_others_share"
    runs = [add_whole(traces, name + end, [event("kernel", 0, end)]) for end in ("_one", "_two")]
    page = app(traces.store.path, "bubbles", run=runs)
    split = pa.ipc.open_stream(page.get("vega_lite_chart")[0].proto.datasets[0].data.data)
    shares = split.read_all().group_by("bar").aggregate([("percent", "sum")]).to_pydict()
    assert shares == {
        "bar": [f"{run}, rank 0 device 0" for run in sorted(runs)],
        "percent_sum": [100, 100],
    }


@pytest.mark.parametrize("window", [{}, {"from": "0", "to": "5000000"}, {"from": "x", "to": "-1"}])
def test_no_more_than_a_few_thousand_marks_are_sent(app, shown_store, run_of, window):
    for run in ("h100_owlv2", "v100_resnet50_workers0", TWO_RANKS):
        page = app(shown_store, "bubbles", run=run_of(run), **window)
        assert 10 < sum(marks(chart) for chart in page.get("vega_lite_chart")) < MARKS
