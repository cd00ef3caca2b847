"""The parts of a pipeline that torch.compile compiles."""

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
    """Return the classes of submodules that torch.compile compiles when they are called."""
    return [
        type(each).__name__ for each in module.modules() if each._compiled_call_impl is not None
    ]


def test_only_the_denoiser_is_compiled_by_default():
    pipeline = tiny_flux()
    description = compile_parts(pipeline, Compile(), "cpu")
    assert description["part"] == "transformer"
    assert compiled_modules(pipeline.transformer) == ["FluxTransformer2DModel"]
    assert compiled_modules(pipeline.vae) == compiled_modules(pipeline.text_encoder) == []


def test_regional_compiles_the_blocks_that_diffusers_lists():
    pipeline = tiny_flux()
    description = compile_parts(pipeline, Compile(regional=True), "cpu")
    assert description["blocks"] == ["FluxSingleTransformerBlock", "FluxTransformerBlock"]
    assert compiled_modules(pipeline.transformer) == 2 * ["FluxTransformerBlock"] + 2 * [
        "FluxSingleTransformerBlock"
    ]


def test_regional_finds_repeated_blocks_that_diffusers_does_not_list():
    pipeline = tiny_sd3()
    assert not pipeline.transformer._repeated_blocks
    description = compile_parts(pipeline, Compile(regional=True), "cpu")
    assert description["blocks"] == ["JointTransformerBlock"]
    assert compiled_modules(pipeline.transformer) == 2 * ["JointTransformerBlock"]


def test_all_parts_can_be_compiled():
    pipeline = tiny_sd3()
    parts = ("denoiser", "vae", "text-encoders")
    description = compile_parts(pipeline, Compile(parts=parts), "cpu")
    assert description["part"] == (
        "transformer, vae.decoder, text_encoder, text_encoder_2, text_encoder_3"
    )
    assert compiled_modules(pipeline.vae) == ["Decoder"]
    assert compiled_modules(pipeline.text_encoder_3) == ["T5EncoderModel"]


def test_a_second_denoiser_is_compiled_too():
    pipeline = tiny_flux()
    pipeline.transformer_2 = tiny_flux().transformer
    assert compile_parts(pipeline, Compile(), "cpu")["part"] == "transformer, transformer_2"
    assert compiled_modules(pipeline.transformer_2) == ["FluxTransformer2DModel"]


def test_options_reach_torch(monkeypatch):
    pipeline = tiny_sd()
    options_seen: list[dict[str, Any]] = []
    monkeypatch.setattr(pipeline.unet, "compile", lambda **options: options_seen.append(options))
    compile_parts(pipeline, Compile("max-autotune", fullgraph=True, dynamic=False), "cpu")
    assert options_seen == [{"mode": "max-autotune", "fullgraph": True, "dynamic": False}]


def test_a_missing_part_is_an_error():
    pipeline = tiny_sd()
    pipeline.vae = None
    with pytest.raises(CaptureError, match="StableDiffusionPipeline: has no vae to compile"):
        compile_parts(pipeline, Compile(parts=("vae",)), "cpu")


@pytest.mark.parametrize("has_option", [True, False])
def test_the_directory_of_the_compiler_cache(has_option, monkeypatch, tmp_path):
    """The option overrides the environment variable, which overrides a fresh directory."""
    seen = []
    monkeypatch.setattr(main, "profile_pipeline", lambda _: seen.append(os.environ[CACHE]))
    monkeypatch.setenv(CACHE, "elsewhere")
    option = ["--compile-cache", str(tmp_path / "new" / "cache")] if has_option else []
    main.run(["flux", "--tiny", "--compile", *option])
    assert seen == [str(tmp_path / "new" / "cache") if has_option else "elsewhere"]


def test_a_cache_directory_that_cannot_be_created_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CaptureError, match="file: cannot create this directory"):
        main.run(["flux", "--tiny", "--compile", "--compile-cache", str(tmp_path / "file")])
