"""`ingest diff` on two runs and on two groups of runs."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ingest
from tests.builders import diff_traces
from tests.builders.diff_traces import COMPILED, COMPILED_STEP, Call, trace
from tests.builders.events import Event, host
from tests.helpers import samples
from tests.helpers.command import Command, Result
from tests.helpers.samples import Samples

Diff = Callable[..., Result]
EAGER_TRACE, COMPILED_TRACE = samples.EAGER, f"{samples.COMPILED}-rank0"
WORKERS = ("v100_resnet50_workers0", "v100_resnet50_workers4")
SNAPSHOT = "cpp_pickler_protocol2"


@pytest.fixture
def diff(command: Command) -> Diff:
    """The command `ingest diff …`, by default on the store of `runs`."""
    return partial(command, "diff")


@pytest.fixture
def default_store(runs: Path) -> Path:
    """The store that `command` uses."""
    return runs


@pytest.fixture(scope="module")
def runs(sampled: Samples, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of pairs of runs (one with a known answer, one of a CPU, one of a GPU) and of groups.

    Runs of groups have ranks, so that a few runs make several pairs of groups. So do the runs
    `before` and `after`.
    """
    directory = tmp_path_factory.mktemp("diff")
    store = ingest.Store(directory / "store")

    def add(name: str, *traces: list[Event], **labels: Any) -> None:
        run = directory / name
        run.mkdir()
        for rank, events in enumerate(traces):
            info = {"rank": rank, "world_size": len(traces)}
            content = {**diff_traces.DEVICE, "distributedInfo": info, "traceEvents": events}
            (run / f"rank{rank}.json").write_text(json.dumps(content))
        store.add(run, ingest.AddOptions(**labels))

    add("eager", diff_traces.eager(), model="tiny", tags={"kind": "odd"})
    add("compiled", diff_traces.compiled())
    for group, lengths in GROUPS.items():
        for number, of_ranks in enumerate(lengths):
            add(f"{group}{number}", *map(step_with_mm, of_ranks), tags={"branch": group})
    add("before", *(before for before, _ in BEFORE_AND_AFTER))
    add("after", *(after for _, after in BEFORE_AND_AFTER))
    on_host = [e for e in diff_traces.eager() if e["cat"] in ("cpu_op", "user_annotation")]
    add("host", on_host, tags={"kind": "odd"})
    add("empty", [host("nothing", "trace", 0, 10)], tags={"branch": "lone"})
    sampled.add(store, EAGER_TRACE, COMPILED_TRACE, *WORKERS, SNAPSHOT)
    return store.path


# The time of the `mm` in each run of a group: on rank 0, 1 and 2, µs. In the runs of `other` it is
# longer on rank 0, about equal on rank 1, and on rank 2 longer than in `lone`.
GROUPS = {
    "main": [(102, 102, 102), (100, 100, 100), (104, 104, 104), (101, 101, 101), (103, 103, 103)],
    "other": [(110, 98, 120), (114, 106, 121), (112, 102.5, 122)],
    "lone": [(108, 108, 108)],
}


def step_with_mm(length: float) -> list[Event]:
    """Return two steps with an `mm` of this length and an `add` of 10 µs."""
    calls = [
        Call("aten::mm", (10, 20), "gemm", (50, length)),
        Call("aten::add", (40, 20), "add_kernel", (50 + length, 10)),
    ]
    return trace(calls, 400, 2)


def overlapping(start: int) -> list[Event]:
    """Return a step with a kernel from 50 to 100 µs, and one of 50 µs from `start`."""
    second = Call("aten::add", (40, 20), "add_kernel", (start, 50), stream=9)
    return trace([Call("aten::mm", (10, 20), "gemm", (50, 50)), second], 400, 1)


WHOLE = trace(diff_traces.EAGER, diff_traces.EAGER_STEP, 1, step_name="")
# The ranks of `before` and `after`.
BEFORE_AND_AFTER = [
    (trace(COMPILED, COMPILED_STEP, 2), trace(COMPILED, COMPILED_STEP, 2)),
    (trace(COMPILED, 900, 2), trace(COMPILED, 950, 2)),  # rank 1 becomes slower
    (overlapping(90), overlapping(80)),  # overlaps of 10 and 20 µs
    (WHOLE, trace(COMPILED, COMPILED_STEP, 2)),
    (WHOLE, trace(COMPILED, 250, 3, step_name="")),
]


PAIRS = [
    ("eager", "compiled"),
    (EAGER_TRACE, COMPILED_TRACE),
    WORKERS,
]


def test_a_pair_with_a_known_answer(diff: Diff) -> None:
    result = diff("eager", "compiled")
    assert result.code == 0
    assert result.err == (
        "warning: The median step may not be typical, because steps vary by more than 10 % or "
        "there are fewer than three: 2 steps in the first run, 2 steps in the second.\n"
    )
    head = result.out.splitlines()[:4]
    assert head[0].startswith("BASE   eager-")
    assert head[0].endswith("rank 0  device 0  2 steps (ProfilerStep), the median is step 1")
    assert head[1].startswith("OTHER  compiled-")
    assert head[2] == "BASE: half of the steps take 1.00 ms to 1.00 ms"
    assert head[3] == "OTHER: half of the steps take 800 µs to 800 µs"
    rows = result.rows
    assert rows["wall"] == ["1.00 ms", "800 µs", "-200 µs", "-20.0"]
    assert rows["idle_host"] == ["800 µs", "606 µs", "-194 µs", "-24.2"]
    assert rows["compute"] == ["200 µs", "194 µs", "-6.00 µs", "-3.0"]
    assert rows["launches"] == ["6", "4", "-2", "-33.3"]
    assert "idle_sync" not in rows  # 0 on both sides
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


def test_compare_returns_the_metrics_of_the_command(diff: Diff, runs: Path) -> None:
    store = ingest.Store(runs)
    sides = [[store.find(name)] for name in ("eager", "compiled")]
    comparison = ingest.compare(ingest.connect(runs), *sides)
    report = json.loads(diff("eager", "compiled", "--json").out)
    assert [asdict(metric) for metric in comparison.metrics] == report["metrics"]
    metrics = {metric.name: metric for metric in comparison.metrics}
    parts = {
        metric.name: (metric.base, metric.other) for metric in comparison.metrics if metric.is_part
    }
    assert {name: pair for name, pair in parts.items() if any(pair)} == diff_traces.PARTS
    assert (metrics["wall"].base, metrics["wall"].other) == diff_traces.WALL
    for name, pair in diff_traces.COUNTS.items():
        assert (metrics[name].base, metrics[name].other) == pair


def test_a_fused_kernel_is_unfolded_into_the_operators_that_it_replaces(diff: Diff) -> None:
    folded, unfolded = diff("eager", "compiled"), diff("eager", "compiled", "--unfold")
    assert "aten::mul" not in folded.rows
    assert unfolded.rows["aten::mul"] == ["10.0 µs", "1 → 0"]
    names = [line.split("   ")[0] for line in unfolded.out.splitlines()]
    index = next(i for i, name in enumerate(names) if diff_traces.FUSED in name)
    lines = unfolded.out.splitlines()[index + 1 : index + 4]
    assert sorted(line.split()[0] for line in lines) == ["aten::add", "aten::mul", "aten::relu"]
    assert unfolded.rows["sum"] == folded.rows["sum"]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0])
def test_parts_and_rows_add_up_to_the_ns(pair: tuple[str, str], diff: Diff, runs: Path) -> None:
    reports = {by: json.loads(diff(*pair, "--json", "--by", by).out) for by in LEVELS}
    metrics = {metric["name"]: metric for metric in reports["op"]["metrics"]}
    connection = ingest.connect(runs)
    macro = connection.sql(
        "SELECT metric, base, other, change, percent FROM run_diff($1, $2)",
        params=[reports["op"]["base"]["run"], reports["op"]["other"]["run"]],
    ).fetchall()
    columns = ("name", "base", "other", "change", "percent")
    assert [tuple(f[column] for column in columns) for f in metrics.values()] == macro
    parts = [metric for metric in metrics.values() if metric["is_part"]]
    for side in ("base", "other", "change"):
        assert sum(part[side] or 0 for part in parts) == metrics["wall"][side]
        of_busy = ("compute", "communication", "copy", "compiled_code")
        work = sum(metrics[name][side] or 0 for name in of_busy)
        for by in ("op", "kernel", "module"):
            total = sum(row[f"{side}_ns"] for row in reports[by]["rows"])
            assert total == pytest.approx(work, abs=1), (by, side)  # metrics are whole ns
        total = sum(row[f"{side}_ns"] for row in reports["class"]["rows"])
        assert total == metrics["busy"][side]


LEVELS = ("op", "kernel", "module", "class")


@pytest.mark.parametrize("by", ["op", "kernel"])
def test_rows_beyond_the_limit_are_summed_up(by: str, diff: Diff) -> None:
    pair = EAGER_TRACE, COMPILED_TRACE
    rows = json.loads(diff(*pair, "--json", "--by", by).out)["rows"]
    result = diff(*pair, "--by", by, "--limit", 3)
    names = [name for name in result.rows if name.startswith("…")]
    counts = [int(name.split()[1]) for name in names]
    assert sum(counts) == len(rows) - 3
    alone = [name for name in names if "only in" in name]
    assert alone  # rows that exist on only one side have separate sums
    changes = [abs(row["change_ns"]) for row in rows]
    assert changes == sorted(changes, reverse=True)


def test_a_narrow_terminal_keeps_the_numbers(diff: Diff, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    result = diff("eager", "compiled", "--unfold")
    plain = re.sub(r"\x1b\[\d+m", "", result.out)
    assert max(map(len, plain.splitlines())) <= 80
    assert "30.0 µs   14.0 µs   -16.0 µs   -53.3   3 → 1\n" in plain


def test_groups_are_medians_with_a_rank_test(diff: Diff) -> None:
    result = diff("tag:branch=main", "tag:other", "--limit", 1, "--rank", 0)
    assert result.code == 0
    assert result.out.startswith("BASE   median of 5 runs: main0-")
    assert "OTHER  median of 3 runs: other2-" in result.out
    compute = result.rows["compute"]
    assert compute == ["112 µs", "1.00 µs", "122 µs", "2.00 µs", "+10.0 µs", "+8.9", "0.036"]
    report = json.loads(diff("tag:branch=main", "tag:other", "--json", "--rank", 0).out)
    compute = next(metric for metric in report["metrics"] if metric["name"] == "compute")
    assert compute["base_values"] == [112_000, 110_000, 114_000, 111_000, 113_000]
    assert compute["p"] == pytest.approx(2 / 56)
    assert [len(report[side]["runs"]) for side in ("base", "other")] == [5, 3]
    rows = {row["name"]: row for row in report["rows"]}
    assert (rows["aten::mm"]["base_ns"], rows["aten::mm"]["other_ns"]) == (102_000, 112_000)


def test_too_few_runs_for_a_rank_test_are_reported(diff: Diff) -> None:
    printed = diff("tag:other", "eager").out
    assert "3 against 1 runs are too few for a rank test: p is 0.5 at best" in printed


def test_a_name_or_a_model_selects_runs(diff: Diff) -> None:
    assert diff("model:tiny", "name:compiled").out == diff("eager", "compiled").out


HOLDS, FINE, UNKNOWN = 3, 0, 1  # the exit codes
# For each pair of sides: conditions, whether they hold, and a part of the reason.
CONDITIONS = {
    # a pair of runs: eager against compiled, from diff_traces
    "eager compiled": [
        ("wall>+5%", FINE, ""),
        ("wall<-10%", HOLDS, "wall is 800 µs, 20.0 % less than 1.00 ms: less than -10 %"),
        ("launches<-1", HOLDS, "launches is 4, 2 less than 6: less than -1"),
        ("launches<-2", FINE, ""),
        ("launches>+0", FINE, ""),
        ("idle_host>0.3ms", HOLDS, "idle_host is 606 µs: more than 0.3 ms"),
        ("idle_host>606us", FINE, ""),
        ("bubble_host>0.3ms", HOLDS, "idle_host is 606 µs: more than 0.3 ms"),  # an earlier name
        ("bubble<1s", HOLDS, "idle is 606 µs: less than 1 s"),
        ("idle_host<1s", HOLDS, "idle_host is 606 µs: less than 1 s"),
        ("idle_sync>+5%", FINE, ""),  # 0 on both sides
        ("wall>-25%", HOLDS, "20.0 % less than 1.00 ms: more than -25 %"),
        ("wall>-20%", FINE, ""),
        # an unknown metric cannot pass
        ("peak>+100MiB", UNKNOWN, "peak>+100MiB cannot be judged: peak is unknown for BASE"),
    ],
    "compiled eager": [
        ("wall>+25%", FINE, ""),  # the change is exactly 25 %
        ("wall > +24.9 %", HOLDS, "25.0 % more than 800 µs: more than +24.9 %"),
        ("wall>+199us", HOLDS, "200 µs more than 800 µs: more than +199 us"),
        ("wall>+0.2ms", FINE, ""),
    ],
    # overlap is a negative part of the wall time, but conditions take it as a positive time
    "before after --rank 2": [
        ("overlap>+5%", HOLDS, "overlap is 20.0 µs, 100.0 % more than 10.0 µs: more than +5 %"),
        ("overlap>15us", HOLDS, "overlap is 20.0 µs: more than 15 us"),
    ],
    "after before --rank 2": [("overlap>+5%", FINE, "")],
    "host compiled": [
        ("kernels>+0", UNKNOWN, "kernels is unknown for BASE"),
        (
            *("wall>+1%", UNKNOWN),
            "wall>+1% cannot be judged: one side has device time and the other host time",
        ),
        ("kernels>3", HOLDS, "kernels is 4: more than 3"),
    ],
    "before after --rank 3": [
        ("wall>+1%", UNKNOWN, "one side has a step and the other a complete recording"),
        ("wall>1us", HOLDS, "wall is 800 µs: more than 1 us"),
    ],
    # groups
    "tag:main tag:other --rank 0": [
        (
            *("compute>+5%", HOLDS),
            "compute is 122 µs (median of 3), 8.9 % more than 112 µs (median of 5): "
            "more than +5 %, and p = 0.036",
        ),
        ("compute>+9%", FINE, ""),
        ("compute>+2us", HOLDS, "and p = 0.036"),
    ],
    "tag:main tag:other --rank 1": [
        ("compute>+0.4%", FINE, ""),  # more, but p is large
        ("compute>111us", HOLDS, "compute is 112 µs (median of 3): "),
        ("compute>-5%", HOLDS, "more than -5 %"),  # not an improvement
    ],
    "tag:main tag:lone": [("compute>+5%", HOLDS, "(1 against 5: too few for a rank test)")],
    # groups of few runs: every run must be beyond every other
    "tag:other tag:lone --rank 1": [
        ("compute>+2%", HOLDS, "and every run of OTHER is above every run of BASE")
    ],
    "tag:other main0 --rank 1": [
        (
            *("compute<-0.4%", FINE),
            "but not every run of OTHER is below every run of BASE "
            "(1 against 3: too few for a rank test)",
        ),
    ],
    "tag:other tag:lone --rank 2": [
        ("compute<-1%", HOLDS, "118 µs, 9.9 % less than 131 µs (median of 3)"),
    ],
    "tag:lone tag:other --rank 2": [
        ("compute>+1%", HOLDS, "(3 against 1: too few"),
        ("compute<-1%", FINE, ""),
    ],
    "eager tag:other": [("peak>1GiB", UNKNOWN, "peak is unknown for 3 of 3 runs of OTHER")],
}


@pytest.mark.parametrize("sides", CONDITIONS)
def test_conditions(sides: str, diff: Diff) -> None:
    conditions = [option for text, *_ in CONDITIONS[sides] for option in ("--fail-if", text)]
    result = diff(*sides.split(), "--by", "class", "--json", *conditions)
    verdicts = json.loads(result.out)["verdicts"]
    for verdict, (text, code, reason) in zip(verdicts, CONDITIONS[sides], strict=True):
        holds = {HOLDS: True, FINE: False, UNKNOWN: None}[code]
        assert (verdict["condition"], verdict["holds"]) == (text, holds)
        assert reason in verdict["reason"]
    messages = [line for line in result.err.splitlines() if not line.startswith("warning: ")]
    holding = [verdict["reason"] for verdict in verdicts if verdict["holds"]]
    unknown = [f"error: {each['reason']}" for each in verdicts if each["holds"] is None]
    assert messages == (holding or unknown[:1])
    assert result.code == (HOLDS if holding else UNKNOWN if unknown else FINE)


def test_a_recording_and_a_step_have_no_change_in_percent(diff: Diff) -> None:
    metrics = json.loads(diff("before", "after", "--rank", 3, "--json").out)["metrics"]
    assert all(metric["percent"] is None for metric in metrics)
    assert any(metric["change"] for metric in metrics)


def test_every_condition_is_judged(diff: Diff) -> None:
    result = diff("eager", "compiled", *("--fail-if", "peak>0"), *("--fail-if", "wall<-1%"))
    assert result.code == 3  # one of them holds
    messages = [line for line in result.err.splitlines() if not line.startswith("warning: ")]
    assert messages == ["wall is 800 µs, 20.0 % less than 1.00 ms: less than -1 %"]
    assert result.out.splitlines()[-2:] == [
        "peak>0: unknown: peak>0 cannot be judged: peak is unknown for OTHER",
        "wall<-1%: holds: wall is 800 µs, 20.0 % less than 1.00 ms: less than -1 %",
    ]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (
            "busy",
            "busy: not a condition; write it like busy>+5%, wall>+2ms or idle_host>10ms",
        ),
        ("busy>", "not a condition"),
        ("busy=5ms", "not a condition"),
        ("busy>+5%%", "not a condition"),
        ("busy>five", "not a condition"),
        ("speed>+5%", "no metric speed; the metrics are wall, idle_host,"),
        ("busy>5%", "a percentage needs a sign, as in +5%"),
        ("mfu<40", "the bound must be a percentage"),
        ("flop_rate<3", "the bound must be a rate in GFLOPS, TFLOPS, PFLOPS"),
        ("busy>+5", "the bound must be a time in ns, us, µs, ms, s"),
        ("busy>+5MiB", "the bound must be a time"),
        ("peak>1ms", "the bound must be an amount of memory in B, KiB, MiB, GiB"),
        ("launches>3ms", "the bound must be a number without a unit"),
    ],
)
def test_invalid_conditions_are_errors(condition: str, message: str, diff: Diff) -> None:
    result = diff("eager", "compiled", "--fail-if", condition)
    assert (result.code, result.out) == (2, "")
    assert message in " ".join(result.err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ("eager nothing", "nothing: no such run in"),
        ("tag:nothing eager", "tag:nothing: no such runs in"),
        ("model: eager", "model:: no such run in"),
        ("main eager", "ambiguous; matches 5 runs"),
        ("eager eager", " is on both sides; a run cannot be compared with itself"),
        ("tag:main main0", " is on both sides"),
        (
            f"eager {SNAPSHOT}",
            ": nothing to compare; the run has no operators and no device activity",
        ),
        (f"{SNAPSHOT} eager", ": nothing to compare"),
        ("eager compiled --rank 3", "no rank 3; the run has 0"),
    ],
)
def test_runs_that_cannot_be_compared_are_an_error_of_one_line(
    sides: str, message: str, diff: Diff
) -> None:
    result = diff(*sides.split())
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: ")
    assert len(result.err.splitlines()) == 1
    assert message in result.err


def test_a_run_without_times_is_left_out_of_its_group(diff: Diff) -> None:
    result = diff("tag:main", "tag:lone")
    assert result.code == 0
    assert "warning: empty-" in result.err
    assert "nothing to compare" in result.err


def test_a_run_without_device_is_compared_with_a_warning(diff: Diff) -> None:
    result = diff("host", "compiled")
    assert result.code == 0
    assert "warning: Only one of the runs has device activities" in result.err
    assert "Host time by operator" in result.out
    assert json.loads(diff("host", "compiled", "--json").out)["warnings"]


def test_a_run_unlike_the_others_of_its_group_gets_a_warning(diff: Diff) -> None:
    result = diff("compiled", "tag:odd", "--by", "class")
    assert result.code == 0
    assert "warning: 1 of 2 runs of OTHER differ from host-" in result.err
    assert "Only one of the runs has device activities" in result.err


def test_runs_without_steps_are_compared_as_a_whole(diff: Diff) -> None:
    result = diff("before", "after", "--rank", 4)
    assert result.out.splitlines()[0].endswith("no steps found: the whole run")


def test_a_rank_is_compared_by_itself(diff: Diff) -> None:
    """Rank 0 does not change, and rank 1 becomes slower. By default, the median rank of each."""
    changes = {}
    for rank in ("0", "1", None):
        chosen = ["--rank", rank] if rank else []
        report = json.loads(diff("before", "after", "--json", *chosen).out)
        ranks = (report["base"]["rank"], report["other"]["rank"])
        changes[rank] = (ranks, report["metrics"][0]["change"])
    assert changes == {"0": ((0, 0), 0), "1": ((1, 1), 50_000), None: ((4, 0), 310_000)}
