"""A page that the user opens without a run shows one, and says which."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import ingest
from tests.dashboard.elements import texts


def newest(store: Path, relation: str) -> str:
    with ingest.connect(store) as connection:
        [(run,)] = connection.sql(
            f"SELECT run_id FROM run_overview WHERE run_id IN (SELECT run_id FROM {relation}) "
            "ORDER BY ingested_at DESC, run_id LIMIT 1"
        ).fetchall()
    return str(run)


@pytest.mark.parametrize(
    ("page", "relation"),
    [
        ("overview", "run_metrics"),
        ("operators", "run_metrics"),
        ("kernels", "device_totals"),
        ("streams", "device_totals"),
        ("modules", "module_tree"),
        ("ranks", "rank_clocks"),
        ("memory", "memory_peak"),
    ],
)
def test_a_page_opened_without_a_run_shows_the_newest_with_data(
    app: Callable[..., AppTest], shown_store: Path, page: str, relation: str
) -> None:
    shown = app(shown_store, page)
    run = newest(shown_store, relation)
    assert shown.session_state["run"] == [run]
    assert run in texts(shown)
    assert "You picked no run. This is the last one added that this page can show" in texts(shown)


def test_a_page_opened_without_a_run_shows_the_run_last_looked_at(
    app: Callable[..., AppTest],
    shown_store: Path,
    run_of: Callable[[str], str],
    page_hashes: dict[str, str],
) -> None:
    run = run_of("v100_resnet50_workers0")
    assert run != newest(shown_store, "run_metrics")
    page = app(shown_store, "bubbles", run=run)
    assert "You picked no run" not in texts(page)
    page.multiselect(key="run").set_value([]).run()
    assert "Pick a run" in texts(page)  # the user emptied the list on this page
    page._page_hash = page_hashes["operators"]
    page.run()
    assert page.session_state["run"] == [run]
    assert "This is the run that you looked at last" in texts(page)
    page.multiselect(key="run").set_value([newest(shown_store, "run_metrics")]).run()
    assert "You picked no run" not in texts(page)


def test_an_offered_run_does_not_limit_pages_of_the_whole_store(
    app: Callable[..., AppTest], shown_store: Path, page_hashes: dict[str, str]
) -> None:
    page = app(shown_store, "overview")
    run = page.session_state["run"]
    page._page_hash = page_hashes["bubbles"]
    assert "You picked no run" in texts(page.run())
    page._page_hash = page_hashes["trends"]
    assert "picked runs" not in texts(page.run())
    assert page.session_state["run"] == []
    page._page_hash = page_hashes["overview"]
    page.run()
    assert page.session_state["run"] == run
    assert "This is the run that you looked at last" in texts(page)
