"""Calls of a diffusers pipeline, and their inputs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from capture.errors import CaptureError

if TYPE_CHECKING:
    from diffusers import DiffusionPipeline

# Inputs that not every pipeline takes, and the names of its arguments for them.
OPTIONAL = {
    **{name: name for name in ("prompt", "height", "width", "max_sequence_length")},
    "negative_prompt": "negative_prompt",
    "guidance": "guidance_scale",
    "frames": "num_frames",
}


@dataclass(frozen=True)
class Inputs:
    """What a pipeline is called with; `run.json` has the same keys, and says more.

    `prompt` is one text, or several that are repeated over the batch. What is None is left to the
    pipeline.
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

    @property
    def prompts(self) -> list[str]:
        """A prompt for each image of the batch."""
        given = [self.prompt] if isinstance(self.prompt, str) else list(self.prompt)
        return [given[place % len(given)] for place in range(self.batch)]


def generate(pipeline: DiffusionPipeline, inputs: Inputs) -> Any:
    """Call `pipeline` once, with those of the inputs that it knows; returns what it returns."""
    import torch

    known = inspect.signature(pipeline.__call__).parameters
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
        "generator": torch.Generator().manual_seed(inputs.seed),
    }
    if "prompt" not in known:
        wanted["batch_size"] = inputs.batch
    return pipeline(**{n: value for n, value in wanted.items() if n in known and value is not None})


@contextmanager
def image_asked_for(pipeline: DiffusionPipeline) -> Iterator[None]:
    """Turns a failure of the body into a CaptureError where the pipeline takes an image.

    Many have it as an argument with a default that they refuse.
    """
    try:
        yield
    except (AttributeError, TypeError, ValueError) as error:
        if "image" not in inspect.signature(pipeline.__call__).parameters:
            raise
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CaptureError(
            f"{type(pipeline).__name__} takes an image, and failed without one ({why}): call it "
            "in a script, with capture run -- script.py"
        ) from error


def known_inputs(pipeline: DiffusionPipeline, inputs: Inputs) -> dict[str, Any]:
    """The inputs that this pipeline takes, by the names of `Inputs`."""
    known = inspect.signature(pipeline.__call__).parameters
    return {
        name: value
        for name, value in asdict(inputs).items()
        if name not in OPTIONAL or OPTIONAL[name] in known
    }
