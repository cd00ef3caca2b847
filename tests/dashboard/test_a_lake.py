"""Pages on a store at a URL: they show what they show on a store in a directory."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ingest
from ingest.store.lake.lake import Lake
from ingest.store.lake.push import push
from tests.dashboard.elements import frames, table_columns, tables, texts
from tests.helpers.recorded import DEVICE, NETWORK, SNAPSHOT

PAGES: dict[str, dict[str, str]] = {
    "runs": {},
    "overview": {"run": DEVICE},
    "operators": {"run": DEVICE, "level": "kernel"},
    "kernels": {"run": DEVICE},
    "roofline": {"run": DEVICE},
    "bubbles": {"run": DEVICE},
    "ranks": {"run": DEVICE},
    "timeline": {"run": DEVICE},
    "memory": {"run": SNAPSHOT},
    "trends": {},
    "compare": {"base": DEVICE, "other": NETWORK},
}
RUNS = ("run", "base", "other")  # parameters that name runs


@pytest.fixture(scope="module")
def lake(small: ingest.Store, small_lake: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a lake with the runs of `small`. The tests of this file share it."""
    directory = tmp_path_factory.mktemp("pages") / "lake"
    shutil.copytree(small_lake, directory)
    list(push(small, f"file://{directory}", small.run_ids()))
    return f"file://{directory}"


@pytest.mark.parametrize("page", PAGES)
def test_pages_show_the_same(
    app: Callable[..., Any], small: ingest.Store, lake: str, page: str
) -> None:
    query = {key: small.find(v) if key in RUNS else v for key, v in PAGES[page].items()}
    expected, found = app(small.path, page, **query), app(lake, page, **query)
    assert not found.exception
    assert texts(found).replace(lake, str(small.path)) == texts(expected)
    assert frames(found) == frames(expected)
    for one, other in zip(tables(found), tables(expected), strict=True):
        assert one.equals(other)


def test_queries_of_users_run(app: Callable[..., Any], lake: str) -> None:
    page = app(lake, "sql", sql="SELECT count(*) AS runs FROM run_overview")
    assert not page.exception
    [column] = table_columns(page)
    assert (column["heading"], column["texts"]) == ("runs", ["5"])


def test_an_open_page_shows_changes(app: Callable[..., Any], own_lake: str) -> None:
    page = app(own_lake, "runs")
    assert len(tables(page)[0]) == 3
    lake = Lake(own_lake)
    lake.edit(lake.find(SNAPSHOT), ingest.AddOptions(model="new"))
    lake.remove(lake.find(DEVICE))
    page.run()
    assert not page.exception
    found = tables(page)[0]
    assert sorted(found["model"].dropna()) == ["new"]
    assert len(found) == 2


def test_a_lake_that_cannot_be_opened_is_an_error(app: Callable[..., Any], tmp_path: Path) -> None:
    page = app(f"file://{tmp_path}/missing", "runs")
    [error] = page.error
    assert "no such store" in error.value
