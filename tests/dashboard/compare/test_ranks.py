"""The ranks of two runs on page Compare."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import ingest
from tests.builders.rank_runs import late, stepping, without_collectives
from tests.dashboard.elements import table_with, texts


@pytest.fixture(scope="module")
def rank_store(tmp_path_factory: pytest.TempPathFactory) -> ingest.Store:
    """A store of runs of ranks whose straggler is known, and of one rank."""
    directory = tmp_path_factory.mktemp("ranks")
    store = ingest.Store(directory / "store")
    runs = {
        "before": stepping(range(4), late(1, 400)),
        "after": stepping(range(5), late(2)),
        "silent": without_collectives(stepping(range(4), late(1))),
        "alone": stepping([0], late(0)),
    }
    for name, run in runs.items():
        (directory / name).mkdir()
        for file, content in run.files.items():
            (directory / name / file).write_text(json.dumps(content))
        store.add(directory / name)
    return store


@pytest.fixture
def ranks_page(app: Callable[..., Any], rank_store: ingest.Store) -> Callable[[str, str], Any]:
    """A function that opens the page on two runs of the store."""

    def run(base: str, other: str) -> Any:
        names = {"base": rank_store.find(base), "other": rank_store.find(other)}
        shown = app(rank_store.path, "compare", **names)
        assert not shown.exception
        return shown

    return run


def test_each_rank_and_the_worst_ranks_are_compared(
    ranks_page: Callable[[str, str], Any], rank_store: ingest.Store
) -> None:
    shown = ranks_page("before", "after")
    rows = table_with(shown, "lateness")
    assert list(rows["rank"]) == [2, 1, 0, 3]
    with ingest.connect(rank_store.path) as connection:
        runs = [rank_store.find(name) for name in ("before", "after")]
        figures = connection.execute(
            "SELECT change_wall_ns, change_percent FROM rank_diff($1, $2) "
            "WHERE base_rank = other_rank ORDER BY ordinal",
            runs,
        ).fetchall()
    assert (
        list(rows[["change_wall_ns", "change_percent"]].itertuples(index=False, name=None))
        == figures
    )
    assert set(rows["wall time"]) == {"5.30 → 5.70 ms"}
    assert list(rows["compute"]) == ["4.80 → 5.60 ms", "5.20 → 4.80 ms", "4.80 ms", "4.80 ms"]
    assert "rank 1, the straggler (5.30 ms in" in texts(shown)
    assert "rank 2, the straggler (5.70 ms in" in texts(shown)
    assert "rank 4." in texts(shown)
    assert "(#ranks)" in texts(shown)


def test_unknown_waiting_is_not_zero(ranks_page: Callable[[str, str], Any]) -> None:
    rows = table_with(ranks_page("before", "silent"), "lateness").set_index("rank")
    assert rows.loc[0, "waiting"] == "400 µs → –"
    assert rows.loc[1, "waiting"] == "0 → –"


def test_a_run_of_one_rank_has_no_ranks_to_compare(ranks_page: Callable[[str, str], Any]) -> None:
    shown = texts(ranks_page("before", "alone"))
    assert "Worst against worst" not in shown
    assert "(#ranks)" not in shown
