"""The tables of the six real profiles, compared with their JSON read in plain Python."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from tests.helpers.megengine import Profile
from tests.helpers.samples import MEGENGINE, Samples

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def real(sampled: Samples) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a store of the samples."""
    with ingest.connect(sampled.store(*MEGENGINE)) as connection:
        yield connection


@pytest.fixture(params=MEGENGINE)
def run(request: pytest.FixtureRequest) -> str:
    """The name of a sample."""
    return str(request.param)


@pytest.fixture
def sample(run: str, samples: Path) -> Profile:
    """The sample read in plain Python."""
    return Profile.read(samples / "megengine" / f"{run}.json")


@pytest.fixture
def of_run(real: duckdb.DuckDBPyConnection, run: str) -> Any:
    """A function that returns the sample's rows of a relation."""

    def rows(relation: str) -> Rows:
        found = real.sql(
            f"SELECT relation.* FROM {relation} AS relation "
            "WHERE run_id IN (SELECT run_id FROM runs WHERE name = $1)",
            params=[run],
        )
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]

    return rows


def parsed(text: str | None) -> Any:
    """Return the value of a JSON text, or None if there is no text."""
    return None if text is None else json.loads(text)


def test_every_time_is_an_event(sample: Profile, of_run: Any) -> None:
    times = [
        (opr, name, time)
        for side in ("host", "device")
        for opr, names in sample.profiler[side].items()
        for name, time in names.items()
    ]
    [source] = of_run("sources")
    assert (source["kind"], source["status"]) == ("megengine", "ok")
    assert (source["warnings"], source["warning_codes"]) == ([], [])
    assert source["events"] == source["complete_events"] == len(times)
    assert (source["other_counts"], source["dropped_counts"]) == ({}, {})
    [run] = of_run("runs")
    assert (run["framework"], run["world_size"]) == ("megengine", 1)
    [overview] = of_run("run_overview")
    assert (overview["events"], overview["problems"]) == (len(times), 0)
    assert overview["activities"] == sum(map(len, sample.profiler["device"].values()))
    names = {name for _, name, _ in times if name.startswith("CompNode(")}
    assert {node["comp_node"] for node in of_run("megengine_comp_nodes")} == names
    assert overview["devices"] == len(names)


def test_operators_have_their_times_and_metrics(sample: Profile, of_run: Any) -> None:
    rows = {row["opr_key"]: row for row in of_run("megengine_oprs")}
    assert list(sample.oprs) == sorted(rows, key=lambda opr: rows[opr]["operator_ordinal"])
    executed = [opr for opr in rows if rows[opr]["execution_ordinal"] is not None]
    assert sample.graph["comp_seq"] == sorted(
        executed, key=lambda opr: rows[opr]["execution_ordinal"]
    )
    for side in ("device", "host"):
        for key in ("end", "kern"):
            column = f"{side}_time_by_{key}"
            found = {opr: row[f"{column}_s"] for opr, row in rows.items()}
            expected = sample.times(side, key)
            assert {opr: time for opr, time in found.items() if time is not None} == expected
            for opr, time in expected.items():
                assert rows[opr][f"{column}_ns"] == round(time * 1e9)
    for opr, entry in sample.oprs.items():
        row = rows[opr]
        assert row["opr_id"] == int(opr)
        assert (row["name"], row["type"]) == (entry["name"], entry["type"])
        assert (row["input_vars"], row["output_vars"]) == (entry["input"], entry["output"])
        assert (row["computation_flo"], row["memory_bytes"]) == (
            sample.flo(opr),
            sample.memory(opr),
        )
        footprint = sample.profiler["opr_footprint"].get(opr, {})
        assert parsed(row["params"]) == footprint.get("param")
        for name in ("in_shapes", "out_shapes", "in_layouts"):
            assert parsed(row[name]) == footprint.get(name)
        waits = [
            var for spec in (entry["waiting_spec"] or {}).values() for var in spec["dev_ready"]
        ]
        assert row["waits_for"] == (waits or None)
    totals = [sum(filter(None, map(of, sample.oprs))) for of in (sample.flo, sample.memory)]
    assert totals == [
        sum(filter(None, (row[name] for row in rows.values())))
        for name in ("computation_flo", "memory_bytes")
    ]


def test_variables_have_their_memory_positions(sample: Profile, of_run: Any) -> None:
    rows = {row["var_key"]: row for row in of_run("megengine_vars")}
    vars_ = sample.graph["var"]
    assert rows.keys() == vars_.keys()
    writers = {var: opr for opr, entry in sample.oprs.items() for var in entry["output"]}
    ordinals = {opr: number for number, opr in enumerate(sample.graph["comp_seq"])}
    for var, entry in vars_.items():
        row, plan = rows[var], entry["mem_plan"] or {}
        assert (row["name"], row["comp_node"]) == (entry["name"], entry["comp_node"])
        assert row["flags"] == entry["flag"]
        assert row["chunk_id"] == plan.get("mem_chunk_id")
        assert row["offset_bytes"] == plan.get("offset_byte")
        assert row["dtype"] == plan.get("layout", {}).get("dtype")
        inferred = entry["static_infer_tags"]["SHAPE"]["inferred_result"]
        assert parsed(row["var_shape"]) == plan.get("layout", {}).get("shape", inferred)
        start = entry["prev_dev_ptr"] or None
        assert row["address"] == start
        assert row["bytes"] == (start and entry["prev_dev_ptr_end"] - start)
        assert row["opr_id"] == int(writers[var])
        assert row["written_ordinal"] == ordinals.get(writers[var])
        readers = [opr for opr, other in sample.oprs.items() if var in other["input"]]
        reads = [ordinals[opr] for opr in readers if opr in ordinals]
        assert row["read_ordinal"] == max(reads, default=None)


def test_chunks_have_their_sizes_and_owners(sample: Profile, of_run: Any) -> None:
    rows = {row["chunk_id"]: row for row in of_run("megengine_memory_chunks")}
    chunks = sample.graph["mem_chunk"]
    assert rows.keys() == chunks.keys()
    assert sum(row["bytes"] for row in rows.values()) == sum(c["size"] for c in chunks.values())
    plans = [
        var["mem_plan"]["mem_chunk_id"] for var in sample.graph["var"].values() if var["mem_plan"]
    ]
    for name, entry in chunks.items():
        row, owner = rows[name], sample.graph["var"][entry["owner_var"]]
        assert (row["bytes"], row["address"]) == (entry["size"], entry["dev_ptr"] or None)
        assert (row["owner_var"], row["owner"]) == (entry["owner_var"], owner["name"])
        assert (row["comp_node"], row["vars"]) == (owner["comp_node"], plans.count(name))
