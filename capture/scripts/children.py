"""The processes that a program starts: how they come to be recorded, and which cannot be."""

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
from capture.recording.arguments import create_profiler_from_args
from capture.recording.profiler import Profiler
from capture.scripts.program import PYTHON

WISH = "TRACEHOUSE_CAPTURE"  # variable with the path of the file that says what to record
RANK = "TRACEHOUSE_CAPTURE_RANK"  # and with the RANK of the process that starts another
SITE = str(Path(__file__).with_name("site"))  # has a sitecustomize.py
# Options with which Python ignores PYTHONPATH or sitecustomize.
ALONE = re.compile(r"-(?![WXcm])[a-zA-Z]*[IES]\w*")

ENVIRONMENT = 4  # its place among the arguments of `fork_exec` after the command's words
_told: set[str] = set()  # why processes are not recorded


class Wish(NamedTuple):
    """What to record of a program and of the processes that it starts.

    program  a random word that identifies the program
    name     of the run
    command  what was typed
    asked    the options, as `create_profiler_from_args` has them, and `from_start`
    """

    program: str
    name: str
    command: list[str]
    asked: dict[str, Any]

    def profiler(self) -> Profiler:
        """A profiler for one process."""
        made = create_profiler_from_args(Namespace(**self.asked), self.name)
        made.describe(arguments={"command": self.command})
        return made


def record_children(wish: Wish, file: Path) -> None:
    """From now on, the Python processes that this one starts read `file`, and are recorded."""
    file.write_text(json.dumps(wish._asdict(), default=str), encoding="utf-8")
    os.environ[WISH] = str(file)
    pass_on_rank()
    paths = os.environ.get("PYTHONPATH")
    if SITE not in (paths or "").split(os.pathsep):
        os.environ["PYTHONPATH"] = f"{SITE}{os.pathsep}{paths}" if paths else SITE


def pass_on_rank() -> None:
    """Tells the processes that this one starts from now on that its RANK is not theirs."""
    if WISH in os.environ:
        os.environ[RANK] = os.environ.get("RANK", "")


def record_nothing() -> None:
    """Stops recording child processes: this process is `capture` itself."""
    os.environ.pop(WISH, None)


def tell_of_unreachable() -> None:
    """From now on, says on stderr which Python processes start without being recorded.

    An audit hook would hear of them too, but Dynamo compiles what it calls.
    """
    start: Any = _posixsubprocess.fork_exec

    def start_and_tell(words: list[Any], *args: Any) -> int:
        why = _unreachable([os.fsdecode(word) for word in words], args[ENVIRONMENT])
        if why and why not in _told:
            _told.add(why)
            say(f"a Python process is not recorded: {why}")
        return int(start(words, *args))

    replaced: Any = start_and_tell
    _posixsubprocess.fork_exec = replaced  # multiprocessing's
    subprocess._fork_exec = replaced  # type: ignore[attr-defined]


def was_unreachable() -> bool:
    """Whether a Python process started without being recorded."""
    return bool(_told)


def _unreachable(words: list[str], environment: list[bytes] | None) -> str | None:
    """Why the process that a command starts is not recorded, if it runs Python."""
    is_python = words and PYTHON.fullmatch(Path(words[0]).name)
    if WISH not in os.environ or not is_python or _is_inductor_calling():
        return None
    for word in words[1:]:
        if not word.startswith("-") or word[1:2] in ("c", "m"):
            break
        if ALONE.fullmatch(word):
            return f"{word} makes Python ignore PYTHONPATH"
    given = dict(os.environb)
    if environment is not None:
        given = dict(entry.partition(b"=")[::2] for entry in environment)
    if WISH.encode() not in given:
        return f"its environment lacks {WISH}"
    if SITE not in os.fsdecode(given.get(b"PYTHONPATH", b"")).split(os.pathsep):
        return f"its PYTHONPATH lacks {SITE}"
    return None


def _is_inductor_calling() -> bool:
    """Whether the compiler starts it, which records nothing."""
    frame = sys._getframe(1)
    while frame.f_back:
        if frame.f_globals.get("__name__", "").startswith("torch._inductor."):
            return True
        frame = frame.f_back
    return False
