"""`run.json`: what is known of a run and cannot be read from its trace.

`KEYS` says what it can hold; what is not known is not there, and where it was asked for, `missing`
says why. `rank<r>.json` is the same of one rank. Times are integer nanoseconds unless they say
otherwise.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from capture.device import device_name, driver
from capture.output.redact import redact

if TYPE_CHECKING:
    import torch

KEYS = {
    "name": "the run, also the beginning of its files' names",
    "model": "what was profiled, e.g. `flux-tiny`",
    "pipeline": "class of the diffusers pipeline",
    "mode": "`eager` or `compiled`",
    "compile": "what was compiled, of repeated blocks their classes, and the options",
    "dtype": "of the weights, as torch calls it without `torch.`",
    "device": "where torch computes: `cpu`, `cuda`, ...",
    "device_name": "model of the processor or accelerator",
    "driver": "version of CUDA or ROCm, and the newest CUDA that the driver is made for",
    "framework": "`pytorch`",
    "framework_version": "of torch, with its build, e.g. `2.13.0+cpu`",
    "diffusers_version": "of diffusers, where the process used it",
    "python_version": "of the interpreter",
    "process": "name of the process, where the program started it",
    "rank": "number of the process that wrote this",
    "world_size": "processes of the job",
    "arguments": "the command and its options, or the script and its arguments; secrets redacted",
    "seed": "of the first latents, and of the weights where they are random",
    "prompt": "one text, or several, repeated over the batch",
    "negative_prompt": "what is not wanted",
    "guidance": "scale of the guidance",
    "batch": "images in a call",
    "height": "of an image, pixels",
    "width": "of an image, pixels",
    "steps": "denoising steps in a call",
    "frames": "frames of a video",
    "max_sequence_length": "tokens that the prompt is padded or cut to, where the encoder is a T5",
    "image": "what the call began with: a file, or `random` pixels from the seed",
    "strength": "how much of that image was replaced, from 0 to 1: this share of the steps ran",
    "offload": "parts that waited in the host's memory: `model`, `sequential` (layers) or `group`",
    "quantization": "of the denoiser's weights, by torchao, e.g. `int8wo`",
    "attention": "backend of the denoiser's attention, where one was chosen",
    "cache": "what reused results between denoising steps, e.g. `cache-dit`",
    "started_at": "start of the profiled run, ISO 8601, UTC",
    "warmup": "calls before the measured ones",
    "warmup_batch": "images in a warm-up call",
    "warmup_inputs": "inputs of the warm-up calls that differ from those of the measured ones",
    "warmup_times_ns": "each warm-up call, the first one first",
    "wall_time_ns": "the same call without the profiler, from an idle device to an idle one: "
    "the median of `wall_times_ns`",
    "wall_times_ns": "each time that this call was timed",
    "step_times_ns": "each step of one further, unprofiled call, by events on the device's stream",
    "profiled_wall_time_ns": "the profiled run; beside wall_time_ns, the profiler's cost",
    "profiled_step_times_ns": "each step of the profiled run, on the host",
    "warmup_steps": "steps at the start of these until the last compilation",
    "steps_from": "what the steps of a program are: `optimizer`, `denoising`, `calls` of a module",
    "profiler": "what was recorded: activities, options, and the schedule over the steps",
    "device_time": "per device, the time at work (`busy_ns`) in the recorded time (`recorded_ns`)",
    "memory": "peaks per device (allocated, reserved) and of the host (resident), bytes",
    "compilation": "what torch.compile did (see `capture.recording.compilation.summary`)",
    "error": "what ended the run, if something did",
    "missing": "what was asked for and could not be had, with the reason",
    "sweep": "what `capture sweep` found of this variant: table `sweep_variants` has it",
    "tags": "free labels of the run, text to text",
}


def described(
    measured: Mapping[str, Any], device: torch.device, said: Mapping[str, Any]
) -> dict[str, Any]:
    """The content: what was measured, the environment, and what the program says of itself.

    Without what is not known, and without secrets; in the order of `KEYS`.
    """
    import torch

    diffusers = sys.modules.get("diffusers")
    environment = {
        "device": str(device),
        "device_name": device_name(device),
        "driver": driver(device),
        "framework": "pytorch",
        "framework_version": torch.__version__,
        "diffusers_version": getattr(diffusers, "__version__", None),
        "python_version": platform.python_version(),
        "mode": "compiled" if measured.get("compilation") else "eager",
    }
    content = {**environment, **measured, **said}
    order = [*KEYS, *(content.keys() - KEYS.keys())]
    known = {key: content[key] for key in order if content.get(key) not in (None, {})}
    return dict(redact(known))
