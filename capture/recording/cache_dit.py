"""Compatibility with scripts that use cache-dit's profiler helpers."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from capture.recording.profiler import Profiler


class ProfilerContext(Profiler):
    """`Profiler` with the parameters of cache-dit's `ProfilerContext`."""

    def __init__(
        self,
        enabled: bool = True,
        activities: Iterable[str] | None = None,
        output_dir: str | Path | None = None,
        profile_name: str | None = None,
        with_stack: bool = False,
        record_shapes: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(
            enabled,
            activities,
            output_dir,
            profile_name,
            with_stack=with_stack,
            record_shapes=record_shapes,
            **options,
        )
