"""Variants of MegEngine profiles: older dumps, TensorRT, odd names and secrets."""

import json
from typing import Any

import ingest
from tests.builders.megengine import CPU, GPU, THREAD, Opr, content, profile
from tests.builders.relations import Run, built
from tests.conftest import Traces

TOKEN = "hf_" + "a1B2" * 8
NODE = "gpu0:0"


def imperative() -> dict[str, Any]:
    """Return a dump of MegEngine's imperative profiler, which numbers variables by position."""

    def opr(number: int, name: str, reads: list[int], writes: list[int]) -> dict[str, Any]:
        return {"input": reads, "output": writes, "name": name, "type": "imperative", "id": number}

    def times(place: str, *starts: float) -> dict[str, Any]:
        return {
            str(number): {place: {"start": start, "kern": start, "end": start + 0.5}}
            for number, start in enumerate(starts)
        }

    shapes = {"out_shapes": [[4]], "in_shapes": [[4], [4]], "params": {"mode": "ADD"}}
    return {
        "graph_exec": {
            "var": [{"comp_node": NODE} for _ in range(5)],
            "operator": {
                "0": opr(7, "Convolution", [0, 1], [2]),
                "1": opr(9, "Elemwise", [2, 3], [4]),
            },
        },
        "profiler": {
            "device": times(NODE, 1, 2),
            "host": times("host", 0, 0.5),
            "opr_footprint": {"0": {**shapes, "memory": 48, "computation": 96}, "1": shapes},
        },
    }


def test_an_imperative_dump_is_read() -> None:
    connection = built(Run({"trace.json": json.dumps(imperative(), indent=2)}))
    assert connection.sql(
        "SELECT kind, status, events, complete_events, warning_codes, warnings FROM sources"
    ).fetchall() == [
        (
            "megengine",
            "ok",
            4,
            4,
            ["sections_missing"],
            ["missing or empty sections: comp_seq, mem_chunk"],
        )
    ]
    assert connection.sql(
        "SELECT opr_id, name, type, input_vars, output_vars, memory_bytes, computation_flo, "
        "params ->> 'mode', execution_ordinal FROM megengine_oprs ORDER BY operator_ordinal"
    ).fetchall() == [
        (7, "Convolution", "imperative", ["0", "1"], ["2"], 48, 96, "ADD", None),
        (9, "Elemwise", "imperative", ["2", "3"], ["4"], None, None, "ADD", None),
    ]
    assert connection.sql(
        "SELECT var_key, comp_node, opr_id FROM megengine_vars ORDER BY var_key"
    ).fetchall() == [(str(n), NODE, {2: 7, 4: 9}.get(n)) for n in range(5)]
    assert connection.sql("SELECT count(*) FROM megengine_memory_chunks").fetchall() == [(0,)]
    assert connection.sql("SELECT name, dur_ns FROM kernels ORDER BY start_ns").fetchall() == [
        ("Convolution", 500_000_000),
        ("Elemwise", 500_000_000),
    ]


def test_an_imperative_dump_can_be_analysed(traces: Traces, command: Any) -> None:
    traces.add(json.dumps(imperative()))
    result = command("profile-analyze", "trace", "--json", "--aggregate-by", "type")
    [row] = json.loads(result.out)[0]["device"]
    assert (row["type"], row["count"], row["time"]) == ("imperative", 2, 1)
    assert (row["computation"], row["memory"], row["flops"]) == (96, 48, 96)


def test_layers_of_tensorrt_are_in_a_table() -> None:
    layers = [
        ["conv1 + relu", 0.25],
        ["pool", 1],
        ["odd", "nan"],
        ["none"],
        [],
        "x",
        ["big", 1e300],
    ]
    whole = profile(
        Opr("3", "TensorRT", device={GPU: (0, 0, 2)}, host={THREAD: (0, 0, 1)}),
        Opr("5", "TensorRT", device={GPU: (2, 2, 3)}, host={THREAD: (1, 1, 2)}),
        layers={"5": [["fc", 0.5]], "3": layers, "4": [["of no operator", 2]]},
    )
    connection = built(Run({"trace.json": whole}))
    assert connection.sql(
        "SELECT opr_id, ordinal, name, dur_ns FROM megengine_layers ORDER BY opr_id, ordinal"
    ).fetchall() == [
        (3, 0, "conv1 + relu", 250_000),
        (3, 1, "pool", 1_000_000),
        (3, 2, "odd", None),
        (3, 3, "none", None),
        (3, 4, None, None),
        (3, 5, None, None),
        (3, 6, "big", None),
        (5, 0, "fc", 500_000),
        (None, 0, "of no operator", 2_000_000),
    ]
    assert connection.sql(
        "SELECT name, time_ms::VARCHAR, layer::VARCHAR FROM megengine_layers "
        "WHERE name IN ('odd', 'big') ORDER BY name"
    ).fetchall() == [("big", "1e+300", '["big",1e300]'), ("odd", "nan", '["odd","nan"]')]


def test_names_may_hold_any_characters(traces: Traces, command: Any) -> None:
    names = ["a\0b", "\ud800", "😀", 'say "no"', "\x1b[31m", "line\nbreak", " ", "%s{}"]
    read = ["a\0b", "\ufffd", *names[2:]]
    oprs = [
        Opr(str(n), name=name, type=name, device={CPU: (n, n, n + 1)}, host={THREAD: (n, n, n + 1)})
        for n, name in enumerate(names)
    ]
    connection = traces.add(profile(*oprs))
    rows = connection.sql("SELECT name, type FROM megengine_oprs ORDER BY opr_id").fetchall()
    assert rows == [(name, name) for name in read]
    kernels = connection.sql("SELECT name, op FROM kernels ORDER BY start_ns").fetchall()
    assert kernels == [(name, name) for name in read]
    for form in ([], ["--wiki"], ["--dump-only-opr"]):
        result = command("profile-analyze", "trace", "-t", "0", *form)
        assert result.code == 0
        assert not set("\0\x1b") & set(result.out)
    result = command("profile-analyze", "trace", "-t", "0", "--json", "--order-by", "+opr_id")
    assert [row["name"] for row in json.loads(result.out)[0]["device"]] == read


def test_a_secret_in_the_parameters_is_redacted(traces: Traces) -> None:
    whole = content(
        Opr(
            "1",
            name=f"load({TOKEN})",
            device={CPU: (0, 0, 1)},
            host={THREAD: (0, 0, 1)},
            param={"path": f"/hub?token={TOKEN}", "api_key": "correct horse", "mode": "ADD"},
        ),
        layers={"1": [[f"layer {TOKEN}", 1]]},
    )
    whole["graph_exec"]["operator"]["1"]["extra"] = {"note": TOKEN}
    traces.store.add(traces.write(json.dumps(whole)))
    with ingest.connect(traces.store.path) as connection:
        views = connection.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
        held = "\n".join(
            str(row) for (view,) in views for row in connection.sql(f"FROM {view}").fetchall()
        )
        [(params, codes)] = connection.sql(
            "SELECT params, warning_codes FROM megengine_oprs INNER JOIN sources USING (run_id)"
        ).fetchall()
    assert TOKEN not in held
    assert "correct horse" not in held
    assert "load([redacted])" in held
    assert "layer [redacted]" in held
    found = json.loads(params)
    assert (found["api_key"], found["mode"]) == ("[redacted]", "ADD")
    assert "secrets_redacted" in codes
