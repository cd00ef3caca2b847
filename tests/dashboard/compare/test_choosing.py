"""Page Compare: the default pair, one base against several runs, and settings that differ."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ingest
from tests.builders import diff_traces
from tests.builders.diff_traces import Call, trace
from tests.conftest import Traces
from tests.dashboard.elements import table_with, tables, texts

DAY_NS = 86_400 * 10**9
RUNS = {  # name → the model, the day, and the lengths of a step and of its kernel in µs
    "old": ("flux", 1, 400, 100),
    "middle": ("flux", 3, 500, 120),
    "new": ("flux", 2, 300, 90),
    "lone": ("owl", 9, 200, 50),
}


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of RUNS, each with a tag and a `run.json`."""
    directory = tmp_path_factory.mktemp("days")
    traces = Traces(directory, ingest.Store(directory / "store"))
    for name, (model, day, length, busy) in RUNS.items():
        calls = [Call("aten::mm", (10, 20), "gemm", (50, busy))]
        started = {"baseTimeNanoseconds": (20_000 + day) * DAY_NS}
        path = traces.write(trace(calls, length, 2), name, **diff_traces.DEVICE, **started)
        run = directory / name
        run.mkdir()
        path.rename(run / "trace.json")
        (run / "run.json").write_text(json.dumps({"name": name, "batch": day, "seed": 1}))
        traces.store.add(run, ingest.AddOptions(name=name, model=model, tags={"branch": name}))
    return traces.store.path


@pytest.fixture
def page(app: Callable[..., Any], days: Path) -> Callable[..., Any]:
    """A function that opens the page with picked runs and URL parameters."""
    store = ingest.Store(days)

    def run(*picked: str, **query: str) -> Any:
        sides = {key: store.find(query[key]) for key in ("base", "other") if key in query}
        runs = {"run": [store.find(name) for name in picked]} if picked else {}
        shown = app(days, "compare", **{**query, **runs, **sides})
        assert not shown.exception
        return shown

    return run


def pair(shown: Any) -> tuple[str, ...]:
    """Return the names of the two runs."""
    sides = (shown.selectbox(key=key).value for key in ("base", "other"))
    return tuple(str(side).rpartition("-")[0] for side in sides)


@pytest.mark.parametrize(
    ("picked", "expected", "reason"),
    [
        ((), ("new", "middle"), "The latest two runs of **flux** on the same device"),
        (("new",), ("old", "new"), "The picked run and the previous run of **flux**"),
        (("middle", "old"), ("old", "middle"), "The two picked runs, the earlier one first."),
        (("old", "new", "middle"), ("new", "middle"), "The latest two of the 3 picked runs."),
        (("old",), ("old", "new"), "is the earliest run of **flux**, so the next one is compared"),
        (("lone",), ("middle", "lone"), "is the earliest run of **owl**, and the only one"),
    ],
)
def test_the_default_pair_and_its_reason(
    page: Any, picked: Any, expected: Any, reason: str
) -> None:
    shown = page(*picked)
    assert pair(shown) == expected
    assert reason in texts(shown)


def test_the_pair_follows_the_picked_runs_until_the_user_chooses(page: Any, days: Path) -> None:
    shown = page("new")
    store = ingest.Store(days)
    shown.multiselect(key="run").set_value([store.find("middle"), store.find("old")]).run()
    assert pair(shown) == ("old", "middle")
    next(button for button in shown.button if button.label == "Swap").click().run()
    assert "The two picked runs" not in texts(shown)
    shown.multiselect(key="run").set_value([store.find("new")]).run()
    assert pair(shown) == ("middle", "old")
    assert not shown.exception


def test_a_pair_in_the_url_stays(page: Any) -> None:
    shown = page("new", "middle", base="lone", other="old")
    assert pair(shown) == ("lone", "old")
    assert "picked run" not in texts(shown)


def test_several_runs_are_compared_with_the_base(page: Any) -> None:
    table = table_with(page("old", "new", "middle"), "side")
    assert [run.rpartition("-")[0] for run in table["run"]] == ["new", "old", "middle"]
    assert list(table["side"]) == ["from", "", "to"]
    assert list(table["wall_ns"]) == [300_000, 400_000, 500_000]
    assert list(table["change_ns"])[1:] == [100_000, 200_000]
    assert list(table["busy_from_to"]) == ["90.0 µs", "100 µs (+10.0 µs)", "120 µs (+30.0 µs)"]
    assert not any("side" in each for each in tables(page("old", "new")))


def test_the_table_includes_the_chosen_run_even_if_it_is_not_picked(page: Any) -> None:
    table = table_with(page("old", "new", "middle", base="old", other="lone"), "side")
    assert dict(zip(table["side"], table["wall_ns"], strict=True))["to"] == 200_000
    assert len(table) == 4


def test_settings_that_differ_are_listed_and_the_others_counted(page: Any, days: Path) -> None:
    shown = page("old", "new")
    rows = table_with(shown, "setting")
    assert {tuple(row) for row in rows.itertuples(index=False)} == {
        ("configuration", "batch", "1", "2"),
        ("tag", "branch", "old", "new"),
    }
    with ingest.connect(days) as connection:
        store = ingest.Store(days)
        (same,) = connection.execute(
            "SELECT count(*) FROM setting_diff($1, $2) WHERE status = 'same'",
            [store.find("old"), store.find("new")],
        ).fetchall()[0]
    assert f"{same} settings are the same." in texts(shown)
    assert f"All {same + 2} settings" in [each.label for each in shown.expander]
    assert not any({"setting", "status"} <= set(each) for each in tables(shown))
