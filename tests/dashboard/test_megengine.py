"""Pages Operators and Memory with MegEngine profiles."""

import json
from pathlib import Path

import pytest

import ingest
from tests.dashboard.conftest import NETWORK as EMBED
from tests.dashboard.conftest import SAME_NETWORK as ITER3
from tests.dashboard.conftest import TWO_DEVICES as ASYNC
from tests.dashboard.elements import charts, table_with, tables, texts


@pytest.fixture
def store(network_store) -> Path:
    return network_store


@pytest.fixture
def run(store):
    """Return the id of the run with a name in the store."""
    return ingest.Store(store).find


@pytest.fixture(scope="module")
def profile(samples):
    """Return the JSON of a profile."""
    return lambda name: json.loads((samples / "megengine" / f"{name}.json").read_text())


def times(profile, side, key="end"):
    """Return the time of each operator of the graph, in s."""
    return {
        opr: max(time[key] - time["start"] for time in places.values())
        for opr, places in profile["profiler"][side].items()
    }


def test_operators_have_their_computation_and_memory(opened, store, run, profile):
    recorded = profile(EMBED)
    page = opened(store, "operators", run=run(EMBED))
    table = table_with(page, "computation_flo")
    footprints = recorded["profiler"]["opr_footprint"]
    on_device, on_host = times(recorded, "device"), times(recorded, "host")
    names = {opr: each["name"] for opr, each in recorded["graph_exec"]["operator"].items()}
    rows = {row["name"]: row for row in table.to_dict("records")}
    for opr, time in on_device.items():
        row = rows[names[opr]]
        assert row["device_time_ns"] == pytest.approx(1e9 * time)
        assert row["host_time_ns"] == pytest.approx(1e9 * on_host[opr])
        assert row["memory_bytes"] == footprints[opr]["memory"]
        if footprints[opr]["computation"] and time:
            flops = footprints[opr]["computation"] / time
            assert row["flo_per_s"] == pytest.approx(flops, rel=1e-6)
    measured = list(table["device_time_ns"].dropna())
    assert measured == sorted(measured, reverse=True)


def test_types_have_the_sums_of_their_operators(opened, store, run, profile):
    recorded = profile(EMBED)
    page = opened(store, "operators", run=run(EMBED), opr_by="type")
    table = table_with(page, "oprs").set_index("type")
    types = {opr: each["type"] for opr, each in recorded["graph_exec"]["operator"].items()}
    sums: dict[str, float] = {}
    for opr, time in times(recorded, "device").items():
        sums[types[opr]] = sums.get(types[opr], 0) + time
    assert dict(table["device_time_ns"]) == pytest.approx(
        {kind: 1e9 * time for kind, time in sums.items()}
    )


def test_the_scatter_has_the_operators_with_operations_bytes_and_time(opened, store, run, profile):
    recorded = profile(EMBED)
    footprints = recorded["profiler"]["opr_footprint"]
    expected = [
        (footprints[opr]["memory"] / time, footprints[opr]["computation"] / time)
        for opr, time in times(recorded, "device").items()
        if time and footprints[opr]["computation"] and footprints[opr]["memory"]
    ]
    page = opened(store, "operators", run=run(EMBED))
    (points,) = [chart for chart in charts(page) if "intensity" in chart and "type" in chart]
    drawn = sorted(zip(points["x"], points["y"], strict=True))
    assert drawn == [pytest.approx(each, rel=1e-6) for each in sorted(expected)]


def test_a_profile_without_device_times_shows_host_times(app, tmp_path, profile):
    recorded = profile(EMBED)
    recorded["profiler"]["device"] = {}
    path = tmp_path / "host.json"
    path.write_text(json.dumps(recorded))
    store = ingest.Store(tmp_path / "store")
    store.add(path)
    page = app(store.path, "operators")
    table = table_with(page, "computation_flo")
    assert "device_time_ns" not in table
    assert table["host_time_ns"].sum() == pytest.approx(1e9 * sum(times(recorded, "host").values()))
    assert "No operator has operations, bytes and device time." in texts(page)


def test_other_runs_have_no_such_section(app, shown_store, run_of):
    page = app(shown_store, "operators", run=run_of("h100_owlv2"))
    assert "Computation and memory" not in [heading.value for heading in page.subheader]


def test_the_memory_peak_of_a_graph_is_correct(app, store, run, profile):
    """The peak is the largest union of the address ranges in use at the same time."""
    recorded = profile(EMBED)["graph_exec"]
    order = {opr: index for index, opr in enumerate(recorded["comp_seq"])}
    used: dict[str, list[int]] = {}
    for opr, each in recorded["operator"].items():
        for var in each["input"] + each["output"]:
            if opr in order:
                used.setdefault(var, []).append(order[opr])
    ranges = []
    for key, var in recorded["var"].items():
        if var.get("prev_dev_ptr") and key in used:
            lasts = "PERSISTENT_DEVICE_VALUE" in var["flag"]
            ends = (0, len(order)) if lasts else (min(used[key]), max(used[key]))
            ranges.append((*ends, var["prev_dev_ptr"], var["prev_dev_ptr_end"]))
    peak = max(
        sum(b - a for a, b in union([r[2:] for r in ranges if r[0] <= index <= r[1]]))
        for index in range(len(order))
    )
    page = app(store, "memory", run=run(EMBED))
    assert {metric.label: metric.value for metric in page.metric}["Peak"] == (
        f"{peak / 1024:.2f} KiB"
    )


def union(ranges):
    """Return disjoint ranges that cover the same bytes."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def test_each_device_has_the_memory_of_its_comp_node(app, store, run):
    page = app(store, "memory", run=run(ASYNC), device="rank 0 device 1")
    assert {metric.label: metric.value for metric in page.metric}["Peak"] == "260 bytes"


def test_the_memory_of_several_runs_is_listed(app, store, run):
    page = app(store, "memory", run=[run(EMBED), run(ASYNC)])
    (table,) = tables(page)
    assert list(table["run_id"]) == [run(ASYNC), run(ASYNC), run(EMBED)]


def test_two_profiles_of_a_network_compare_by_operator(app, store, run):
    """The numbers at the end of their names differ."""
    page = app(store, "compare", base=run(EMBED), other=run(ITER3))
    table = table_with(page, "evidence")
    row = table[table["name"] == "conv(data,c1.weight)"].iloc[0]
    assert row["status"] == "faster"
