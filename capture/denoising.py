"""The stages of a diffusers pipeline's call: text encoding, denoising steps, decoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffusers import DiffusionPipeline


@dataclass(frozen=True)
class Inputs:
    """What a text-to-image pipeline is called with; `run.json` has the same keys, and says more."""

    prompt: str = "a house of traces"
    batch: int = 1
    height: int = 64
    width: int = 64
    steps: int = 3
    max_sequence_length: int = 64
    seed: int = 0


def generate(
    pipeline: DiffusionPipeline,
    inputs: Inputs,
    around_step: Callable[[int], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Call `pipeline` once, each denoising step inside `around_step(number)`, from 0.

    The first step begins where the pipeline asks for its progress bar: they all do so right before
    their loop. Any other begins where the one before it ends.
    """
    import torch

    make_progress_bar = pipeline.progress_bar
    with ExitStack() as step:

        def progress_bar(*args: Any, **kwargs: Any) -> Any:
            bar = make_progress_bar(*args, **kwargs)
            step.enter_context(around_step(0))
            return bar

        def on_step_end(_: object, number: int, __: object, tensors: dict[str, Any]) -> Any:
            step.close()
            if number + 1 < pipeline.num_timesteps:
                step.enter_context(around_step(number + 1))
            return tensors

        with replaced(pipeline, "progress_bar", progress_bar):
            pipeline(
                prompt=[inputs.prompt] * inputs.batch,
                height=inputs.height,
                width=inputs.width,
                num_inference_steps=inputs.steps,
                max_sequence_length=inputs.max_sequence_length,
                generator=torch.Generator().manual_seed(inputs.seed),
                callback_on_step_end=on_step_end,
            )


@contextmanager
def labelled_stages(pipeline: DiffusionPipeline) -> Iterator[None]:
    """In the body, label text encoding and VAE decoding for the profiler."""
    from torch.profiler import record_function

    def labelled(label: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            with record_function(label):
                return function(*args, **kwargs)

        return call

    with (
        replaced(pipeline, "encode_prompt", labelled("text_encoding", pipeline.encode_prompt)),
        replaced(pipeline.vae, "decode", labelled("vae_decoding", pipeline.vae.decode)),
    ):
        yield


@contextmanager
def replaced(owner: object, method: str, replacement: Callable[..., Any]) -> Iterator[None]:
    """In the body, `replacement` stands for a method of this one object."""
    setattr(owner, method, replacement)
    try:
        yield
    finally:
        delattr(owner, method)
