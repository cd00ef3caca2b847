"""torch.profiler, from its start to a trace file."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from capture.errors import capture_extra
from capture.run_directory import appearing


@dataclass(frozen=True)
class ProfilerOptions:
    """What the profiler records besides the operators; each makes the trace larger and slower.

    record_shapes  shapes, types and scalar values of the operators' inputs
    with_stack     Python frames
    """

    record_shapes: bool = True
    with_stack: bool = True


DEFAULT_OPTIONS = ProfilerOptions()


@contextmanager
def profiling(trace: Path, options: ProfilerOptions = DEFAULT_OPTIONS) -> Iterator[None]:
    """Profile the body on the CPU and every accelerator torch supports; write `trace` (.json.gz).

    Raises CaptureError without torch or if the file cannot be written.
    """
    with capture_extra():
        from torch.profiler import profile

    with profile(record_shapes=options.record_shapes, with_stack=options.with_stack) as profiler:
        yield
    with appearing(trace) as temporary:
        profiler.export_chrome_trace(str(temporary))
