"""Calls of diffusers pipelines and their inputs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from capture.errors import CaptureError, first_line
from capture.pipelines.images import read_image

if TYPE_CHECKING:
    from diffusers import DiffusionPipeline

# Inputs that not every pipeline accepts, each with the name of the pipeline's argument.
OPTIONAL = {
    **{name: name for name in ("prompt", "height", "width", "max_sequence_length")},
    "negative_prompt": "negative_prompt",
    "guidance": "guidance_scale",
    "frames": "num_frames",
    "strength": "strength",
}


@dataclass(frozen=True)
class Inputs:
    """The inputs of a pipeline's call. `run.json` documents the same keys.

    `prompt` is one text, or several that are repeated over the batch. `image` is a file or
    `random`, and `strength` is the share of the image to replace, from 0 to 1. The pipeline uses
    its default for an input that is None.
    """

    prompt: str | tuple[str, ...] = "a house of traces"
    batch: int = 1
    height: int = 64
    width: int = 64
    steps: int = 3
    max_sequence_length: int | None = None
    seed: int = 0
    guidance: float | None = None
    negative_prompt: str | None = None
    frames: int | None = None
    image: str | None = None
    strength: float | None = None

    @property
    def prompts(self) -> list[str]:
        """One prompt for each image of the batch."""
        texts = [self.prompt] if isinstance(self.prompt, str) else list(self.prompt)
        return [texts[index % len(texts)] for index in range(self.batch)]


def arguments_of(pipeline: DiffusionPipeline) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of the pipeline's `__call__`, by name."""
    return inspect.signature(pipeline.__call__).parameters


def generate(pipeline: DiffusionPipeline, inputs: Inputs, **others: Any) -> Any:
    """Call `pipeline` once with those inputs that it accepts, and return its result.

    `others` are additional arguments.
    """
    import torch

    known = arguments_of(pipeline)
    wanted = {
        "prompt": inputs.prompts,
        "negative_prompt": (
            None if inputs.negative_prompt is None else [inputs.negative_prompt] * inputs.batch
        ),
        "guidance_scale": inputs.guidance,
        "num_frames": inputs.frames,
        "height": inputs.height,
        "width": inputs.width,
        "num_inference_steps": inputs.steps,
        "max_sequence_length": inputs.max_sequence_length,
        "image": _images(inputs),
        "strength": inputs.strength,
        "generator": torch.Generator().manual_seed(inputs.seed),
        **others,
    }
    if "prompt" not in known:
        wanted["batch_size"] = inputs.batch
    return pipeline(**{n: value for n, value in wanted.items() if n in known and value is not None})


def _images(inputs: Inputs) -> Any:
    """Return the image of a call, a list with an image per prompt, or None without an image."""
    if not inputs.image:
        return None
    image = read_image(inputs.image, inputs.height, inputs.width, inputs.seed)
    return image if inputs.batch == 1 else [image] * inputs.batch


@contextmanager
def explain_missing_image(pipeline: DiffusionPipeline, inputs: Inputs) -> Iterator[None]:
    """Turn a failure of the body into a CaptureError if the pipeline needs an image.

    The signature does not show this: many pipelines declare a default image that they then refuse.
    """
    try:
        yield
    except (AttributeError, TypeError, ValueError) as error:
        if inputs.image or "image" not in arguments_of(pipeline):
            raise
        raise CaptureError(
            f"{type(pipeline).__name__} failed without an image ({first_line(error)}); "
            "name one with --image"
        ) from error


def known_inputs(pipeline: DiffusionPipeline, inputs: Inputs) -> dict[str, Any]:
    """Return the inputs that this pipeline accepts, by the names of `Inputs`."""
    known = {*arguments_of(pipeline)} | ({"height", "width"} if inputs.image else set())
    return {
        name: value
        for name, value in asdict(inputs).items()
        if name not in OPTIONAL or OPTIONAL[name] in known
    }


def default_of(pipeline: DiffusionPipeline, name: str) -> Any:
    """Return the default of an argument, or None if the argument is absent or has no default."""
    known = arguments_of(pipeline).get(name)
    return None if known is None or known.default is known.empty else known.default


def frames_of_a_latent(pipeline: DiffusionPipeline) -> int:
    """Return the number of frames per latent. The first frame has a separate latent."""
    for name in ("vae_scale_factor_temporal", "vae_temporal_compression_ratio"):
        if frames := getattr(pipeline, name, None):
            return int(frames)
    return 1
