"""`ingest diff`: two runs, and two groups of runs, as people and scripts compare them."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ingest
from tests import samples
from tests.builders import diff_traces
from tests.builders.diff_traces import COMPILED, COMPILED_STEP, Call, trace
from tests.builders.events import host
from tests.command import Command, Result
from tests.conftest import Traces
from tests.samples import Samples

Diff = Callable[..., Result]
EAGER_TRACE, COMPILED_TRACE = samples.EAGER, f"{samples.COMPILED}-rank0"
WORKERS = ("v100_resnet50_workers0", "v100_resnet50_workers4")


@pytest.fixture
def diff(command: Command) -> Diff:
    """`ingest diff …` on the store of runs, or on another one."""
    return partial(command, "diff")


@pytest.fixture
def default_store(runs: Path) -> Path:
    """The store that `command` works on."""
    return runs


@pytest.fixture(scope="module")
def runs(sampled: Samples, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of pairs: one with a known answer, one of a CPU, one of a GPU; and of groups.

    `main` are five runs of a step whose `mm` takes 100 to 104 µs, `slow` five of 110 to 114, `same`
    five of 98 to 106, `few` three of 120 to 122, and `lone` is one of 108.
    """
    directory = tmp_path_factory.mktemp("diff")
    traces = Traces(directory, ingest.Store(directory / "store"))

    def add(name: str, events: Any, **labels: Any) -> None:
        path = traces.write(events, name, **diff_traces.DEVICE)
        traces.store.add(path, ingest.AddOptions(**labels))

    add("eager", diff_traces.eager(), model="tiny", tags={"kind": "odd"})
    add("compiled", diff_traces.compiled())
    lengths = {
        "main": (102, 100, 104, 101, 103),
        "slow": (110, 114, 113, 112, 111),
        "same": (98, 106, 99, 105, 102.5),
        "few": (120, 121, 122),
        "lone": (108,),
    }
    for group, values in lengths.items():
        for number, length in enumerate(values):
            calls = [
                Call("aten::mm", (10, 20), "gemm", (50, length)),
                Call("aten::add", (40, 20), "add_kernel", (50 + length, 10)),
            ]
            add(f"{group}{number}", trace(calls, 400, 2), tags={"branch": group})
    for name, start in (("beside", 90), ("more_beside", 80)):  # for 10 and 20 of 50 µs
        second = Call("aten::add", (40, 20), "add_kernel", (start, 50), stream=9)
        add(name, trace([Call("aten::mm", (10, 20), "gemm", (50, 50)), second], 400, 1))
    on_host = [e for e in diff_traces.eager() if e["cat"] in ("cpu_op", "user_annotation")]
    add("host", on_host, tags={"kind": "odd"})
    add("whole", [e for e in diff_traces.eager() if "ProfilerStep" not in e["name"]])
    add("empty", [host("nothing", "trace", 0, 10)], tags={"branch": "lone"})
    sampled.add(traces.store, EAGER_TRACE, COMPILED_TRACE, *WORKERS)
    traces.store.add(sampled.files("cpp_pickler_protocol2")[0], ingest.AddOptions("snap"))
    return traces.store.path


PAIRS = [
    ("eager", "compiled"),
    (EAGER_TRACE, COMPILED_TRACE),
    WORKERS,
]


def test_a_pair_with_a_known_answer(diff: Diff) -> None:
    said = diff("eager", "compiled")
    assert said.code == 0
    assert said.err == (
        "warning: The median step may not be typical, because steps vary by more than 10 % or "
        "there are fewer than three: 2 steps in the first run, 2 steps in the second.\n"
    )
    head = said.out.splitlines()[:4]
    assert head[0].startswith("BASE   eager-")
    assert head[0].endswith("rank 0  device 0  2 steps (ProfilerStep), the median is step 1")
    assert head[1].startswith("OTHER  compiled-")
    assert head[2] == "BASE: half of the steps take 1.00 ms to 1.00 ms"
    assert head[3] == "OTHER: half of the steps take 800 µs to 800 µs"
    rows = said.rows
    assert rows["wall"] == ["1.00 ms", "800 µs", "-200 µs", "-20.0"]
    assert rows["lead"] == ["50.0 µs", "50.0 µs", "0", "0.0"]
    assert rows["bubble_host"] == ["750 µs", "556 µs", "-194 µs", "-25.9"]
    assert rows["compute"] == ["200 µs", "194 µs", "-6.00 µs", "-3.0"]
    assert rows["launches"] == ["6", "4", "-2", "-33.3"]
    assert "bubble_sync" not in rows  # nothing on either side
    assert "steps" not in rows  # no change
    assert rows["aten::sum"][:6] == ["slower", "20.0 µs", "30.0 µs", "+10.0 µs", "+50.0", "1"]
    assert rows[diff_traces.FUSED][:6] == [
        "fused",
        "30.0 µs",
        "14.0 µs",
        "-16.0 µs",
        "-53.3",
        "3 → 1",
    ]
    assert rows["sum"] == ["200 µs", "194 µs", "-6.00 µs", "-3.0", "6 → 4", "6 → 4"]


def test_a_notebook_has_the_same_figures(diff: Diff, runs: Path) -> None:
    store = ingest.Store(runs)
    sides = [[store.find(name)] for name in ("eager", "compiled")]
    comparison = ingest.compare(ingest.connect(runs), *sides)
    told = json.loads(diff("eager", "compiled", "--json").out)
    assert [asdict(metric) for metric in comparison.metrics] == told["metrics"]
    metrics = {metric.name: metric for metric in comparison.metrics}
    parts = {
        metric.name: (metric.base, metric.other) for metric in comparison.metrics if metric.is_part
    }
    assert {name: pair for name, pair in parts.items() if any(pair)} == diff_traces.PARTS
    assert (metrics["wall"].base, metrics["wall"].other) == diff_traces.WALL
    for name, pair in diff_traces.COUNTS.items():
        assert (metrics[name].base, metrics[name].other) == pair


def test_a_fused_kernel_is_unfolded_into_what_it_replaces(diff: Diff) -> None:
    folded, unfolded = diff("eager", "compiled"), diff("eager", "compiled", "--unfold")
    assert "aten::mul" not in folded.rows
    assert unfolded.rows["aten::mul"] == ["10.0 µs", "1 → 0"]
    names = [line.split("   ")[0] for line in unfolded.out.splitlines()]
    place = next(i for i, name in enumerate(names) if diff_traces.FUSED in name)
    lines = unfolded.out.splitlines()[place + 1 : place + 4]
    assert sorted(line.split()[0] for line in lines) == ["aten::add", "aten::mul", "aten::relu"]
    assert unfolded.rows["sum"] == folded.rows["sum"]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0])
def test_parts_and_rows_add_up_to_the_ns(pair: tuple[str, str], diff: Diff, runs: Path) -> None:
    said = {by: json.loads(diff(*pair, "--json", "--by", by).out) for by in LEVELS}
    metrics = {metric["name"]: metric for metric in said["op"]["metrics"]}
    connection = ingest.connect(runs)
    macro = connection.sql(
        "SELECT metric, base, other, change, percent FROM run_diff($1, $2)",
        params=[said["op"]["base"]["run"], said["op"]["other"]["run"]],
    ).fetchall()
    columns = ("name", "base", "other", "change", "percent")
    assert [tuple(f[column] for column in columns) for f in metrics.values()] == macro
    parts = [metric for metric in metrics.values() if metric["is_part"]]
    for side in ("base", "other", "change"):
        assert sum(part[side] or 0 for part in parts) == metrics["wall"][side]
        of_busy = ("compute", "communication", "copy", "compiled_code")
        work = sum(metrics[name][side] or 0 for name in of_busy)
        for by in ("op", "kernel", "module"):
            total = sum(row[f"{side}_ns"] for row in said[by]["rows"])
            assert total == pytest.approx(work, abs=1), (by, side)  # metrics are whole ns
        total = sum(row[f"{side}_ns"] for row in said["class"]["rows"])
        assert total == metrics["busy"][side]


LEVELS = ("op", "kernel", "module", "class")


@pytest.mark.parametrize("by", ["op", "kernel"])
def test_what_is_not_shown_is_summed_up(by: str, diff: Diff) -> None:
    pair = EAGER_TRACE, COMPILED_TRACE
    rows = json.loads(diff(*pair, "--json", "--by", by).out)["rows"]
    said = diff(*pair, "--by", by, "--limit", 3)
    names = [name for name in said.rows if name.startswith("…")]
    counts = [int(name.split()[1]) for name in names]
    assert sum(counts) == len(rows) - 3
    alone = [name for name in names if "only in" in name]
    assert alone  # what has no partner is never hidden among the rest
    changes = [abs(row["change_ns"]) for row in rows]
    assert changes == sorted(changes, reverse=True)


def test_a_narrow_terminal_keeps_the_numbers(diff: Diff, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    said = diff("eager", "compiled", "--unfold")
    plain = re.sub(r"\x1b\[\d+m", "", said.out)
    assert max(map(len, plain.splitlines())) <= 80
    assert "30.0 µs   14.0 µs   -16.0 µs   -53.3   3 → 1\n" in plain


def test_groups_are_medians_with_a_rank_test(diff: Diff) -> None:
    said = diff("tag:branch=main", "tag:slow", "--limit", 1)
    assert said.code == 0
    assert said.out.startswith("BASE   median of 5 runs: main0-")
    assert "OTHER  median of 5 runs: slow3-" in said.out
    compute = said.rows["compute"]
    assert compute == ["112 µs", "1.00 µs", "122 µs", "1.00 µs", "+10.0 µs", "+8.9", "0.0079"]
    told = json.loads(diff("tag:branch=main", "tag:slow", "--json").out)
    compute = next(f for f in told["metrics"] if f["name"] == "compute")
    assert compute["base_values"] == [112_000, 110_000, 114_000, 111_000, 113_000]
    assert compute["p"] == pytest.approx(2 / 252)
    assert [len(told[side]["runs"]) for side in ("base", "other")] == [5, 5]
    rows = {row["name"]: row for row in told["rows"]}
    assert (rows["aten::mm"]["base_ns"], rows["aten::mm"]["other_ns"]) == (102_000, 112_000)


def test_too_few_runs_are_told(diff: Diff) -> None:
    assert "3 against 1 runs are too few to tell: p is at best 0.5" in diff("tag:few", "eager").out


def test_a_name_and_a_model_stand_for_runs(diff: Diff) -> None:
    assert diff("model:tiny", "name:compiled").out == diff("eager", "compiled").out


HOLDS, FINE, UNKNOWN = 3, 0, 1


@pytest.mark.parametrize(
    ("sides", "condition", "code", "reason"),
    [
        # a pair: eager against compiled, as in diff_traces
        ("eager compiled", "wall>+5%", FINE, ""),
        (
            *("eager compiled", "wall<-10%", HOLDS),
            "wall is 800 µs, 20.0 % less than 1.00 ms: less than -10 %",
        ),
        ("compiled eager", "wall>+25%", FINE, ""),  # it is 25 %, not more
        ("compiled eager", "wall > +24.9 %", HOLDS, "25.0 % more than 800 µs: more than +24.9 %"),
        ("compiled eager", "wall>+199us", HOLDS, "200 µs more than 800 µs: more than +199 us"),
        ("compiled eager", "wall>+0.2ms", FINE, ""),
        ("eager compiled", "launches<-1", HOLDS, "launches is 4, 2 less than 6: less than -1"),
        ("eager compiled", "launches<-2", FINE, ""),
        ("eager compiled", "launches>+0", FINE, ""),
        ("eager compiled", "bubble_host>0.3ms", HOLDS, "bubble_host is 556 µs: more than 0.3 ms"),
        ("eager compiled", "bubble_host>556us", FINE, ""),
        ("eager compiled", "bubble_host<1s", HOLDS, "bubble_host is 556 µs: less than 1 s"),
        ("eager compiled", "bubble_sync>+5%", FINE, ""),  # 0 on both sides
        ("eager compiled", "wall>-25%", HOLDS, "20.0 % less than 1.00 ms: more than -25 %"),
        ("eager compiled", "wall>-20%", FINE, ""),
        # as a part it is negative, as a metric it grows
        (
            *("beside more_beside", "overlap>+5%", HOLDS),
            "overlap is 20.0 µs, 100.0 % more than 10.0 µs: more than +5 %",
        ),
        ("more_beside beside", "overlap>+5%", FINE, ""),
        ("beside more_beside", "overlap>15us", HOLDS, "overlap is 20.0 µs: more than 15 us"),
        # what nobody knows cannot pass
        (
            *("eager compiled", "peak>+100MiB", UNKNOWN),
            "error: peak is not known of BASE: peak>+100MiB cannot be judged",
        ),
        ("host compiled", "kernels>+0", UNKNOWN, "kernels is not known of BASE"),
        ("host compiled", "wall>+1%", UNKNOWN, "wall is of a device on one side and of a host"),
        ("host compiled", "kernels>3", HOLDS, "kernels is 4: more than 3"),
        ("whole compiled", "wall>+1%", UNKNOWN, "wall is of a step on one side and of a whole"),
        ("whole compiled", "wall>1us", HOLDS, "wall is 800 µs: more than 1 us"),
        # groups
        (
            *("tag:main tag:slow", "compute>+5%", HOLDS),
            "compute is 122 µs (median of 5), 8.9 % more than 112 µs (median of 5): "
            "more than +5 %, and p = 0.0079",
        ),
        ("tag:main tag:slow", "compute>+9%", FINE, ""),
        ("tag:main tag:slow", "compute>+2us", HOLDS, "and p = 0.0079"),
        ("tag:main tag:same", "compute>+0.4%", FINE, ""),  # more, but p is large
        ("tag:main tag:same", "compute>111us", HOLDS, "compute is 112 µs (median of 5): "),
        ("tag:main tag:same", "compute>-5%", HOLDS, "more than -5 %"),  # is no improvement
        ("tag:main tag:lone", "compute>+5%", HOLDS, "of 1 against 5 runs, too few for a rank "),
        ("tag:same tag:lone", "compute>+2%", HOLDS, "all are beyond"),
        ("tag:few tag:lone", "compute<-1%", HOLDS, "118 µs, 9.9 % less than 131 µs (median of 3)"),
        ("tag:lone tag:few", "compute>+1%", HOLDS, "of 3 against 1 runs"),
        ("eager tag:few", "peak>1GiB", UNKNOWN, "peak is not known of 3 of 3 runs of OTHER"),
    ],
)
def test_conditions(sides: str, condition: str, code: int, reason: str, diff: Diff) -> None:
    said = diff(*sides.split(), "--by", "class", "--json", "--fail-if", condition)
    assert said.code == code
    told = [line for line in said.err.splitlines() if not line.startswith("warning: ")]
    if code == FINE:
        assert told == []
    else:
        [line] = told
        assert reason in line
    [verdict] = json.loads(said.out)["verdicts"]
    assert verdict["condition"] == condition
    assert verdict["holds"] == {HOLDS: True, FINE: False, UNKNOWN: None}[code]


def test_a_recording_and_a_step_are_not_divided(diff: Diff) -> None:
    metrics = json.loads(diff("whole", "compiled", "--json").out)["metrics"]
    assert all(metric["percent"] is None for metric in metrics)
    assert any(metric["change"] for metric in metrics)


def test_runs_that_overlap_are_not_all_beyond(diff: Diff) -> None:
    said = diff("tag:few", "main2", "--fail-if", "compute<-1%")
    assert said.code == 3
    said = diff("tag:lone", "tag:few", "--fail-if", "compute<-1%")
    assert said.code == 0
    said = diff("tag:same", "main0", "--fail-if", "compute<-0.4%")
    assert said.code == 0
    assert "of 1 against 5 runs, too few for a rank test, not all are beyond" in said.out


def test_every_condition_is_judged(diff: Diff) -> None:
    said = diff("eager", "compiled", *("--fail-if", "peak>0"), *("--fail-if", "wall<-1%"))
    assert said.code == 3  # one holds for sure
    told = [line for line in said.err.splitlines() if not line.startswith("warning: ")]
    assert told == ["wall is 800 µs, 20.0 % less than 1.00 ms: less than -1 %"]
    assert said.out.splitlines()[-2:] == [
        "peak>0: unknown: peak is not known of OTHER: peak>0 cannot be judged",
        "wall<-1%: holds: wall is 800 µs, 20.0 % less than 1.00 ms: less than -1 %",
    ]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("busy", "busy: is not written as busy>+5%, wall>+2ms or bubble_host>10ms"),
        ("busy>", "is not written as"),
        ("busy=5ms", "is not written as"),
        ("busy>+5%%", "is not written as"),
        ("busy>five", "is not written as"),
        ("speed>+5%", "there is no metric speed; there are wall, lead, bubble_host,"),
        ("busy>5%", "a percentage is of the change: +5%"),
        ("busy>+5", "the bound is a time, in ns, us, µs, ms, s"),
        ("busy>+5MiB", "the bound is a time"),
        ("peak>1ms", "the bound is memory, in B, KiB, MiB, GiB"),
        ("launches>3ms", "the bound is a plain number"),
    ],
)
def test_conditions_that_mean_nothing(condition: str, said: str, diff: Diff) -> None:
    found = diff("eager", "compiled", "--fail-if", condition)
    assert (found.code, found.out) == (2, "")
    assert said in " ".join(found.err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        ("eager nothing", "nothing: no such run in"),
        ("tag:nothing eager", "tag:nothing: no run in"),
        ("model: eager", "model:: no such run in"),
        ("main eager", "5 runs fit"),
        ("eager eager", ": is on both sides, and a run does not differ from itself"),
        ("tag:main main0", ": is on both sides"),
        ("eager snap", ": holds no times to compare: no operator and no device activity of it"),
        ("snap eager", ": holds no times to compare"),
        ("eager compiled --rank 3", "has no such rank, only 0"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(sides: str, said: str, diff: Diff) -> None:
    found = diff(*sides.split())
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith("error: ")
    assert len(found.err.splitlines()) == 1
    assert said in found.err


def test_a_run_without_times_is_left_out_of_its_group(diff: Diff) -> None:
    said = diff("tag:main", "tag:lone")
    assert said.code == 0
    assert "warning: empty-" in said.err
    assert "holds no times to compare" in said.err


def test_a_run_without_device_is_compared_with_a_warning(diff: Diff) -> None:
    said = diff("host", "compiled")
    assert said.code == 0
    assert "warning: Only one of the runs has device activities" in said.err
    assert "Host time by operator" in said.out
    assert json.loads(diff("host", "compiled", "--json").out)["warnings"]


def test_a_run_unlike_the_others_of_its_group_is_told(diff: Diff) -> None:
    said = diff("compiled", "tag:odd", "--by", "class")
    assert said.code == 0
    assert "warning: 1 of 2 runs of OTHER against host-" in said.err
    assert "Only one of the runs has device activities" in said.err


def test_a_step_that_is_not_found_is_said(diff: Diff, traces: Traces) -> None:
    for name, steps in (("one", 2), ("two", 3)):
        traces.add(trace(COMPILED, COMPILED_STEP, steps, step_name=""), name)
    said = diff("one", "two", store=traces.store.path)
    assert said.out.splitlines()[0].endswith("no steps found: the whole run")


def test_a_rank_is_compared_by_itself(diff: Diff, store: ingest.Store, tmp_path: Path) -> None:
    """Rank 0 is as it was; rank 1, slower than it from the start, became slower still."""
    for name, step_us in (("before", 900), ("after", 950)):
        (tmp_path / name).mkdir()
        for rank, length in enumerate((COMPILED_STEP, step_us)):
            said = {**diff_traces.DEVICE, "distributedInfo": {"rank": rank, "world_size": 2}}
            content = {**said, "traceEvents": trace(COMPILED, length, 2)}
            (tmp_path / name / f"rank{rank}.json").write_text(json.dumps(content))
        store.add(tmp_path / name)
    changes = {}
    for rank in ("0", "1", None):
        chosen = ["--rank", rank] if rank else []
        told = json.loads(diff("before", "after", "--json", *chosen, store=store.path).out)
        assert told["base"]["rank"] == told["other"]["rank"]
        changes[rank] = (told["base"]["rank"], told["metrics"][0]["change"])
    assert changes == {"0": (0, 0), "1": (1, 50_000), None: (1, 50_000)}
