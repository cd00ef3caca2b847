"""`run.json`: facts about a run that its trace does not contain.

`KEYS` documents the keys. A key without a value is absent; if the value was requested, `missing`
has the reason. `rank<r>.json` has the same keys for one rank. Times are integer nanoseconds unless
their text says otherwise.
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
    "name": "name of the run; the names of its files begin with it",
    "model": "name of the profiled model, e.g. `flux-tiny`",
    "pipeline": "class of the diffusers pipeline",
    "mode": "`eager`, or `compiled` by torch.compile",
    "compile": "compiled parts, the classes of compiled blocks, and the options of torch.compile",
    "dtype": "data type of the weights, e.g. `bfloat16`",
    "device": "device that torch computes on: `cpu`, `cuda`, ...",
    "device_name": "model of the processor or accelerator",
    "driver": "version of CUDA or ROCm, and the newest CUDA that the driver supports",
    "framework": "`pytorch`",
    "framework_version": "version and build of torch, e.g. `2.13.0+cpu`",
    "diffusers_version": "version of diffusers, if the process has imported it",
    "python_version": "version of the Python interpreter",
    "process": "name of the process, if the profiled program started it",
    "host_name": "name of the machine; ranks on the same machine have the same clock",
    "rank": "rank of the process that wrote the file",
    "world_size": "number of processes in the job",
    "arguments": "the command and its options, or the script and its arguments; secrets redacted",
    "seed": "seed of the initial latents, and of random weights",
    "prompt": "prompt, or a list of prompts that is repeated over the batch",
    "negative_prompt": "negative prompt",
    "guidance": "guidance scale",
    "batch": "images or videos per call",
    "height": "image height, pixels",
    "width": "image width, pixels",
    "steps": "denoising steps per call",
    "frames": "frames per video",
    "max_sequence_length": "tokens to which a T5 encoder pads or truncates the prompt",
    "image": "initial image: a file, or `random` for random pixels from the seed",
    "strength": "share of the initial image to replace, from 0 to 1; this share of the steps ran",
    "offload": "parts kept in host memory while idle: `model`, `sequential` (layers) or `group`",
    "quantization": "torchao quantization of the denoiser's weights, e.g. `int8wo`",
    "attention": "chosen attention backend of the denoiser",
    "cache": "cache that reused results between denoising steps, e.g. `cache-dit`",
    "started_at": "start of the profiled run, ISO 8601, UTC",
    "warmup": "number of warm-up calls",
    "warmup_batch": "images or videos per warm-up call",
    "warmup_inputs": "inputs of the warm-up calls that differ from the inputs of the measured "
    "calls",
    "warmup_times_ns": "time of each warm-up call, in order",
    "wall_time_ns": "time of the same call without the profiler: the median of `wall_times_ns`",
    "wall_times_ns": "time of each unprofiled call, until the device is idle again",
    "step_times_ns": "time of each step of another unprofiled call, measured with events on the "
    "device's stream",
    "profiled_wall_time_ns": "time of the profiled run; minus `wall_time_ns`, it is the cost of "
    "the profiler",
    "profiled_step_times_ns": "time of each step of the profiled run, on the host",
    "warmup_steps": "profiled steps that began before the last compilation",
    "steps_from": "how the steps of a program were found: `optimizer` steps, `denoising` steps, or "
    "`calls` of a module",
    "profiler": "activities, options and schedule of the profiler",
    "device_time": "per device, busy time (`busy_ns`) within the recorded time (`recorded_ns`)",
    "memory": "peak memory per device (allocated, reserved) and of the host (resident), bytes",
    "compilation": "compilations by torch.compile: numbers of graphs, recompilations and graph "
    "breaks, seconds, and each compilation with its reason",
    "calibration": "content of `calibration.json` for the device of the run: the time of the "
    "measurement, and what the device reached",
    "error": "error or signal that ended the run",
    "missing": "requested parts that could not be recorded, each with the reason",
    "sweep": "results of `capture sweep` for this variant, as in table `sweep_variants`",
    "tags": "free labels of the run, text to text",
}


def described(
    measured: Mapping[str, Any], device: torch.device, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the content: the environment, the measurements, and the facts from the program.

    Omit empty values, redact secrets, and sort by the order of `KEYS`.
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
        "host_name": platform.node(),
        "mode": "compiled" if measured.get("compilation") else "eager",
    }
    content = {**environment, **measured, **facts}
    order = [*KEYS, *(content.keys() - KEYS.keys())]
    known = {key: content[key] for key in order if content.get(key) not in (None, {})}
    return dict(redact(known))
