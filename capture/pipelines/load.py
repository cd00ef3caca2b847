"""Loads the pipeline of a command: with weights from a model, or tiny and random."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

from capture.device import default_device
from capture.errors import CaptureError, capture_extra, first_line
from capture.pipelines.calls import arguments_of
from capture.pipelines.tuning import NO_TUNING, Tuning, tune

if TYPE_CHECKING:
    import torch
    from diffusers import DiffusionPipeline

# Per kind: the module and function that build the tiny pipeline, and the class that loads weights.
KINDS = {
    "flux": ("capture.pipelines.flux", "tiny_flux", "FluxPipeline"),
    "sd3": ("capture.pipelines.sd3", "tiny_sd3", "StableDiffusion3Pipeline"),
    "sdxl": ("capture.pipelines.sdxl", "tiny_sdxl", "StableDiffusionXLPipeline"),
    "wan": ("capture.pipelines.wan", "tiny_wan", "WanPipeline"),
    "ltx": ("capture.pipelines.ltx", "tiny_ltx", "LTXPipeline"),
    "diffusers": ("capture.pipelines.sd", "tiny_sd", "DiffusionPipeline"),
}
LONGEST_REASON = 200
# Video pipelines with an image-to-video variant of the same parts. AutoPipeline covers only image
# pipelines.
IMAGE_TO_VIDEO = {"LTXPipeline": "LTXImageToVideoPipeline"}


def load(
    kind: str,
    model: str | None,
    *,
    seed: int = 0,
    dtype: str | None = None,
    tuning: Tuning = NO_TUNING,
    with_image: bool = False,
) -> DiffusionPipeline:
    """Load the pipeline of `model`, a path or an id, on the device. None builds a tiny random one.

    The kind `diffusers` loads any pipeline: its files name the class. The default `dtype` of loaded
    weights is bfloat16 on an accelerator and float32 on the CPU. Under torchrun, each rank uses the
    device of its local rank. `with_image` selects the variant of the pipeline that takes an image.
    Raises CaptureError if the model cannot be loaded, if a package is missing, if the pipeline has
    no variant that takes an image, or if it does not support `tuning`.
    """
    module, build, loader = KINDS[kind]
    with capture_extra():
        import diffusers
        import torch
        import transformers

    device = default_device()
    if device.type != "cpu" and (local_rank := os.environ.get("LOCAL_RANK")):
        torch.accelerator.set_device_index(int(local_rank))
    diffusers.utils.logging.set_verbosity_error()
    diffusers.utils.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    if model is None:
        pipeline = getattr(import_module(module), build)(seed)
        if dtype:
            pipeline = pipeline.to(getattr(torch, dtype))
    else:
        torch.manual_seed(seed)
        wanted = dtype or ("float32" if device.type == "cpu" else "bfloat16")
        pipeline = _from_weights(getattr(diffusers, loader), model, getattr(torch, wanted))
    if with_image:
        pipeline = _with_image(pipeline)
    pipeline.set_progress_bar_config(disable=True)
    tune(pipeline, tuning, device)
    return pipeline


def _with_image(pipeline: DiffusionPipeline) -> DiffusionPipeline:
    """Return the variant of the pipeline that takes an image. It has the same parts."""
    import diffusers

    if "image" in arguments_of(pipeline):
        return pipeline
    name = type(pipeline).__name__
    if name in IMAGE_TO_VIDEO:
        variant = getattr(diffusers, IMAGE_TO_VIDEO[name])
        with _old_names():
            return variant.from_pipe(pipeline, torch_dtype=pipeline.dtype)
    try:
        return diffusers.AutoPipelineForImage2Image.from_pipe(pipeline)
    except ValueError as error:
        raise CaptureError(
            f"{name}: diffusers has no variant that takes an image; omit --image"
        ) from error


def _from_weights(
    loader: type[DiffusionPipeline], model: str, dtype: torch.dtype
) -> DiffusionPipeline:
    if Path(model).exists() and not Path(model, "model_index.json").exists():
        raise CaptureError(
            f"{model}: is not the directory of a diffusers pipeline: it has no model_index.json"
        )
    try:
        with _old_names():
            return loader.from_pretrained(model, torch_dtype=dtype)
    except (OSError, ValueError, ImportError) as error:  # gated, misspelt, offline, incomplete
        reason = first_line(error)
        hint = ""
        if "gated" in str(error) or "401" in str(error):
            hint = "; accept its licence on the hub, then: hf auth login"
        elif not Path(model).exists():
            hint = "; check the path, or the id of the model on the hub"
        reason = shorten(reason, LONGEST_REASON, placeholder=" …")
        raise CaptureError(f"{model}: cannot be loaded: {reason}{hint}") from error


@contextmanager
def _old_names() -> Iterator[None]:
    """Silence diffusers' warning about `torch_dtype`, the only name in older versions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield
