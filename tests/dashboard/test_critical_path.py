"""The critical path on pages Overview and Advice, without a browser."""

import ingest
from tests.dashboard.elements import lanes, table_with, tables

WORKERS = "v100_resnet50_workers4"


def test_overview_draws_the_path_of_a_step(app, shown_store, run_of):
    page = app(shown_store, "overview", run=run_of(WORKERS), step="8")
    [chart] = lanes(page)
    [strip] = chart["strips"]
    with ingest.connect(shown_store) as connection:
        [(length_ns,)] = connection.execute(
            "SELECT sum(dur_ns)::BIGINT FROM critical_path($1, 0, 8)", [run_of(WORKERS)]
        ).fetchall()
    assert chart["since"] == 0
    assert strip["start"][0] == 0
    assert length_ns <= strip["end"][-1] == chart["until"] < length_ns * 1.01
    assert "host" in dict(chart["legend"])


def test_overview_draws_no_path_for_several_steps(app, shown_store, run_of):
    assert lanes(app(shown_store, "overview", run=run_of(WORKERS), step="6-8")) == []


def test_advice_shows_the_summary_of_the_critical_path(app, shown_store, run_of):
    page = app(shown_store, "advice", run=run_of(WORKERS))
    with ingest.connect(shown_store) as connection:

        def summary(levels: str) -> list[tuple]:
            return connection.execute(
                "SELECT name, on_path_ns, gain_ns FROM critical_path_summary "
                f"WHERE run_id = $1 AND is_median AND level IN ({levels}) AND name IS NOT NULL "
                "ORDER BY gain_ns DESC NULLS LAST, on_path_ns DESC, name",
                [run_of(WORKERS)],
            ).fetchall()

        columns = ["name", "on_path_ns", "gain_ns"]
        kinds, names, *_ = [
            list(table[columns].itertuples(index=False, name=None))
            for table in tables(page)
            if "on_path_ns" in table
        ]
        assert kinds == summary("'kind'")
        assert names == summary("'call', 'kernel'")[:8]


def test_an_operator_shows_its_kernel_sequences(app, shown_store, run_of):
    page = app(shown_store, "operators", run=run_of(WORKERS), name="aten::conv2d", step="8")
    table = table_with(page, "sequence")
    with ingest.connect(shown_store) as connection:
        sequences = connection.execute(
            "SELECT length, calls, device_ns FROM kernel_sequences($1, 8, 8) "
            "WHERE level = 'op' AND name = 'aten::conv2d' ORDER BY ALL",
            [run_of(WORKERS)],
        ).fetchall()
    found = table[["length", "calls", "device_ns"]].itertuples(index=False, name=None)
    assert sorted(found) == sequences
    assert any(" → " in text for text in table["sequence"])
