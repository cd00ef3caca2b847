"""Records a process that a profiled program has started."""

from __future__ import annotations

import json
import os
from pathlib import Path

from capture.errors import warn_on_stderr
from capture.output.processes import Child
from capture.scripts.children import RANK, Request
from capture.scripts.endings import save_at_os_exit
from capture.scripts.recorder import Recorder


def record_child(file: str) -> None:
    """Observe this process as the request in `file` says. Torch has been imported."""
    request = Request(**json.loads(Path(file).read_text(encoding="utf-8")))
    child = Child(request.program, os.environ.get(RANK))
    warn_on_stderr()
    recorder = Recorder(request.profiler, request.options["from_start"], request.program, child)
    recorder.listen()
    save_at_os_exit(lambda _: recorder.end_on_main_thread())
