"""Calls of a diffusers pipeline, and their inputs."""

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

# Inputs that not every pipeline takes, and the names of its arguments for them.
OPTIONAL = {
    **{name: name for name in ("prompt", "height", "width", "max_sequence_length")},
    "negative_prompt": "negative_prompt",
    "guidance": "guidance_scale",
    "frames": "num_frames",
    "strength": "strength",
}


@dataclass(frozen=True)
class Inputs:
    """What a pipeline is called with; `run.json` has the same keys, and says more.

    `prompt` is one text, or several that are repeated over the batch. `image` is a file or
    `random`, and `strength` is the share of it to replace, from 0 to 1. The pipeline chooses what
    is None.
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
        """A prompt for each image of the batch."""
        given = [self.prompt] if isinstance(self.prompt, str) else list(self.prompt)
        return [given[place % len(given)] for place in range(self.batch)]


def arguments_of(pipeline: DiffusionPipeline) -> Mapping[str, inspect.Parameter]:
    """What a call of the pipeline takes."""
    return inspect.signature(pipeline.__call__).parameters


def generate(pipeline: DiffusionPipeline, inputs: Inputs, **others: Any) -> Any:
    """Call `pipeline` once, with the inputs that it takes, and return its result.

    `others` are further arguments.
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
    """The image of a call, or one for each prompt."""
    if not inputs.image:
        return None
    image = read_image(inputs.image, inputs.height, inputs.width, inputs.seed)
    return image if inputs.batch == 1 else [image] * inputs.batch


@contextmanager
def image_asked_for(pipeline: DiffusionPipeline, inputs: Inputs) -> Iterator[None]:
    """Turns a failure of the body into a CaptureError where the pipeline takes an image.

    Many have it as an argument with a default that they refuse.
    """
    try:
        yield
    except (AttributeError, TypeError, ValueError) as error:
        if inputs.image or "image" not in arguments_of(pipeline):
            raise
        raise CaptureError(
            f"{type(pipeline).__name__} takes an image, and failed without one "
            f"({first_line(error)}): see --image"
        ) from error


def known_inputs(pipeline: DiffusionPipeline, inputs: Inputs) -> dict[str, Any]:
    """The inputs that this pipeline takes, by the names of `Inputs`."""
    known = {*arguments_of(pipeline)} | ({"height", "width"} if inputs.image else set())
    return {
        name: value
        for name, value in asdict(inputs).items()
        if name not in OPTIONAL or OPTIONAL[name] in known
    }


def default_of(pipeline: DiffusionPipeline, name: str) -> Any:
    """The default of an argument of the pipeline; None where it has none, or lacks the argument."""
    known = arguments_of(pipeline).get(name)
    return None if known is None or known.default is known.empty else known.default


def frames_of_a_latent(pipeline: DiffusionPipeline) -> int:
    """Frames that a latent stands for, after the first frame, which has a latent of its own."""
    for name in ("vae_scale_factor_temporal", "vae_temporal_compression_ratio"):
        if frames := getattr(pipeline, name, None):
            return int(frames)
    return 1
