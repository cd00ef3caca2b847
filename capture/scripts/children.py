"""Records the Python processes that a program starts, and reports those that it cannot."""

from __future__ import annotations

import _posixsubprocess
import json
import os
import re
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple

from capture.errors import say
from capture.output.processes import REQUEST
from capture.recording.arguments import create_profiler_from_args
from capture.recording.profiler import Profiler
from capture.scripts.program import PYTHON

RANK = "TRACEHOUSE_CAPTURE_RANK"  # environment variable with the RANK of the parent process
SITE = str(Path(__file__).with_name("site"))  # contains a sitecustomize.py
# Options that make Python ignore PYTHONPATH or sitecustomize.
ALONE = re.compile(r"-(?![WXcm])[a-zA-Z]*[IES]\w*")

ENVIRONMENT = 4  # index of the environment in the arguments of `fork_exec` after the command
_reported: set[str] = set()  # reasons why processes are not recorded


class Request(NamedTuple):
    """The request to record a program and the processes that it starts.

    program  a random word that identifies the program
    name     the name of the run
    command  the command of the program, as typed
    options  the flags that `create_profiler_from_args` reads, and `from_start`
    """

    program: str
    name: str
    command: list[str]
    options: dict[str, Any]

    def profiler(self) -> Profiler:
        """Return a profiler for one process."""
        made = create_profiler_from_args(Namespace(**self.options), self.name)
        made.describe(arguments={"command": self.command})
        return made


def record_children(request: Request, file: Path) -> None:
    """Record the Python processes that this one starts from now on. They read `file`."""
    file.write_text(json.dumps(request._asdict(), default=str), encoding="utf-8")
    os.environ[REQUEST] = str(file)
    pass_on_rank()
    paths = os.environ.get("PYTHONPATH")
    if SITE not in (paths or "").split(os.pathsep):
        os.environ["PYTHONPATH"] = f"{SITE}{os.pathsep}{paths}" if paths else SITE


def pass_on_rank() -> None:
    """Pass this process's RANK to its children, so that they do not take it for their own."""
    if REQUEST in os.environ:
        os.environ[RANK] = os.environ.get("RANK", "")


def stop_recording_children() -> None:
    """Stop recording child processes, because this process is `capture` itself."""
    os.environ.pop(REQUEST, None)


def report_unreachable() -> None:
    """Report on stderr each Python process that starts from now on and cannot be recorded.

    An audit hook could do this too, but Dynamo would compile the functions that it calls.
    """
    start: Any = _posixsubprocess.fork_exec

    def start_and_report(words: list[Any], *args: Any) -> int:
        why = _unreachable([os.fsdecode(word) for word in words], args[ENVIRONMENT])
        if why and why not in _reported:
            _reported.add(why)
            say(f"a Python process is not recorded: {why}")
        return int(start(words, *args))

    replaced: Any = start_and_report
    _posixsubprocess.fork_exec = replaced  # multiprocessing's
    subprocess._fork_exec = replaced  # type: ignore[attr-defined]


def was_unreachable() -> bool:
    """Return whether a Python process started without being recorded."""
    return bool(_reported)


def _unreachable(words: list[str], environment: list[bytes] | None) -> str | None:
    """Return the reason why a command's process is not recorded.

    Return None if it is recorded or is not Python.
    """
    is_python = words and PYTHON.fullmatch(Path(words[0]).name)
    if REQUEST not in os.environ or not is_python or _is_inductor_calling():
        return None
    for word in words[1:]:
        if not word.startswith("-") or word[1:2] in ("c", "m"):
            break
        if ALONE.fullmatch(word):
            return f"{word} makes Python ignore PYTHONPATH"
    variables = dict(os.environb)
    if environment is not None:
        variables = dict(entry.partition(b"=")[::2] for entry in environment)
    if REQUEST.encode() not in variables:
        return f"its environment lacks {REQUEST}"
    if SITE not in os.fsdecode(variables.get(b"PYTHONPATH", b"")).split(os.pathsep):
        return f"its PYTHONPATH lacks {SITE}"
    return None


def _is_inductor_calling() -> bool:
    """Return whether Inductor starts the process. Its processes need no recording."""
    frame = sys._getframe(1)
    while frame.f_back:
        if frame.f_globals.get("__name__", "").startswith("torch._inductor."):
            return True
        frame = frame.f_back
    return False


def is_helper() -> bool:
    """Return whether this process is a DataLoader worker, or a fork that cannot use CUDA."""
    worker = sys.modules.get("torch.utils.data._utils.worker")
    cuda = sys.modules.get("torch.cuda")
    return bool((worker and worker.get_worker_info()) or (cuda and cuda._is_in_bad_fork()))
