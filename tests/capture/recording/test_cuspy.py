"""Cuspy, which torch has from 2.15 on, and annotations of the nodes of CUDA graphs."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import ingest
from capture import CaptureError, CaptureWarning, Profiler
from capture.recording import cuspy
from tests.capture.captured import Captured
from tests.capture.recording.test_profiler_options import from_flags, recorded

pytestmark = pytest.mark.usefixtures("capture_extra")


def has_cuspy() -> bool:
    import torch

    return hasattr(torch.profiler, "CuspyConfig")


def test_flags_are_settings_of_cuspy():
    assert from_flags().cuspy is None
    assert from_flags("--cuspy").cuspy == {}
    flags = ("enable_event_node_ids=true", "performance_metrics=a.avg,b.sum")
    found = from_flags(*(each for flag in flags for each in ("--cuspy-config", flag)))
    assert found.cuspy == {
        "enable_event_node_ids": True,
        "performance_metrics": ["a.avg", "b.sum"],
    }
    with pytest.raises(CaptureError, match="--cuspy-config a: must be NAME=VALUE"):
        from_flags("--cuspy-config", "a")
    with pytest.raises(CaptureError, match="trace_format=xml: must be json or pftrace"):
        from_flags("--cuspy-config", "trace_format=xml")


def test_a_run_without_cuda_is_recorded_and_says_so(work, tmp_path):
    with pytest.warns(CaptureWarning, match="Cuspy records only CUDA"):
        recorded(work, tmp_path, cuspy={"performance_metrics": ["a"]})
    described = Captured.described(tmp_path / "run.json")
    assert described["missing"]["cuspy"] == cuspy.NO_CUDA
    assert described["profiler"]["cuspy"] == {"performance_metrics": ["a"]}
    assert "aten::addmm" in {event["name"] for event in Captured.read(tmp_path).events}


def test_a_torch_without_cuspy_has_a_reason():
    if has_cuspy():
        pytest.skip("this torch has Cuspy")
    assert "has no Cuspy" in str(cuspy.missing())


def test_torch_accepts_the_settings():
    """Without a GPU, this shows only that torch makes its objects of them."""
    if not has_cuspy():
        pytest.skip("torch.profiler.CuspyConfig came with torch 2.15")
    (made,) = cuspy.activity({"enable_event_node_ids": True, "performance_metrics": ["a"]}).values()
    assert len(made.profiler_configs) == 2


def test_settings_reach_the_objects_of_torch(monkeypatch):
    """The objects are stand-ins with the parameters that torch 2.15 documents."""
    from torch import profiler

    def config(*, enable_event_node_ids: bool = False) -> SimpleNamespace:
        return SimpleNamespace(node_ids=enable_event_node_ids)

    def metrics(*, metric_names: list[str], sampling_interval_ms: float) -> SimpleNamespace:
        return SimpleNamespace(names=metric_names, interval=sampling_interval_ms)

    monkeypatch.setattr(profiler, "CuspyConfig", config, raising=False)
    monkeypatch.setattr(profiler, "PerformanceMetricsConfig", metrics, raising=False)
    monkeypatch.setattr(profiler, "ProfilerActivityConfig", SimpleNamespace, raising=False)
    settings = {"performance_metrics": ["a"], "sampling_interval_ms": "0.5"}
    (made,) = cuspy.activity(settings | {"enable_event_node_ids": True}).values()
    assert made.profiler_configs == [
        SimpleNamespace(node_ids=True),
        SimpleNamespace(names=["a"], interval=0.5),
    ]
    with pytest.raises(CaptureError, match="torch does not accept nonsense=1 for Cuspy"):
        cuspy.activity({"nonsense": 1})
    with pytest.raises(CaptureError, match="sampling_interval_ms: needs performance_metrics"):
        cuspy.activity({"sampling_interval_ms": 1})


def test_traces_for_perfetto_are_written_by_torch(work, tmp_path, monkeypatch):
    """Torch 2.13 writes JSON whatever the suffix. The file is what torch wrote, not compressed."""
    with pytest.warns(CaptureWarning):
        recorded(work, tmp_path, cuspy={"trace_format": "pftrace"})
    assert b"aten::addmm" in (tmp_path / "mine-rank0.pftrace").read_bytes()
    assert not list(tmp_path.glob("*.trace.json.gz"))


def test_annotations_of_graph_nodes_are_written_beside_the_trace(work, tmp_path, monkeypatch):
    from torch.cuda import _graph_annotations

    annotations = {5 << 32 | 1: [{"name": "attention"}], 6: ["mlp"]}
    monkeypatch.setattr(_graph_annotations, "_kernel_annotations", annotations)
    recorded(work, tmp_path)
    with gzip.open(tmp_path / "mine-rank0.graph_annotations.json.gz") as file:
        assert json.load(file)["graph_node_annotations"] == {
            str(node): each for node, each in annotations.items()
        }
    store = ingest.Store(tmp_path / "store")
    found = {source.kind: source.events for source in store.add(tmp_path).sources}
    assert found["graph_annotations"] == 2


def test_without_annotations_there_is_no_file(work, tmp_path: Path):
    profiler: Profiler = recorded(work, tmp_path)
    assert profiler.output_dir == tmp_path
    assert not list(tmp_path.glob("*annotations*"))
