"""Page Compare on groups of runs, without a browser."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ingest
from dashboard.drawing import colours, formatting
from tests.builders import diff_traces
from tests.builders.diff_traces import Call, trace
from tests.builders.events import host
from tests.conftest import Traces
from tests.dashboard.elements import table_with, texts

LENGTHS: dict[str, Iterable[float]] = {
    "main": (102, 100, 104, 101, 103),
    "slow": (113, 112, 111),
    "wider": (98, 106, 102.5),
}
LONGER = (100, 101, 102)  # by how much the steps of `wider` are longer
SHIFTING = [(60, 200), (160, 50), (60, 50)]  # the length and start of `mm`
STEP = 400


def step(mm: Any, start: int = 50, length: int = STEP) -> list[dict[str, Any]]:
    """Return a trace of two steps, each with two kernels one after the other."""
    calls = [
        Call("aten::mm", (10, 20), "gemm", (start, mm)),
        Call("aten::add", (40, 20), "add_kernel", (300, 10)),
    ]
    return trace(calls, length, 2)


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of branches with several runs each.

    LENGTHS has the time of `aten::mm` in each run in µs. `wider` has longer steps than `main`, and
    the same work. In `shifting`, one run waits while another works.
    """
    directory = tmp_path_factory.mktemp("groups")
    traces = Traces(directory, ingest.Store(directory / "store"))

    def add(name: str, events: Any, model: str, **tags: str) -> None:
        path = traces.write(events, name, **diff_traces.DEVICE)
        traces.store.add(path, ingest.AddOptions(name=name, model=model, tags=tags))

    for branch in ("main", "slow"):
        for number, mm in enumerate(LENGTHS[branch]):
            add(f"{branch}{number}", step(mm), "tiny", branch=branch, nightly="yes")
    add("lone0", step(108), "tiny", branch="lone", nightly="yes")
    for number, (mm, more) in enumerate(zip(LENGTHS["wider"], LONGER, strict=True)):
        add(f"wider{number}", step(mm, length=STEP + more), "wide", branch="wider")
    for number, (mm, start) in enumerate(SHIFTING):
        add(f"shifting{number}", step(mm, start), "shift", branch="shifting")
    add("empty", [host("nothing", "trace", 0, 10)], "none", branch="lone")
    return traces.store.path


@pytest.fixture
def page(opened: Callable[..., Any], groups: Path) -> Callable[..., Any]:
    """A function that opens the page on two sides. Tests share the page."""

    def run(base: str, other: str) -> Any:
        shown = opened(groups, "compare", base=base, other=other)
        assert not shown.exception
        return shown

    return run


@pytest.fixture
def own_page(app: Callable[..., Any], groups: Path) -> Callable[..., Any]:
    """A function that opens the page on two sides, for use by this test only."""
    return lambda base, other: app(groups, "compare", base=base, other=other)


def compared(groups: Path, base: str, other: str) -> ingest.Comparison:
    """Compare the same sides like `ingest diff`."""
    with ingest.connect(groups) as connection:
        store = ingest.Store(groups)
        sides = [ingest.runs_of(connection, store, side) for side in (base, other)]
        return ingest.compare(connection, *sides)


def metric_table(shown: Any) -> pd.DataFrame:
    shown.session_state["all-metrics"] = True
    return table_with(shown.run(), "rank test").set_index("metric")


def test_the_pickers_offer_existing_groups(app: Any, groups: Path) -> None:
    options = app(groups, "compare").selectbox(key="base").options
    runs = len(ingest.Store(groups).run_ids())
    offered = [*(f"model:{name}" for name in ("shift", "tiny", "wide"))]
    branches = ("lone", "main", "shifting", "slow", "wider")
    offered += [f"tag:branch={branch}" for branch in branches]
    assert options[runs:] == [*offered, "tag:nightly=yes"]


def test_medians_with_spread_and_a_rank_test_and_then_the_sides_swapped(
    own_page: Any, groups: Path
) -> None:
    base, other = "tag:branch=main", "tag:slow"
    shown = own_page(base, other)
    text = texts(shown)
    assert (
        f"**{formatting.literal(base)}**: 5 runs · **{formatting.literal(other)}**: 3 runs" in text
    )
    expected = {metric.name: metric for metric in compared(groups, base, other).metrics}
    rows = metric_table(shown)
    compute = rows.loc["compute"]
    # In main, the median of mm is 102 µs, add takes 10 µs, and the median distance is 1 µs.
    assert list(compute[["base", "base_spread", "other", "other_spread"]]) == [
        "112 µs",
        "1.00 µs",
        "122 µs",
        "1.00 µs",
    ]
    # The most extreme 2 of the 56 orders of 5 and 3 runs.
    assert compute["rank test"] == f"p = {2 / 56:.2g}"
    # Parts have the same labels as in charts.
    named = {
        colours.label(colours.part_of(name)) if metric.is_part else name.replace("_", " "): metric
        for name, metric in expected.items()
    }
    for name, row in rows.iterrows():
        metric = named[str(name)]
        if metric.unit == "ns":
            assert row["base"] == formatting.duration(metric.base)
            assert row["other"] == formatting.duration(metric.other)
    (busy,) = (metric for metric in shown.metric if metric.label == "Device busy")
    assert busy.value == "112 µs → 122 µs"
    next(button for button in shown.button if button.label == "Swap").click().run()
    assert [shown.selectbox(key=side).value for side in ("base", "other")] == [other, base]
    assert metric_table(shown).loc["compute", "base"] == "122 µs"


def test_the_answer_includes_the_rank_test(page: Any, own_page: Any) -> None:
    text = texts(page("tag:branch=main", "tag:branch=wider"))
    assert "**501 µs** in its median step (median of 3 runs, ± 1.00 µs)" in text
    assert "**400 µs** (median of 5 runs, ± 0 µs)" in text
    assert "unlikely to be chance" in text  # the least p of 3 against 5 runs is 0.04
    same = texts(page("tag:branch=main", "tag:branch=slow"))
    assert "**no difference**." in same
    alone = own_page("tag:branch=slow", "name:wider0")
    assert "too few runs to rule out chance" in texts(alone)
    assert set(metric_table(alone)["rank test"]) <= {"too few runs", "–"}


def test_a_change_within_the_noise_has_no_colour(page: Any) -> None:
    noise = {m.label: m for m in page("tag:branch=main", "tag:branch=wider").metric}
    assert noise["Device busy"].proto.color == noise["Device busy"].proto.MetricColor.GRAY
    significant = {m.label: m for m in page("tag:branch=main", "tag:branch=slow").metric}
    assert (
        significant["Device busy"].proto.color == significant["Device busy"].proto.MetricColor.RED
    )


def test_the_parts_are_medians_if_they_add_up(page: Any) -> None:
    shown = page("tag:branch=main", "tag:branch=slow")
    compute = table_with(shown, "part").set_index("part").loc["compute"]
    assert [compute["base_ns"], compute["other_ns"]] == [112_000, 122_000]
    assert "do not add up" not in texts(shown)


def test_the_parts_are_those_of_the_median_runs_if_medians_do_not_add_up(
    page: Any, groups: Path
) -> None:
    shown = page("tag:branch=shifting", "tag:branch=wider")
    assert "medians of the parts do not add up" in texts(shown)
    both = compared(groups, "tag:branch=shifting", "tag:branch=wider")
    assert f"**{both.base.run}** and **{both.other.run}**" in texts(shown).replace("\\", "")
    rows = table_with(shown, "part")
    assert rows["change_ns"].iloc[1:].sum() == pytest.approx(rows["change_ns"].iloc[0])


def test_other_sections_compare_the_median_runs(own_page: Any, groups: Path) -> None:
    both = compared(groups, "tag:branch=main", "tag:branch=wider")
    shown = own_page("tag:branch=main", "tag:branch=wider")
    median = table_with(shown, "median")
    assert list(median["run"][median["median"] == "yes"]) == [both.base.run, both.other.run]
    assert len(median) == 8
    headings = [text.value for text in shown.markdown if " in this range" in text.value]
    for run, heading in zip((both.base.run, both.other.run), headings, strict=True):
        assert heading.startswith(f"**{formatting.literal(run)}**")
    next(b for b in shown.button if b.label == "Compare only these two").click().run()
    assert shown.selectbox(key="base").value == both.base.run
    assert shown.selectbox(key="other").value == both.other.run
    assert "median of" not in texts(shown)
    assert not shown.exception


def test_a_run_against_a_group(page: Any, groups: Path) -> None:
    run = ingest.Store(groups).find("wider0")
    text = texts(page(run, "tag:branch=main"))
    assert "(one run)" in text
    assert "too few runs" in text


@pytest.mark.parametrize(
    ("base", "other", "notice"),
    [
        ("tag:branch=gone", "tag:branch=main", "No run in this store matches"),
        ("tag:branch=main", "tag:branch=main", "Both sides are the same 5 runs"),
        ("tag:branch=main", "tag:nightly", "and 2 more are on both sides"),
        ("tag:branch=slow", "tag:branch=shifting2", "No run in this store matches"),
        ("name:slow0", "tag:branch=main", ": one run, "),
        ("name:slow0", "name:main0", ": one run, "),
        ("slow0", "main0", ": one run, "),
        ("model:none", "tag:branch=main", "nothing to compare; the run has no operators"),
        ("tag:branch=main", "tag:branch=lone", "nothing to compare; the run has no operators"),
    ],
)
def test_sides_that_cannot_be_compared_show_a_notice(
    page: Any, base: str, other: str, notice: str
) -> None:
    assert notice in texts(page(base, other))
