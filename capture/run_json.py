"""`run.json`: what is known of a run and cannot be read from its trace."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RunJson:
    """The content of `run.json`; its keys are these names.

    The three calls it speaks of have the same inputs: warm-up calls, then one call timed without
    the profiler, then the profiled one. Times are integer nanoseconds; a call's time ends when the
    device has finished.

    name                   the run directory's name, also the trace's
    model                  what was profiled, e.g. `flux-tiny`
    pipeline               class of the diffusers pipeline
    mode                   `eager`
    dtype                  of the weights, as torch calls it without `torch.`
    device                 where the pipeline ran: `cpu`, `cuda:0`, ...
    device_name            model of the processor or accelerator
    framework              `pytorch`
    framework_version      of torch, with its build, e.g. `2.13.0+cpu`
    diffusers_version      of diffusers
    python_version         of the interpreter
    arguments              the command and its options, defaults included; empty from a notebook
    seed                   of the first latents, and of the weights where they are random
    prompt                 one text, repeated over the batch
    batch                  images in a call
    height, width          of an image, pixels
    steps                  denoising steps in a call
    max_sequence_length    tokens that the prompt is padded or cut to, where the encoder is a T5
    started_at             start of the profiled call, ISO 8601, UTC
    warmup                 warm-up calls
    warmup_times_ns        each warm-up call, the first one first
    wall_time_ns           the call without the profiler, text encoding and decoding included
    step_times_ns          each denoising step of that call, the device waited for after each
    profiled_wall_time_ns  the profiled call; compare with wall_time_ns for the profiler's cost
    tags                   free labels of the run, text to text
    """

    name: str
    model: str
    pipeline: str
    mode: str
    dtype: str
    device: str
    device_name: str
    framework: str
    framework_version: str
    diffusers_version: str
    python_version: str
    arguments: dict[str, Any]
    seed: int
    prompt: str
    batch: int
    height: int
    width: int
    steps: int
    max_sequence_length: int
    started_at: str
    warmup: int
    warmup_times_ns: list[int]
    wall_time_ns: int
    step_times_ns: list[int]
    profiled_wall_time_ns: int
    tags: dict[str, str] = field(default_factory=dict)
