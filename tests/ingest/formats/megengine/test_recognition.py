"""Recognition of MegEngine profiles by their content, not by their names."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import ingest
from ingest.errors import ProfileError
from ingest.formats import Source
from ingest.inputs import read_run_input
from tests.builders.events import op
from tests.builders.megengine import CPU, THREAD, Opr, content
from tests.helpers.samples import MEGENGINE
from tests.ingest.formats.conftest import Load, Ranks

WHOLE = content(
    Opr("1", device={CPU: (0, 1, 2)}, host={THREAD: (0, 1, 2)}, reads=["2"]),
    Opr("3", device={CPU: (2, 3, 4)}, host={THREAD: (2, 3, 4)}, writes=["2"]),
)
PROFILER, GRAPH = WHOLE["profiler"], WHOLE["graph_exec"]
TRACE = [{**op("aten::mm"), "args": {"note": '{"profiler": {"host": {"1": {}}}, "graph_exec": {'}}]


def kinds(sources: list[Source]) -> set[tuple[str, str]]:
    """Return the kinds and statuses of the sources."""
    return {(source.kind, source.status) for source in sources}


ORDERS: list[Any] = [
    {"profiler": PROFILER, "graph_exec": GRAPH},
    {"graph_exec": GRAPH, "profiler": PROFILER},
    {"profiler": {**PROFILER, "graph_exec": GRAPH}},
    {"profiler": {"graph_exec": GRAPH, **PROFILER}},
    {"profiler": dict(sorted(PROFILER.items()))},
    {"profiler": {"host": PROFILER["host"]}},
    {"graph_exec": GRAPH},
    {"profiler": {"version": 3, "host": PROFILER["host"]}, "graph_exec": GRAPH},
]


def test_the_sections_may_be_in_any_order(ranks: Ranks) -> None:
    texts = [json.dumps(whole, indent=indent) for whole in ORDERS for indent in (None, 2)]
    assert kinds(ranks.add(*texts)) == {("megengine", "ok")}
    counts = ranks.rows(
        "SELECT rank, count(DISTINCT opr_key), count(len(host_times)), count(operator_ordinal) "
        "FROM megengine_oprs GROUP BY rank"
    )
    for whole, found in zip([each for each in ORDERS for _ in range(2)], counts, strict=True):
        has_times = "profiler" in whole
        has_graph = "graph_exec" in (*whole, *whole.get("profiler", {}))
        assert found == [(2, 2 * has_times, 2 * has_graph)], whole


def test_the_name_does_not_matter(tmp_path: Path) -> None:
    names = ("profile", "a.txt", "a.trace.json", "a.pickle", "b.json.gz")
    for number, name in enumerate(names):  # no two files have the same content
        (tmp_path / name).write_text(json.dumps(WHOLE, indent=number))
        zipped = gzip.compress(json.dumps(WHOLE, indent=number + len(names)).encode())
        (tmp_path / f"z{name}").write_bytes(zipped)
    sources = read_run_input(tmp_path).sources
    assert len(sources) == 2 * len(names)
    assert kinds(sources) == {("megengine", "ok")}


def test_the_file_may_begin_with_white_space(load: Load) -> None:
    texts = [before + json.dumps(WHOLE) for before in ("\ufeff", "\n\n \t")]
    assert kinds(load(*texts)) == {("megengine", "ok")}


def test_samples_are_recognised_by_their_beginning(samples: Path, load: Load) -> None:
    """The beginning suffices, long before the last sections: files may have many MB."""
    heads = [(samples / "megengine" / f"{run}.json").read_bytes()[:400] for run in MEGENGINE]
    assert kinds(load(*heads)) == {("megengine", "truncated")}


def test_a_trace_of_torch_is_not_a_profile_of_megengine(ranks: Ranks) -> None:
    traces = [
        {"traceEvents": TRACE},
        {"traceEvents": TRACE, "profiler": {"host": {}}},
        {"profiler": {"name": "x"}, "traceEvents": TRACE},
        {"profiler": {"host": {"name": "node7"}}, "traceEvents": TRACE},
        {"profiler": "MegEngine", "graph_exec": "none", "traceEvents": TRACE},
        TRACE,
    ]
    assert kinds(ranks.add(*traces)) == {("kineto", "ok")}
    assert ranks.rows("SELECT rank, name FROM ops") == [[("aten::mm",)]] * len(traces)


@pytest.mark.parametrize(
    "other",
    [
        {"config": {"profiler": PROFILER, "graph_exec": GRAPH}},
        {"profiler": {"version": 3}},
        {"profiler": [PROFILER]},
        {"graph_exec": "none"},
        [WHOLE],
    ],
)
def test_other_json_is_not_a_profile(other: Any, store: ingest.Store, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(other))
    with pytest.raises(ProfileError) as refused:
        store.add(path)
    assert "MegEngine" not in str(refused.value)
    assert store.run_ids() == []
