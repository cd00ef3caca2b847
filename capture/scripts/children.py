"""The processes that a program starts: how they come to be recorded, and which cannot be."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from capture.errors import say
from capture.output.processes import Child
from capture.scripts.program import PYTHON

VARIABLE = "TRACEHOUSE_CAPTURE"
SITE = str(Path(__file__).with_name("site"))  # has a sitecustomize.py
ALONE = re.compile(r"-[a-zA-Z]*[IES][a-zA-Z]*")  # options with which Python does not look there


def record_children(child: Child, wish: dict[str, Any]) -> None:
    """From now on, the Python processes that this one starts are recorded as `wish` says."""
    said = {"program": child.program, "inherited_rank": child.inherited_rank, **wish}
    os.environ[VARIABLE] = json.dumps(said, default=str)
    paths = os.environ.get("PYTHONPATH")
    if SITE not in (paths or "").split(os.pathsep):
        os.environ["PYTHONPATH"] = f"{SITE}{os.pathsep}{paths}" if paths else SITE


def pass_on_rank() -> None:
    """Tells the processes that this one starts from now on that its RANK is not theirs."""
    if said := os.environ.get(VARIABLE):
        rank = os.environ.get("RANK")
        os.environ[VARIABLE] = json.dumps(json.loads(said) | {"inherited_rank": rank})


def record_nothing() -> None:
    """`capture` itself was started by a program that is profiled: it records as it is asked to."""
    os.environ.pop(VARIABLE, None)


def tell_of_unreachable() -> None:
    """From now on, says on stderr which Python processes start without being recorded.

    An audit hook would hear of them too, but Dynamo compiles what it calls.
    """
    start = getattr(subprocess, "_fork_exec", None)
    if not start:
        return
    told = set()

    def start_and_tell(
        words: list[str | bytes], paths: object, close: object, keep: object, directory: object,
        environment: list[bytes] | None, *others: object,
    ) -> int:  # fmt: skip
        why = _unreachable([os.fsdecode(word) for word in words], environment)
        if why and why not in told:
            told.add(why)
            say(f"a Python process is not recorded: {why}")
        return int(start(words, paths, close, keep, directory, environment, *others))

    subprocess._fork_exec = start_and_tell  # type: ignore[attr-defined]


def _unreachable(words: list[str], environment: list[bytes] | None) -> str | None:
    """Why the process that a command starts is not recorded, if it runs Python."""
    if VARIABLE not in os.environ or not PYTHON.fullmatch(Path(words[0]).name):
        return None
    if any("compile_worker" in word for word in words):  # Inductor's
        return None
    for word in words[1:]:
        if not word.startswith("-") or word in ("-c", "-m"):
            break
        if ALONE.fullmatch(word):
            return f"{word} has Python ignore PYTHONPATH"
    if environment is None:
        return None
    given = dict(entry.partition(b"=")[::2] for entry in environment)
    if VARIABLE.encode() not in given:
        return f"its environment lacks {VARIABLE}"
    if SITE not in os.fsdecode(given.get(b"PYTHONPATH", b"")).split(os.pathsep):
        return f"its PYTHONPATH lacks {SITE}"
    return None
