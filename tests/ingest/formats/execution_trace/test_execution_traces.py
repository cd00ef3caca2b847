"""Execution traces of torch, together with the traces of the same processes."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ingest
from ingest.errors import ProfileError
from tests.builders.events import op
from tests.builders.relations import built

RECORDING = """
import sys, torch
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

observer = ExecutionTraceObserver().register_callback(f"{sys.argv[1]}/host.et.json")
with profile(activities=[ProfilerActivity.CPU], execution_trace_observer=observer) as profiler:
    weights = torch.rand(8, 8, requires_grad=True)
    with torch.profiler.record_function('a "quoted" label'):
        (torch.rand(4, 8) @ weights).masked_fill(torch.eye(4, 8) > 0, -torch.inf)
    (weights @ weights).relu().sum().backward()
profiler.export_chrome_trace(f"{sys.argv[1]}/host.pt.trace.json")
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of torch, and the execution trace of the same work."""
    pytest.importorskip("torch")
    directory = tmp_path_factory.mktemp("recorded")
    command = [sys.executable, "-c", RECORDING, str(directory)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return directory


def node(number: int, name: str, rf_id: int = 0, parent: int = 1, **more: Any) -> str:
    """Return a node as torch writes it, with an unescaped name."""
    attributes = {"rf_id": rf_id, "seq_id": -1, "scope": 0, "tid": 1, "op_schema": ""}
    values = {"values": [[5, 6, 0, 64, 4, "cpu"]], "shapes": [[8, 8]], "types": ["Tensor(float)"]}
    text = {
        "inputs": values | {"strides": [[8, 1]]},
        "outputs": {"values": [], "shapes": [], "types": [], "strides": []},
        "attrs": [{"name": k, "type": "", "value": v} for k, v in (attributes | more).items()],
    }
    head = f'{{ "id": {number}, "name": "{name}", "ctrl_deps": {parent}, '
    return head + json.dumps(text).removeprefix("{")


def write(directory: Path, *nodes: str, pid: int = 1, name: str = "host.et.json") -> Path:
    """Write an execution trace of these nodes."""
    head = f'{{ "schema": "1.1.1-chakra.0.0.4", "pid": {pid}, "start_ts": 1, "nodes": ['
    path = directory / name
    path.write_text(f'{head}{", ".join(nodes)}], "finish_ts": 2 }}')
    return path


def nodes_in(run: Path, columns: str) -> list[tuple[Any, ...]]:
    query = f"SELECT {columns} FROM execution_trace_nodes ORDER BY source_id, node_id"
    return built(run).sql(query).fetchall()


def test_nodes_and_operators_link_to_each_other(recorded: Path, store: ingest.Store) -> None:
    added = store.add(recorded)
    assert [source.kind for source in added.sources] == ["execution_trace", "kineto"]
    assert added.sources[0].rank == added.sources[1].rank == 0
    events = json.loads(
        (recorded / "host.pt.trace.json").read_text().replace('a "quoted" label', "a label")
    )["traceEvents"]
    numbers = {
        event["args"]["Record function id"]: event["name"]
        for event in events
        if "Record function id" in event.get("args", {})
    }
    rows = (
        ingest.connect(store.path)
        .sql(
            "SELECT node.rf_id, ops.name, outputs, op_schema FROM ops "
            "INNER JOIN execution_trace_nodes AS node USING (run_id, event_id)"
        )
        .fetchall()
    )
    assert len(rows) == len(numbers) > 30
    assert {rf_id: name.replace('"quoted" ', "") for rf_id, name, *_ in rows} == numbers
    written = json.loads(
        (recorded / "host.et.json").read_text().replace('a "quoted" label', "a label")
    )["nodes"]
    outputs = {
        attribute["value"]: each["outputs"]["values"]
        for each in written
        for attribute in each["attrs"]
        if attribute["name"] == "rf_id"
    }
    assert all(json.loads(values) == outputs[rf_id] for rf_id, _, values, _ in rows)
    assert any(schema and schema.startswith("aten::mm(Tensor self") for *_, schema in rows)


def test_columns_of_a_node(tmp_path: Path) -> None:
    write(tmp_path, node(3, "aten::relu", 7, 2, op_schema="aten::relu(Tensor self) -> Tensor"))
    (tmp_path / "host.json").write_text(
        json.dumps([op("aten::relu", args={"Record function id": 7})])
    )
    columns = "node_id, ctrl_deps, name, event_id, rf_id, scope, sequence, op_schema, inputs, "
    assert nodes_in(tmp_path, columns + "input_shapes, input_types, input_strides, outputs") == [
        (
            *(3, 2, "aten::relu", 1_000_000_000_000, 7, 0, -1),
            "aten::relu(Tensor self) -> Tensor",
            '[[5, 6, 0, 64, 4, "cpu"]]',
            *("[[8, 8]]", '["Tensor(float)"]', "[[8, 1]]", "[]"),
        )
    ]


def test_node_numbers_are_separate_for_each_process(tmp_path: Path) -> None:
    for pid in (1, 2):
        write(tmp_path, node(2, "aten::mm", 7), pid=3 - pid, name=f"a{pid}.et.json")
        event = op("aten::mm", ts=pid, pid=pid, args={"Record function id": 7})
        (tmp_path / f"trace{pid}.json").write_text(json.dumps([event]))
    write(tmp_path, node(2, "aten::mm", 7), pid=99, name="of_another_process.et.json")
    linked = built(tmp_path).sql(
        "SELECT parse_filename(sources.path), ops.pid FROM execution_trace_nodes AS node "
        "INNER JOIN sources USING (run_id, source_id) "
        "LEFT JOIN ops USING (run_id, event_id) ORDER BY ALL"
    )
    assert linked.fetchall() == [
        ("a1.et.json", "2"),
        ("a2.et.json", "1"),
        ("of_another_process.et.json", None),
    ]


def test_a_node_without_its_operator(tmp_path: Path) -> None:
    write(tmp_path, node(2, "thread"), node(3, "aten::mm", 7), node(4, "aten::mm", 8))
    events = [op("aten::mm", args={"Record function id": 7}), op("aten::mm"), op("other")]
    events[2]["args"] = {"Record function id": 8}  # another call of the same number
    (tmp_path / "host.json").write_text(json.dumps(events))
    assert nodes_in(tmp_path, "rf_id, event_id") == [(0, None), (7, 10**12), (8, None)]


def shuffled(value: Any, order: list[str]) -> Any:
    """Return a document whose objects have their keys in the order of `order`, then as before."""
    if isinstance(value, list):
        return [shuffled(each, order) for each in value]
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: order.index(key) if key in order else len(order))
        return {key: shuffled(value[key], order) for key in keys}
    return value


# Nodes of schema 1.0.1 have no lists of attributes.
FLAT = {
    **{"name": "aten::relu", "id": 3, "rf_id": 7, "parent": 2, "fw_parent": 0, "seq_id": -1},
    **{"scope": 0, "tid": 1, "fw_tid": 0, "op_schema": "aten::relu(Tensor self) -> Tensor"},
    **{"inputs": [[5, 6]], "input_shapes": [[8, 8]], "input_types": ["Tensor(float)"]},
    **{"outputs": [], "output_shapes": [], "output_types": []},
}


def test_keys_may_have_any_order_and_schemas_differ(tmp_path: Path) -> None:
    schema = "aten::relu(Tensor self) -> Tensor"
    path = write(tmp_path, node(3, "aten::relu", 7, 2, op_schema=schema))
    today = json.loads(path.read_text())
    documents = [
        today,
        *(shuffled(today, order) for order in (["nodes", "name"], ["schema", "ctrl_deps", "id"])),
        json.loads(json.dumps(today, sort_keys=True)),
        {"schema": "1.0.1", "pid": 1, "nodes": [FLAT]},
    ]
    path.unlink()
    (tmp_path / "host.json").write_text(
        json.dumps([op("aten::relu", args={"Record function id": 7})])
    )
    for number, document in enumerate(documents):
        (tmp_path / f"{number}.et.json").write_text(json.dumps(document))
    columns = "node_id, ctrl_deps, name, rf_id, op_schema, input_shapes, outputs"
    expected = (3, 2, "aten::relu", 7, schema, "[[8, 8]]", "[]")
    found = nodes_in(tmp_path, columns)
    assert found == [expected] * len(documents)


def test_a_file_without_nodes_is_an_error(store: ingest.Store, tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="no nodes: not an execution trace"):
        store.add(write(tmp_path))


def test_unescaped_names_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, node(2, 'my "label", \n "id": 3'), node(3, "aten::mm"))
    assert nodes_in(path, "name") == [('my "label", \n "id": 3',), ("aten::mm",)]


def test_damaged_files_keep_their_intact_nodes(store: ingest.Store, tmp_path: Path) -> None:
    broken = node(3, "aten::add").replace('"inputs":', '"inputs"')
    whole = write(tmp_path, node(2, "aten::mm"), broken, node(4, "aten::relu")).read_bytes()
    [source] = store.add(tmp_path / "host.et.json").sources
    assert (source.status, source.events, source.dropped) == ("ok", 3, {"damaged node": 1})
    assert source.warnings == ["1 node could not be read"]
    odd = tmp_path / "odd.et.json"
    odd.write_bytes(whole.replace(b'"inputs"', b'"inputs": "x", "more"', 1))
    [source] = store.add(odd).sources
    assert (source.events, source.dropped) == (3, {"damaged node": 2})
    cut = tmp_path / "cut.et.json"
    cut.write_bytes(whole[:-60])
    [source] = store.add(cut).sources
    assert (source.status, source.message("truncated")) == ("truncated", "the file ends in node 2")
    packed = tmp_path / "packed.et.json.gz"
    packed.write_bytes(gzip.compress(whole)[:-12])
    [source] = store.add(packed).sources
    assert source.status == "truncated"
    cut.write_bytes(whole[: whole.index(b"attrs")])
    with pytest.raises(ProfileError, match="no node can be read: the file ends in node 0"):
        store.add(cut)


def test_a_run_without_execution_traces_has_no_nodes(store: ingest.Store, tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text(json.dumps([op("aten::mm")]))
    run_id = store.add(tmp_path / "trace.json").run_id
    assert not (store.run_path(run_id) / "execution_trace_nodes.parquet").exists()
    connection = ingest.connect(store.path)
    assert connection.sql("FROM execution_trace_nodes").fetchall() == []
