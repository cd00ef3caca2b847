"""Record profiles of models: directories of profiler output that `ingest add` reads.

For scripts: `Profiler`, `profile_function`, `MemoryTracker`, and the `--profile…` flags with
`add_profiler_arguments` and `create_profiler_from_args`. Torch is imported on first use.

    cli/         the command line
    scripts/     `capture run`: profiles any program, unmodified
    pipelines/   profiles one call of a diffusers pipeline, and builds tiny pipelines
    sweep/       `capture sweep`: compares variants of a pipeline or a function
    calibration/ `capture calibrate`: measures what the devices of this machine reach
    recording/   the profiler
    output/      the run directory and its `run.json`
"""

from capture.errors import CaptureError, CaptureWarning
from capture.recording.arguments import add_profiler_arguments, create_profiler_from_args
from capture.recording.cache_dit import ProfilerContext
from capture.recording.functions import profile_function
from capture.recording.memory import MemoryTracker
from capture.recording.profiler import Profiler

__all__ = [
    "CaptureError",
    "CaptureWarning",
    "MemoryTracker",
    "Profiler",
    "ProfilerContext",
    "add_profiler_arguments",
    "create_profiler_from_args",
    "profile_function",
]
