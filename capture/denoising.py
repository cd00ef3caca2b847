"""The stages of a diffusers pipeline's call: text encoding, denoising steps, decoding."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffusers import DiffusionPipeline

PIPELINE_MODULE = "diffusers.pipelines.pipeline_utils"
DENOISERS = ("transformer", "unet", "prior")
StepContext = Callable[[], AbstractContextManager[object]]


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

    wanted = {
        "prompt": [inputs.prompt] * inputs.batch,
        "height": inputs.height,
        "width": inputs.width,
        "num_inference_steps": inputs.steps,
        "max_sequence_length": inputs.max_sequence_length,
        "generator": torch.Generator().manual_seed(inputs.seed),
    }
    known = inspect.signature(pipeline.__call__).parameters
    pipeline(**{n: value for n, value in wanted.items() if n in known and value is not None})


def known_inputs(pipeline: DiffusionPipeline, inputs: Inputs) -> dict[str, Any]:
    """The inputs that this pipeline takes, by the names of `Inputs`."""
    takes_tokens = "max_sequence_length" in inspect.signature(pipeline.__call__).parameters
    return asdict(inputs if takes_tokens else replace(inputs, max_sequence_length=None))


def denoiser(pipeline: DiffusionPipeline) -> str | None:
    """The name of the part that runs in each denoising step; None where there is none."""
    return next((name for name in DENOISERS if getattr(pipeline, name, None) is not None), None)


@contextmanager
def denoising_steps(around_step: StepContext) -> Iterator[None]:
    """In the body, each denoising step of every diffusers pipeline is inside `around_step()`.

    The first step begins where a pipeline asks for its progress bar, which they all do right before
    their loop; each ends where the bar moves on. Pipelines must have been imported.
    """
    module = sys.modules.get(PIPELINE_MODULE)
    if not module:
        yield
        return
    pipelines = module.DiffusionPipeline
    make = pipelines.progress_bar
    with ExitStack() as step:

        def progress_bar(
            self: object, iterable: Iterable[object] | None = None, total: int | None = None
        ) -> Any:
            step.close()  # of a loop that was left
            if iterable is not None:
                return _stepping(make(self, iterable), around_step)
            bar = make(self, total=total)
            update = bar.update
            done = 0

            def move_on(count: float | None = 1) -> Any:
                nonlocal done
                step.close()
                done += 1
                if total is None or done < total:
                    step.enter_context(around_step())
                return update(count)

            bar.update = move_on
            step.enter_context(around_step())
            return bar

        pipelines.progress_bar = progress_bar
        try:
            yield
        finally:
            pipelines.progress_bar = make


def _stepping(items: Iterable[object], around_step: StepContext) -> Iterator[object]:
    for item in items:
        with around_step():
            yield item


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
