"""Which parts of a pipeline torch.compile is to compile."""

import os
from typing import Any

import pytest

from capture.cli import main
from capture.errors import CaptureError
from capture.pipelines.compiling import Compile, compile_parts
from capture.pipelines.flux import tiny_flux
from capture.pipelines.sd import tiny_sd
from capture.pipelines.sd3 import tiny_sd3

CACHE = "TORCHINDUCTOR_CACHE_DIR"
pytestmark = pytest.mark.usefixtures("compiler", "capture_extra")


def compiled_modules(module: Any) -> list[str]:
    """Classes of the modules inside that torch.compile compiles when they are called."""
    return [
        type(each).__name__ for each in module.modules() if each._compiled_call_impl is not None
    ]


def test_the_denoiser_alone_by_default():
    pipeline = tiny_flux()
    said = compile_parts(pipeline, Compile(), "cpu")
    assert said["part"] == "transformer"
    assert compiled_modules(pipeline.transformer) == ["FluxTransformer2DModel"]
    assert compiled_modules(pipeline.vae) == compiled_modules(pipeline.text_encoder) == []


def test_the_blocks_that_diffusers_lists():
    pipeline = tiny_flux()
    said = compile_parts(pipeline, Compile(regional=True), "cpu")
    assert said["blocks"] == ["FluxSingleTransformerBlock", "FluxTransformerBlock"]
    assert compiled_modules(pipeline.transformer) == 2 * ["FluxTransformerBlock"] + 2 * [
        "FluxSingleTransformerBlock"
    ]


def test_the_blocks_that_repeat_where_diffusers_lists_none():
    pipeline = tiny_sd3()
    assert not pipeline.transformer._repeated_blocks
    said = compile_parts(pipeline, Compile(regional=True), "cpu")
    assert said["blocks"] == ["JointTransformerBlock"]
    assert compiled_modules(pipeline.transformer) == 2 * ["JointTransformerBlock"]


def test_all_parts():
    pipeline = tiny_sd3()
    parts = ("denoiser", "vae", "text-encoders")
    said = compile_parts(pipeline, Compile(parts=parts), "cpu")
    assert said["part"] == (
        "transformer, vae.decoder, text_encoder, text_encoder_2, text_encoder_3"
    )
    assert compiled_modules(pipeline.vae) == ["Decoder"]
    assert compiled_modules(pipeline.text_encoder_3) == ["T5EncoderModel"]


def test_a_second_denoiser_too():
    pipeline = tiny_flux()
    pipeline.transformer_2 = tiny_flux().transformer
    assert compile_parts(pipeline, Compile(), "cpu")["part"] == "transformer, transformer_2"
    assert compiled_modules(pipeline.transformer_2) == ["FluxTransformer2DModel"]


def test_options_reach_torch(monkeypatch):
    pipeline = tiny_sd()
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(pipeline.unet, "compile", lambda **options: asked.append(options))
    compile_parts(pipeline, Compile("max-autotune", fullgraph=True, dynamic=False), "cpu")
    assert asked == [{"mode": "max-autotune", "fullgraph": True, "dynamic": False}]


def test_a_part_that_the_pipeline_lacks_is_one_error():
    pipeline = tiny_sd()
    pipeline.vae = None
    with pytest.raises(CaptureError, match="StableDiffusionPipeline: has no vae to compile"):
        compile_parts(pipeline, Compile(parts=("vae",)), "cpu")


@pytest.mark.parametrize("kept", [True, False])
def test_the_compilers_cache(kept, monkeypatch, tmp_path):
    """A directory that is asked for goes before the variable; the variable, before a fresh one."""
    seen = []
    monkeypatch.setattr(main, "profile_pipeline", lambda _: seen.append(os.environ[CACHE]))
    monkeypatch.setenv(CACHE, "elsewhere")
    asked = ["--compile-cache", str(tmp_path / "new" / "cache")] if kept else []
    main.run(["flux", "--tiny", "--compile", *asked])
    assert seen == [str(tmp_path / "new" / "cache") if kept else "elsewhere"]


def test_a_cache_that_cannot_be_a_directory_is_one_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CaptureError, match="file: cannot create this directory"):
        main.run(["flux", "--tiny", "--compile", "--compile-cache", str(tmp_path / "file")])
