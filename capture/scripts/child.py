"""Recording a process that a profiled program has started."""

from __future__ import annotations

import json
from argparse import Namespace

from capture.errors import warn_on_stderr
from capture.output.processes import Child
from capture.recording.arguments import create_profiler_from_args
from capture.recording.profiler import Profiler
from capture.scripts.recorder import Recorder


def record_child(said: str) -> None:
    """Listens to this process, as torch has been imported; `said` is what `children` wrote."""
    wish = json.loads(said)
    child = Child(wish["program"], wish["inherited_rank"])
    asked = Namespace(**wish["options"])

    def profiler() -> Profiler:
        made = create_profiler_from_args(asked, wish["name"])
        made.describe(arguments={"command": wish["command"]})
        return made

    warn_on_stderr()
    Recorder(profiler, asked.from_start, child, is_child=True).listen()
