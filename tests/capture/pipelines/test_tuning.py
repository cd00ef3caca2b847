"""Tuning of pipelines: offload, quantization, attention backends, caches."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from capture.errors import CaptureError, CaptureWarning
from capture.pipelines.calls import Inputs, generate
from capture.pipelines.load import load
from capture.pipelines.tuning import NOTHING_TO_OFFLOAD, Tuning, offload
from tests.capture.captured import Captured

pytestmark = pytest.mark.usefixtures("capture_extra")


class Offloaded:
    """A pipeline that records the calls that offload it."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda **options: self.calls.append((name, options))


@pytest.mark.parametrize(
    ("kind", "method"),
    [("model", "enable_model_cpu_offload"), ("sequential", "enable_sequential_cpu_offload")],
)
def test_models_or_layers_are_offloaded(kind, method):
    pipeline = Offloaded()
    offload(pipeline, kind, SimpleNamespace(type="cuda"))
    assert pipeline.calls == [(method, {})]


@pytest.mark.parametrize(("device_type", "streams"), [("cuda", True), ("mps", False)])
def test_group_offload_uses_streams_on_devices_that_have_them(device_type, streams):
    pipeline, device = Offloaded(), SimpleNamespace(type=device_type)
    offload(pipeline, "group", device)
    options = {"onload_device": device, "offload_type": "leaf_level", "use_stream": streams}
    assert pipeline.calls == [("enable_group_offload", options)]


def test_a_cpu_has_nothing_to_offload():
    pipeline = Offloaded()
    with pytest.warns(CaptureWarning, match=NOTHING_TO_OFFLOAD):
        offload(pipeline, "group", SimpleNamespace(type="cpu"))
    assert pipeline.calls == []


def test_run_json_records_the_tuning(run_loaded_capture, tmp_path):
    """TaylorSeer computes attention in the first three steps, then in every fifth step."""
    given = ("--attention", "_native_math", "--cache", "taylorseer", "--steps", "6")
    finished = run_loaded_capture("flux", "--tiny", *given, "--out", str(tmp_path / "run"))
    assert finished.returncode == 0, finished.stderr
    captured = Captured.read(tmp_path / "run")
    assert [captured.run[key] for key in ("attention", "cache")] == ["_native_math", "taylorseer"]
    assert not {"offload", "quantization"} & captured.run.keys()
    by_step = [
        sum(
            step["ts"] <= op["ts"] <= step["ts"] + step["dur"]
            for op in captured.named("aten::_scaled_dot_product_attention_math")
        )
        for step in captured.named(r"ProfilerStep#\d+")
    ]
    assert by_step == [4, 4, 4, 0, 4, 0]


@pytest.mark.parametrize(
    ("kind", "tuning", "message"),
    [
        ("flux", Tuning(attention="nonesuch"), r"attention backend nonesuch: .*must be one of"),
        ("flux", Tuning(attention="flash"), r"attention backend flash: .*flash-attn"),
        ("flux", Tuning(attention="_native_cudnn"), r"attention backend _native_cudnn: No viable"),
        ("sd3", Tuning(attention="native"), r"SD3Transformer2DModel: .*only one backend"),
        ("sdxl", Tuning(cache="first-block"), r"UNet2DConditionModel .* has no enable_cache"),
        ("wan", Tuning(cache="taylorseer"), "taylorseer finds no layer to cache"),
    ],
)
def test_an_unsupported_tuning_is_an_error(kind, tuning, message):
    with pytest.raises(CaptureError, match=message):
        load(kind, None, tuning=tuning)


@pytest.mark.parametrize(
    ("tuning", "module", "message"),
    [
        (Tuning(quantization="int8wo"), "torchao.quantization", "pip install torchao"),
        (Tuning(cache="cache-dit"), "cache_dit", "pip install cache-dit"),
    ],
)
def test_a_missing_package_is_named(tuning, module, message, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(CaptureError, match=message):
        load("flux", None, tuning=tuning)


@pytest.mark.parametrize("kind", ["int8wo", "int8dq", "float8wo"])
def test_torchao_quantizes_the_denoiser(kind):
    pytest.importorskip("torchao")
    pipeline = load("flux", None, tuning=Tuning(quantization=kind))
    weight = pipeline.transformer.transformer_blocks[0].attn.to_q.weight
    assert type(weight).__module__.startswith("torchao")
    assert len(generate(pipeline, Inputs(steps=1)).images) == 1


def test_torchao_gets_the_denoiser_and_the_config(monkeypatch):
    calls: list[Any] = []
    torchao = SimpleNamespace(
        quantize_=lambda *given: calls.append(given), Int8WeightOnlyConfig=lambda: "config"
    )
    monkeypatch.setitem(sys.modules, "torchao", SimpleNamespace(quantization=torchao))
    monkeypatch.setitem(sys.modules, "torchao.quantization", torchao)
    pipeline = load("flux", None, tuning=Tuning(quantization="int8wo"))
    assert calls == [(pipeline.transformer, "config")]


def test_a_refusal_of_torchao_is_an_error(monkeypatch):
    def refuse(*_):
        raise AssertionError("needs a GPU\nof some kind")

    torchao = SimpleNamespace(
        quantize_=refuse, Float8DynamicActivationFloat8WeightConfig=lambda: "config"
    )
    monkeypatch.setitem(sys.modules, "torchao", SimpleNamespace(quantization=torchao))
    monkeypatch.setitem(sys.modules, "torchao.quantization", torchao)
    with pytest.raises(CaptureError, match=r"cannot be quantized to float8dq: needs a GPU$"):
        load("flux", None, tuning=Tuning(quantization="float8dq"))


def test_cache_dit_works_for_a_tiny_denoiser():
    pytest.importorskip("cache_dit")
    pipeline = load("flux", None, tuning=Tuning(cache="cache-dit"))
    assert len(generate(pipeline, Inputs(steps=2)).images) == 1
