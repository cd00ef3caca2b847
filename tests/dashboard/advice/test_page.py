"""Page Advice, without a browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from dashboard.drawing import formatting
from tests.dashboard.conftest import CPU, OWLV2, WORKERS0
from tests.dashboard.elements import add_whole, event, tables, texts
from tests.helpers.samples import TWO_RANKS


@pytest.fixture
def advice_of(
    shown_store: Path, run_of: Callable[[str], str]
) -> Callable[[str], list[dict[str, Any]]]:
    """The rows of view `advice` for a run's default device, in the order of the page."""

    def rows(name: str) -> list[dict[str, Any]]:
        with ingest.connect(shown_store) as connection:
            found: duckdb.DuckDBPyConnection = connection.execute(
                "SELECT * FROM advice WHERE run_id = ? AND is_default "
                "ORDER BY is_reachable DESC, coalesce(gain_ns, bound_ns) DESC, kind",
                [run_of(name)],
            )
            return list(found.df().to_dict("records"))

    return rows


@pytest.fixture(scope="module")
def titles(shown_store):
    with ingest.connect(shown_store) as connection:
        return dict(connection.sql("SELECT kind, title FROM advice_kinds").fetchall())


@pytest.mark.parametrize("name", [WORKERS0, OWLV2, TWO_RANKS])
def test_advice_is_ranked_with_its_bound_finding_and_remedy(
    opened, shown_store, run_of, advice_of, name, titles
):
    page = opened(shown_store, "advice", run=run_of(name))
    bounds = [metric for metric in page.metric if metric.label == "at most"]
    expected = advice_of(name)
    assert expected
    assert [metric.value for metric in bounds] == [
        formatting.duration(piece["bound_ns"]) for piece in expected
    ]
    page_text = texts(page)
    for piece in expected:
        assert titles[piece["kind"]] in page_text
        assert formatting.literal(piece["finding"]) in page_text
        assert formatting.literal(piece["remedy"]) in page_text


def test_other_checks_are_listed(app, shown_store, run_of, titles):
    page = app(shown_store, "advice", run=run_of(WORKERS0))
    page.session_state["advice-others"] = True
    *_, others = tables(page.run())
    assert set(others["kind"]) == {
        titles[kind]
        for kind in (
            *("blocking", "recompiled", "exposed_communication", "unfused_attention"),
            "straggler",
        )
    }


def test_all_shares_are_of_the_wall_time_of_a_step(opened, shown_store, run_of, advice_of):
    with ingest.connect(shown_store) as connection:
        ((wall, bubble),) = connection.execute(
            "SELECT wall_ns, idle_ns FROM run_metrics WHERE run_id = ?", [run_of(WORKERS0)]
        ).fetchall()
    page = opened(shown_store, "advice", run=run_of(WORKERS0))
    (idle,) = (metric for metric in page.metric if metric.label == "Idle")
    assert idle.delta == f"{formatting.percent(100 * bubble / wall)} of the wall time"
    pieces = advice_of(WORKERS0)
    idle_shares = [piece["percent"] for piece in pieces if not formatting.missing(piece["cause"])]
    assert sum(idle_shares) <= 100 * bubble / wall
    assert "All shares on this page are of the wall time of the steps shown." in texts(page)


def test_the_page_shows_the_picked_steps(app, shown_store, run_of):
    run = run_of(WORKERS0)
    page = app(shown_store, "advice", run=run, step="7-9")
    with ingest.connect(shown_store) as connection:
        expected = connection.execute(
            "SELECT bound_ns, finding FROM advice_of_steps(?, 7, 9) WHERE is_advice "
            "ORDER BY is_reachable DESC, coalesce(gain_ns, bound_ns) DESC, kind",
            [run],
        ).fetchall()
        ((wall,),) = connection.execute(
            "SELECT sum(wall_ns) FROM step_metrics WHERE run_id = ? AND step BETWEEN 7 AND 9", [run]
        ).fetchall()
    assert (page.metric[0].label, page.metric[0].value, page.metric[0].delta) == (
        "Steps 7 to 9",
        formatting.duration(wall),
        "3 steps",
    )
    bounds = [metric.value for metric in page.metric if metric.label == "at most"]
    assert bounds == [formatting.duration(bound) for bound, _ in expected]
    assert all(formatting.literal(finding) in texts(page) for _, finding in expected)


def test_a_run_without_a_device_lists_the_unknown_checks(app, shown_store, run_of, titles):
    page = app(shown_store, "advice", run=run_of(CPU))
    page.session_state["advice-others"] = True
    page_text = texts(page.run())
    assert "Between operators: Python" in page_text
    (unknown,) = (line for line in page_text.splitlines() if line.startswith("Unknown, because"))
    assert "the run has no device" in unknown
    assert titles["float_matmul"] in unknown


def test_a_run_without_advice_says_so(app, traces):
    run = add_whole(traces, "busy", [event("cpu_op", 0), event("cpu_op", 10)])
    page = app(traces.store.path, "advice", run=run)
    (nothing,) = page.success
    assert "There is no advice" in nothing.value
    assert "Minor findings" in texts(page)
