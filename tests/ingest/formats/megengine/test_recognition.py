"""Recognition of MegEngine profiles by their content, not by their names."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import ingest
from ingest.errors import ProfileError
from tests.builders.events import op
from tests.builders.megengine import CPU, THREAD, Opr, content
from tests.samples import MEGENGINE

WHOLE = content(
    Opr("1", device={CPU: (0, 1, 2)}, host={THREAD: (0, 1, 2)}, reads=["2"]),
    Opr("3", device={CPU: (2, 3, 4)}, host={THREAD: (2, 3, 4)}, writes=["2"]),
)
PROFILER, GRAPH = WHOLE["profiler"], WHOLE["graph_exec"]
TRACE = [{**op("aten::mm"), "args": {"note": '{"profiler": {"host": {"1": {}}}, "graph_exec": {'}}]


def kind(store: ingest.Store, path: Path, content: str | bytes) -> tuple[str, str]:
    """Add a file with this content and return its kind and status."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    [source] = store.add(path).sources
    return source.kind, source.status


@pytest.mark.parametrize(
    "whole",
    [
        {"profiler": PROFILER, "graph_exec": GRAPH},
        {"graph_exec": GRAPH, "profiler": PROFILER},
        {"profiler": {**PROFILER, "graph_exec": GRAPH}},
        {"profiler": {"graph_exec": GRAPH, **PROFILER}},
        {"profiler": dict(sorted(PROFILER.items()))},
        {"profiler": {"host": PROFILER["host"]}},
        {"graph_exec": GRAPH},
        {"profiler": {"version": 3, "host": PROFILER["host"]}, "graph_exec": GRAPH},
    ],
    ids=lambda whole: f"{','.join(whole)}:{','.join(next(iter(whole.values())))}",
)
@pytest.mark.parametrize("indent", [None, 2])
def test_the_sections_may_be_in_any_order(
    whole: Any, indent: int | None, store: ingest.Store, tmp_path: Path
) -> None:
    text = json.dumps(whole, indent=indent)
    assert kind(store, tmp_path / "a.json", text) == ("megengine", "ok")
    counts = ingest.connect(store.path).sql(
        "SELECT count(DISTINCT opr_key), count(len(host_times)), count(operator_ordinal) "
        "FROM megengine_oprs"
    )
    has_times = "profiler" in whole
    has_graph = "graph_exec" in (*whole, *whole.get("profiler", {}))
    assert counts.fetchall() == [(2, 2 * has_times, 2 * has_graph)]


@pytest.mark.parametrize("name", ["profile", "a.txt", "a.trace.json", "a.pickle", "b.json.gz"])
def test_the_name_does_not_matter(name: str, store: ingest.Store, tmp_path: Path) -> None:
    text = json.dumps(WHOLE).encode()
    assert kind(store, tmp_path / name, text) == ("megengine", "ok")
    assert kind(store, tmp_path / f"z{name}", gzip.compress(text)) == ("megengine", "ok")


@pytest.mark.parametrize("before", ["\ufeff", "\n\n \t"])
def test_the_file_may_begin_with_white_space(
    before: str, store: ingest.Store, tmp_path: Path
) -> None:
    assert kind(store, tmp_path / "a.json", before + json.dumps(WHOLE)) == ("megengine", "ok")


@pytest.mark.parametrize("run", MEGENGINE)
def test_samples_are_recognised_by_their_beginning(run: str, samples: Path, tmp_path: Path) -> None:
    """The beginning suffices, long before the last sections: files may have many MB."""
    head = (samples / "megengine" / f"{run}.json").read_bytes()[:400]
    store = ingest.Store(tmp_path / "store")
    assert kind(store, tmp_path / f"{run}.json", head) == ("megengine", "truncated")


@pytest.mark.parametrize(
    "trace",
    [
        {"traceEvents": TRACE},
        {"traceEvents": TRACE, "profiler": {"host": {}}},
        {"profiler": {"name": "x"}, "traceEvents": TRACE},
        {"profiler": {"host": {"name": "node7"}}, "traceEvents": TRACE},
        {"profiler": "MegEngine", "graph_exec": "none", "traceEvents": TRACE},
        TRACE,
    ],
)
def test_a_trace_of_torch_is_not_a_profile_of_megengine(
    trace: Any, store: ingest.Store, tmp_path: Path
) -> None:
    assert kind(store, tmp_path / "a.json", json.dumps(trace)) == ("kineto", "ok")
    names = ingest.connect(store.path).sql("SELECT name FROM ops").fetchall()
    assert names == [("aten::mm",)]


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
