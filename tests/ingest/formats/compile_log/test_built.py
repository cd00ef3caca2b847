"""Small compile logs: links, attempts, damage, secrets and warnings."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import ingest
from ingest import AddOptions
from ingest.errors import ProfileError
from tests.builders.compile_logs import (
    artifact,
    call_of_graph,
    event,
    graph,
    line,
    of,
    span,
    trace,
)
from tests.builders.relations import Relations, Run, built
from tests.helpers.command import Command
from tests.ingest.formats.conftest import Load

LOG = "flux_compiled_b2-rank0.compile.log.gz"
REASON = "0/0: tensor 'x' size mismatch at index 0. expected 1, actual 2"
Add = Callable[..., Relations]
CALLS = "SELECT region_id % 100, compile_id, graph_index, ordinal FROM compiled_calls ORDER BY 1, 4"


@pytest.fixture
def add() -> Add:
    """A function that reads files (name and content) as a run and returns its relations."""

    def added(**files: str | bytes) -> Relations:
        return built(Run({name.replace("__", "."): content for name, content in files.items()}))

    return added


def test_the_key_or_the_region_distinguishes_calls_of_equal_graphs(add: Add) -> None:
    log = graph("0/0", "triton_a_0", key="fa") + graph("1/0", "triton_a_0", key="fb")
    log += graph("2/0", "triton_a_0", key="fb")
    events = [
        *call_of_graph(100, "triton_a_0", key="fa"),  # 0, 1
        *call_of_graph(200, "triton_a_0", key="fb", region="2/0"),  # 2, 3, 4
        *call_of_graph(300, "triton_a_0", key="fb"),  # 5, 6: 1/0 or 2/0
        *call_of_graph(400, "triton_b_0", key="fa"),  # 7, 8: not the kernel of the code
    ]
    connection = add(compile__log=log, trace__json=trace(*events))
    assert connection.sql(CALLS).fetchall() == [(0, "0/0", 0, 1), (2, "2/0", 0, 1)]
    (warnings,) = connection.sql(
        "SELECT warnings FROM sources WHERE kind = 'compile_log'"
    ).fetchall()[0]
    assert warnings == [
        "2 of 4 calls of compiled graphs are not linked to their kernels: the trace and the log "
        "differ, or the trace has no kernels (on a CPU, cpp.enable_kernel_profile records them)"
    ]


def test_what_inductor_does_around_the_code_is_not_its_calls(add: Add) -> None:
    copy = ("aten::as_strided", "aten::clone", "aten::as_strided")
    benchmark = "CachingAutotuner.benchmark_all_configs"
    events = call_of_graph(100, *copy, *copy, benchmark, "triton_a_0", "aten::clone", key="fa")
    log = graph("0/0", "triton_a_0", "aten.clone.default", key="fa")
    connection = add(compile__log=log, trace__json=trace(*events))
    assert connection.sql(
        "SELECT name, ordinal FROM compiled_calls JOIN ops USING (run_id, event_id) ORDER BY 2"
    ).fetchall() == [("triton_a_0", 1), ("aten::clone", 2)]
    assert connection.sql("SELECT DISTINCT warnings FROM sources").fetchall() == [([],)]


def test_calls_that_replay_a_graph_have_a_warning_of_their_own(add: Add) -> None:
    log = graph("0/0", "triton_a_0", key="fa")
    events = [
        span("## Call CompiledFxGraph fa ##", 0, 50),
        span("cudaGraphLaunch", 10, 2, "cuda_runtime", correlation=1),
        span("triton_a_0", 30, 5, "kernel", correlation=1, device=0, stream=7),
        *call_of_graph(100, "triton_b_0", key="fa"),
    ]
    connection = add(compile__log=log, trace__json=trace(*events))
    warnings = connection.sql(
        "SELECT unnest(warning_codes), unnest(warnings) FROM sources WHERE kind = 'compile_log'"
    ).fetchall()
    unlinked = "1 of 2 calls of compiled graphs are not linked to their kernels: "
    assert [code for code, _ in warnings] == ["calls_not_linked", "calls_replayed"]
    assert warnings[0][1].startswith(f"{unlinked}the trace and the log differ")
    assert warnings[1][1].startswith(f"{unlinked}they replay a CUDA graph")


def test_a_kernel_without_an_op_is_linked_by_its_launch(add: Add) -> None:
    log = graph("0/0", "triton_poi_fused_add_sin_0", "extern_kernels.mm", key="fa")
    events = [
        span("Torch-Compiled Region: 0/0", 0, 100),  # 0
        span("## Call CompiledFxGraph fa ##", 1, 90, "user_annotation"),  # 1
        span("cuLaunchKernel", 10, 2, "cuda_driver", correlation=1),  # 2
        span("aten::mm", 20, 10),  # 3
        span("cudaLaunchKernel", 22, 2, "cuda_runtime", correlation=2),  # 4
        span("triton_poi_fused_add_sin_0", 30, 5, "kernel", correlation=1, device=0, stream=7),
        span("sgemm", 40, 5, "kernel", correlation=2, device=0, stream=7),
    ]
    connection = add(compile__log=log, trace__json=trace(*events))
    assert connection.sql(
        "SELECT event_id % 100, kernel_id % 100, ordinal FROM compiled_calls ORDER BY ordinal"
    ).fetchall() == [(None, 5, 1), (3, None, 2)]


def test_graphs_of_an_abandoned_attempt_are_left_out(add: Add) -> None:
    log = graph("0/0", "old_0") + graph("0/0", "new_0", attempt=1) + graph("0/0", "backward_0")
    aten_ops, ops = ["aten.sin.default", "aten.add.Tensor"], ["Tensor.sin", "operator.add"]
    connection = add(compile__log=log)
    assert connection.sql(
        "SELECT graph_index, kernel, aten_nodes, aten_ops, nodes, ops FROM compiled_kernels "
        "ORDER BY graph_index"
    ).fetchall() == [
        (n, kernel, ["sin", "add"], aten_ops, ["y", "z"], ops)
        for n, kernel in enumerate(["new_0", "backward_0"])
    ]
    assert connection.sql(
        "SELECT ordinal, node, op, filename, line, function, code, shape, kernel_ordinal, "
        "kernel_ordinals FROM compiled_ops WHERE graph_index = 0 ORDER BY ordinal"
    ).fetchall() == [
        (n, node, op, "/home/me/model.py", 3, "forward", "return x.sin() + 1", "f32[5]", 1, [1])
        for n, (node, op) in enumerate([("y", "Tensor.sin"), ("z", "operator.add")], 1)
    ]


def test_a_graph_break_says_where_and_why(add: Add) -> None:
    log = event("3/0", "B", "dynamo", 1.7e15) + artifact(
        "3/0",
        "dynamo_graph_break_reason",
        "Graph break in user code at /home/me/model.py:9\n"
        "Graph Break Reason: Call to `print`\n  Hint: do not\n\nUser code traceback:\n"
        '  File "/home/me/run.py", line 2, in <module>\n    model(x)\n'
        '  File "/home/me/model.py", line 9, in forward\n    print(x)\n\n'
        'Traceback (most recent call last):\n  File "/torch/_dynamo/x.py", line 1, in y\n',
    )
    assert add(compile__log=log).sql(
        "SELECT compile_id, time_ns, reason, user_frame, stack FROM graph_breaks"
    ).fetchall() == [
        (
            "3/0",
            1_700_000_000_000_000_000,
            "Call to `print`\n  Hint: do not",
            "forward (/home/me/model.py:9)",
            '  File "/home/me/run.py", line 2, in <module>\n    model(x)\n'
            '  File "/home/me/model.py", line 9, in forward\n    print(x)',
        )
    ]


def test_a_cached_graph_without_provenance_has_a_warning(add: Add) -> None:
    log = of("0/0", {"inductor_post_grad_graph": {}}, "") + of(
        "0/0", {"inductor_output_code": {}}, "# AOT ID: ['0_inference']"
    )
    log += artifact("0/0", "fx_graph_cache_hit", '{"key": "fa"}') + graph("1/0", "a_0", key="fb")
    connection = add(compile__log=log)
    assert connection.sql("SELECT warnings FROM sources").fetchall() == [
        (
            [
                "1 of 2 graphs have no record of the ops that their kernels compute: record again "
                "with INDUCTOR_PROVENANCE=1 and a fresh cache"
            ],
        )
    ]
    assert connection.sql("SELECT compile_id, cache FROM compilations ORDER BY 1").fetchall() == [
        ("0/0", "hit"),
        ("1/0", "miss"),
    ]


def test_a_directory_of_torch_logs_is_one_run_with_several_ranks(add: Add) -> None:
    files = {}
    for rank in (0, 1):
        log = event("0/0", "B", "dynamo", 1e15) + event("0/0", "E", "dynamo", 1e15 + 1 + rank)
        files[f"dedicated_log_torch_trace_rank_{rank}_x{7 - rank}.log"] = log
    other = line({"compilation_metrics": {}, "rank": 2, "frame_id": 4, "frame_compile_id": 1})
    connection = add(**files, **{"dedicated_log_torch_trace_zzz.log": other})
    assert connection.sql(
        "SELECT rank, compile_id, is_recompile, dur_ns FROM compilations ORDER BY rank"
    ).fetchall() == [(0, "0/0", False, 1000), (1, "0/0", False, 2000), (2, "4/1", True, None)]
    assert connection.sql("SELECT DISTINCT status FROM sources").fetchall() == [("ok",)]


def test_a_log_without_a_rank_gets_that_of_the_trace_with_its_pid(add: Add) -> None:
    events = call_of_graph(100, "triton_a_0", key="fa")
    other = json.dumps(
        {**json.loads(trace(span("aten::mm", 0, 1))), "distributedInfo": {"rank": 0}}
    )
    traced = json.dumps({**json.loads(trace(*events)), "distributedInfo": {"rank": 3}})
    connection = add(
        a__log=graph("0/0", "triton_a_0", key="fa"),
        rank0__trace__json=other.replace('"pid": 1', '"pid": 2'),
        rank3__trace__json=traced,
    )
    assert connection.sql("SELECT rank, ordinal FROM compiled_calls").fetchall() == [(3, 1)]
    assert connection.sql(
        "SELECT rank, metadata::VARCHAR FROM sources WHERE kind = 'compile_log'"
    ).fetchall() == [(3, '{"pid": "1"}')]


def test_unreadable_records_are_counted_and_the_others_kept(add: Add) -> None:
    log = (
        line({"str": ["/home/me/model.py", 0]})
        + "V0101 00:00:00.000000 7 torch/some.py:1] {broken\n"
        + "\tof nothing\nnot a record\n"
        + event("0/0", "E", "never begun", 1e15)
        + event("0/0", "B", "dynamo", 1e15)
        + event("0/0", "B", "never ended", 1e15 + 1)
        + event("0/0", "E", "dynamo", 1e15 + 9)
        + of("0/0", {"chromium_event": {}}, "{")
        + of("0/0", {"of a later torch": [1]}, "whatever")
        + of("0/0", {"dynamo_start": {"stack": [{"filename": 0, "line": 1, "name": "f"}, 5]}})
        + artifact("0/0", "inductor_provenance_tracking_node_mappings", "[1]")
        + of(
            "0/0", {"compilation_metrics": {"co_name": "f", "start_time_us": 1e300, "x": "\ud800"}}
        )
    )
    connection = add(compile__log=log)
    assert connection.sql("SELECT status, events, dropped_counts FROM sources").fetchall() == [
        (
            "ok",
            10,
            {
                "line that is not a record": 2,
                "unreadable phase": 1,
                "phase without a start": 1,
                "phase without an end": 1,
                "unreadable provenance": 1,
            },
        )
    ]
    assert connection.sql(
        "SELECT compile_id, compiled_frame, dur_ns, stack FROM compilations"
    ).fetchall() == [("0/0", "f", 9000, '  File "/home/me/model.py", line 1, in f')]


def test_a_truncated_log_keeps_its_intact_records(samples: Path, add: Add) -> None:
    packed = (samples / "compile" / LOG).read_bytes()
    connection = add(cut__log__gz=packed[: len(packed) // 2])
    status, warnings = connection.sql("SELECT status, warnings FROM sources").fetchall()[0]
    assert status == "truncated"
    assert warnings[0].startswith("the log is truncated: the compressed stream ends after")
    assert connection.sql(
        "SELECT compile_id, graph_ops FROM compilations ORDER BY 1"
    ).fetchall() == [
        ("0/0", 307),
        ("0/1", None),
    ]
    assert connection.sql(
        "SELECT count(*) FROM compiled_kernels WHERE compile_id = '0/0'"
    ).fetchall() == [(55,)]


def test_a_log_can_be_truncated_anywhere(load: Load) -> None:
    log = event("0/0", "B", "dynamo", 1e15) + graph("0/0", "a_0", key="f") + line({"str": ["x", 1]})
    cuts = [log[: int(len(log) * part)].rstrip("\n") for part in (0.1, 0.3, 0.5, 0.7, 0.85, 0.99)]
    assert [source.status for source in load(*cuts)] == ["truncated"] * len(cuts)


def test_a_log_without_an_intact_record_is_refused_with_one_line(
    store: ingest.Store, tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    log = tmp_path / "run" / "compile.log"
    log.write_text('V0101 00:00:00.000000 7 torch/some.py:1] {"str": [\n\t\n')
    with pytest.raises(ProfileError, match=r"run/compile\.log: no records: not a compile log$"):
        store.add(tmp_path / "run")


def test_the_log_has_priority_over_run_json_which_has_priority_over_the_trace(add: Add) -> None:
    said = [
        {"compile_id": "0/0", "reason": "of run.json", "started_at_ns": 10**18, "seconds": 1},
        {"compile_id": "0/1", "reason": "of run.json", "started_at_ns": 10**18, "seconds": 2},
        {"compile_id": None},
        7,
    ]
    files = {
        "compile__log": artifact("0/1", "recompile_reasons", "of the log"),
        "run__json": json.dumps({"compilation": {"compilations": said}}),
        "rank0__json": json.dumps({"rank": 0, "compilation": {"compilations": said}}),
        "trace__json": trace(span("Torch-Compiled Region: 0/1", 0, 1))
        .replace("0/1", "0/1")
        .replace("]", "," + json.dumps(span("Torch-Compiled Region: 0/2", 5, 1)) + "]"),
    }
    connection = add(**files)
    assert connection.sql(
        "SELECT compile_id, evidence, reason, dur_ns, is_in_measured_step FROM compilations "
        "ORDER BY compile_id"
    ).fetchall() == [
        ("0/0", "run_json", "of run.json", 10**9, False),
        ("0/1", "log", "of the log", None, None),
        ("0/2", "trace", None, None, False),
    ]


@pytest.mark.parametrize("evidence", ["log", "run_json"])
def test_ids_that_begin_again_after_a_reset_are_other_compilations(add: Add, evidence: str) -> None:
    """Dynamo was reset twice: the ids are 0/0 0/1, 0/0, and 0/0 1/0."""
    ids = ["0/0", "0/1", "0/0", "0/0", "1/0"]
    starts_us = [10**15 + 10 * number for number in range(len(ids))]
    log = "".join(
        event(compile_id, "B", "dynamo", at_us)
        + (artifact(compile_id, "recompile_reasons", "because") if compile_id == "0/1" else "")
        + of(compile_id, {"dynamo_start": {"stack": []}})
        + event(compile_id, "E", "dynamo", at_us + 4)
        + of(compile_id, {"compilation_metrics": {"co_name": f"f{at_us % 100}"}})
        + of(compile_id, {"bwd_compilation_metrics": {}})
        for compile_id, at_us in zip(ids, starts_us, strict=True)
    )
    said = [
        {"compile_id": compile_id, "function": f"f{at_us % 100}", "started_at_ns": 1000 * at_us}
        | {"seconds": 4e-6, "reason": "because" if compile_id == "0/1" else None}
        for compile_id, at_us in zip(ids, starts_us, strict=True)
    ]
    run_json = json.dumps({"compilation": {"compilations": said}})
    files = {"run__json": run_json, "trace__json": trace(span("aten::add", 0, 1))}
    files |= {"compile__log": log} if evidence == "log" else {}
    found = add(**files).sql(
        "SELECT ordinal, compile_id, parse_path(compiled_frame)[-1], is_recompile, "
        "start_ns // 1000 - 1_000_000_000_000_000, dur_ns, reason, evidence "
        "FROM compilations ORDER BY ordinal"
    )

    assert found.fetchall() == [
        (1, "0/0", "f0", False, 0, 4_000, None, evidence),
        (2, "0/1", "f10", True, 10, 4_000, "because", evidence),
        (3, "0/0", "f20", False, 20, 4_000, None, evidence),
        (4, "0/0", "f30", False, 30, 4_000, None, evidence),
        (5, "1/0", "f40", False, 40, 4_000, None, evidence),
    ]


def test_a_compilation_in_a_step_is_measured_and_one_between_steps_is_not(add: Add) -> None:
    at_us = 1e15
    log = "".join(
        event(name, kind, "dynamo", at_us + moment)
        for name, begin, end in (("0/0", 0, 5), ("0/1", 15, 25), ("1/1", 32, 38), ("2/1", 38, 41))
        for kind, moment in (("B", begin), ("E", end))
    )
    steps = [span("ProfilerStep#1", at_us + 20, 10, "user_annotation")]
    steps.append(span("ProfilerStep#2", at_us + 40, 10, "user_annotation"))
    connection = add(compile__log=log, trace__json=trace(*steps, span("aten::mm", at_us, 90)))
    assert connection.sql(
        "SELECT compile_id, is_in_measured_step FROM compilations ORDER BY start_ns"
    ).fetchall() == [("0/0", False), ("0/1", True), ("1/1", False), ("2/1", True)]
    assert connection.sql("SELECT compilations, recompiles FROM run_overview").fetchall() == [
        (2, 2)
    ]


def test_a_run_with_recompilations_in_measured_steps_is_flagged(
    command: Command, store: ingest.Store, tmp_path: Path
) -> None:
    log = "".join(event("0/1", kind, "dynamo", 1e15 + at) for kind, at in (("B", 5), ("E", 15)))
    log += artifact("0/1", "recompile_reasons", REASON)
    run = tmp_path / "run"
    run.mkdir()
    (run / "compile.log").write_text(log)
    (run / "trace.json").write_text(trace(span("aten::mm", 1e15, 50)))
    store.add(run)

    heading, _, run = command("list").out.split("\n")[1:4]
    place = heading.index("recompiles") + len("recompiles")
    assert run[:place].split()[-1] == "1"
    run_id = run.split()[0]
    warning = f"warning: {run_id} recompiled once while it was measured, in 0.000 s: {REASON}\n"
    for name in ("show", "top"):
        assert warning in command(name, run_id).err
    assert REASON in command("show", run_id).out


def test_secrets_and_paths_are_redacted(store: ingest.Store, tmp_path: Path) -> None:
    token = "hf_" + "a1B2" * 8
    log = graph("0/0", "a_0") + artifact(
        "0/0", "recompile_reasons", f"0/0: {token} in /home/me/x.py"
    )
    log = log.replace("return x.sin() + 1", f"return x.sin() + f('{token}')")
    frame = {"co_name": "f", "co_filename": "/home/me/lib/site-packages/pack/age.py"}
    log += of("0/0", {"compilation_metrics": frame})
    everything = (
        "SELECT string_agg(k::VARCHAR || o::VARCHAR || c::VARCHAR) "
        "FROM compiled_kernels AS k, compiled_ops AS o, compilations AS c"
    )
    (tmp_path / "compile.log").write_text(log)
    store.add(tmp_path / "compile.log", AddOptions(redact_paths=True))
    connection = ingest.connect(store.path)
    (said,) = connection.sql(everything).fetchall()[0]
    assert token not in said
    assert "/home/me" not in said
    assert connection.sql("SELECT compiled_frame, reason FROM compilations").fetchall() == [
        ("f (pack/age.py)", "0/0: [redacted] in x.py")
    ]
    assert connection.sql("SELECT DISTINCT filename FROM compiled_ops").fetchall() == [
        ("model.py",)
    ]


STARTS = {  # damaged starts, and the number of their lines that are not blank
    "half a record": ('6, "attempt": 0}\n\tits payload\n', 2),
    "zeros": ("\0" * 4096, 1),
    "bytes": ("\x80\x03\n\xff\xfe garbage \n\n", 2),
    "a record without its end": ('V0101 00:00:00.000000 1 torch/some.py:1] {"str": [\n', 1),
    "a byte order mark": ("\ufeff", 1),
}


def test_a_log_whose_start_is_damaged_is_read_from_its_first_record(add: Add) -> None:
    log = event("0/0", "B", "dynamo", 1e15) + event("0/0", "E", "dynamo", 1e15 + 9)
    files = {}
    for rank, (damage, _) in enumerate(STARTS.values()):
        lost = "" if damage.endswith("\n") else line({"str": ["lost", 0]})
        content = (damage + lost + log).encode("latin-1", "replace")
        files[f"rank{rank}__compile__log"] = content
    connection = add(**files)
    query = "SELECT kind, status, events, warnings FROM sources ORDER BY rank"
    found = dict(zip(STARTS, connection.sql(query).fetchall(), strict=True))
    for start, (_, skipped) in STARTS.items():
        lines = f"{skipped} line{'s' * (skipped > 1)}"
        warning = f"skipped {lines} before the first record: unreadable"
        assert found[start] == ("compile_log", "ok", 2, [warning]), start
    assert connection.sql(
        "SELECT rank, compile_id, dur_ns FROM compilations ORDER BY rank"
    ).fetchall() == [(rank, "0/0", 9000) for rank in range(len(STARTS))]
