"""Calls of a diffusers pipeline: their inputs, and labels of their stages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from capture.errors import CaptureError

if TYPE_CHECKING:
    from diffusers import DiffusionPipeline

DENOISERS = ("transformer", "unet", "prior")


@dataclass(frozen=True)
class Inputs:
    """What a text-to-image pipeline is called with; `run.json` has the same keys, and says more."""

    prompt: str = "a house of traces"
    batch: int = 1
    height: int = 64
    width: int = 64
    steps: int = 3
    max_sequence_length: int | None = None
    seed: int = 0


def generate(pipeline: DiffusionPipeline, inputs: Inputs) -> None:
    """Call `pipeline` once, with those of the inputs that it knows."""
    import torch

    known = inspect.signature(pipeline.__call__).parameters
    wanted = {
        "prompt": [inputs.prompt] * inputs.batch,
        "height": inputs.height,
        "width": inputs.width,
        "num_inference_steps": inputs.steps,
        "max_sequence_length": inputs.max_sequence_length,
        "generator": torch.Generator().manual_seed(inputs.seed),
    }
    if "prompt" not in known:
        wanted["batch_size"] = inputs.batch
    pipeline(**{n: value for n, value in wanted.items() if n in known and value is not None})


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
    optional = {"prompt", "height", "width", "max_sequence_length"} - known.keys()
    return {n: value for n, value in asdict(inputs).items() if n not in optional}


def denoiser(pipeline: DiffusionPipeline) -> str | None:
    """The name of the part that runs in each denoising step; None where there is none."""
    return next((name for name in DENOISERS if getattr(pipeline, name, None) is not None), None)


@contextmanager
def labelled_stages(pipeline: DiffusionPipeline) -> Iterator[None]:
    """In the body, label text encoding and VAE decoding for the profiler."""
    from torch.profiler import record_function

    def labelled(label: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            with record_function(label):
                return function(*args, **kwargs)

        return call

    with ExitStack() as stages:
        for owner, method, label in (
            (pipeline, "encode_prompt", "text_encoding"),
            (getattr(pipeline, "vae", None), "decode", "vae_decoding"),
        ):
            if function := getattr(owner, method, None):
                stages.enter_context(_replaced(owner, method, labelled(label, function)))
        yield


@contextmanager
def _replaced(owner: object, method: str, replacement: Callable[..., Any]) -> Iterator[None]:
    """In the body, `replacement` stands for a method of this one object."""
    setattr(owner, method, replacement)
    try:
        yield
    finally:
        delattr(owner, method)
