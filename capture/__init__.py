"""Record profiles of models: directories of profiler output that `ingest add` reads.

For scripts: `Profiler`, `profile_function`, `MemoryTracker`, and the `--profile…` flags with
`add_profiler_arguments` and `create_profiler_from_args`. `capture.cli` is the command line over
`capture.record`, which profiles one call of a diffusers pipeline, and `capture.script`, which
profiles any script. Torch is imported when it is used.
"""

from capture.arguments import add_profiler_arguments, create_profiler_from_args
from capture.cache_dit import ProfilerContext
from capture.errors import CaptureError, CaptureWarning
from capture.functions import profile_function
from capture.memory import MemoryTracker
from capture.profiler import Profiler

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
