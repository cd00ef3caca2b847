"""The user's program: what a command line names, and running it as `python` would."""

from __future__ import annotations

import atexit
import os
import re
import runpy
import sys
import traceback
import zipfile
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, TracebackType
from typing import NamedTuple, NoReturn

from capture.errors import CaptureError

PYTHON = re.compile(r"python[\d.]*(\.exe)?")
USAGE = "capture run [options] -- script.py arguments..."


class Program(NamedTuple):
    """A script, or a module with `-m`, and its `sys.argv`."""

    script: str
    is_module: bool
    arguments: list[str]

    @property
    def name(self) -> str:
        """The script's or module's name."""
        return self.script if self.is_module else Path(self.script).stem

    @classmethod
    def of(cls, command: Sequence[str]) -> Program:
        """The program that `script.py …`, `-m module …`, or `python` with either names.

        Raises CaptureError if there is none; the message says what to type.
        """
        words = list(command)
        if words and PYTHON.fullmatch(Path(words[0]).name):
            words = words[1:]
            if words and words[0].startswith("-") and words[0] != "-m":
                raise CaptureError(
                    f"python {words[0]}: leave out Python's options, or set them for capture: "
                    f"python {words[0]} -m capture run -- script.py arguments..."
                )
        is_module = words[:1] == ["-m"]
        words = words[1:] if is_module else words
        if not words:
            raise CaptureError(f"no script: {USAGE}")
        script = words[0]
        if is_module and not _has_module(script):
            raise CaptureError(f"{script}: no such module")
        if not is_module and not Path(script).exists():
            raise CaptureError(f"{script}: no such file: {USAGE}")
        if not is_module and not _is_python(Path(script)):
            raise CaptureError(
                f"{script}: not a Python script. A launcher starts Python itself; let it start "
                "capture: torchrun … -m capture run -- script.py arguments..."
            )
        return cls(script, is_module, words)

    def run(self) -> None:
        """Runs the program as `__main__`. Its exceptions propagate, SystemExit included."""
        main = ModuleType("__main__")
        main.__dict__.update(__annotations__={}, __builtins__=__builtins__)
        sys.modules["__main__"] = main
        path = os.path.abspath(self.script)
        if self.is_module:
            sys.argv = ["-m", *self.arguments[1:]]
            sys.path[0] = os.getcwd()
            runpy._run_module_as_main(self.script)  # type: ignore[attr-defined]
            return
        sys.argv = list(self.arguments)
        if os.path.isdir(path) or zipfile.is_zipfile(path):
            del sys.path[0]  # run_path puts the program in its place
            runpy.run_path(path, run_name="__main__")
            return
        sys.path[0] = os.path.dirname(os.path.realpath(path))
        main.__dict__.update(
            __file__=path, __loader__=SourceFileLoader("__main__", path), __cached__=None
        )
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        exec(code, main.__dict__)


def exit_code(error: BaseException | None) -> int:
    """The exit code that a program ends with, after printing what Python prints of its error."""
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        if isinstance(error.code, int | None):
            return error.code or 0
        print(error.code, file=sys.stderr)
        return 1
    error = error.with_traceback(_of_program(error.__traceback__))
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except Exception:
        print("Error in sys.excepthook:", file=sys.stderr)
        traceback.print_exc()
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, error.__traceback__)
    return 1


def end_of_fork(code: int) -> NoReturn:
    """Ends a fork that came to the end of the program, after its exit handlers.

    The destructors of libraries do not run: Kineto's waits for a thread that only the parent has.
    """
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def end_of_interrupt(error: KeyboardInterrupt) -> NoReturn:
    """Ends as Python does after Ctrl-C: after the exit handlers, by SIGINT."""
    sys.excepthook = lambda *_: None  # it has been printed
    raise error


def _of_program(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of capture."""
    here = Path(__file__).parent.parent
    while trace and (
        here in Path(trace.tb_frame.f_code.co_filename).parents
        or (trace.tb_frame.f_code.co_filename == "<frozen runpy>")
    ):
        trace = trace.tb_next
    if trace:
        trace.tb_next = _of_program(trace.tb_next)
    return trace


def _has_module(name: str) -> bool:
    """Whether there is such a module or package; nothing of it is imported."""
    sys.path[0] = os.getcwd()
    return find_spec(name.partition(".")[0]) is not None


def _is_python(script: Path) -> bool:
    """Whether a file is Python's, by its name or first line."""
    if script.is_dir() or script.suffix in (".py", ".pyw", ".pyz"):
        return True
    with script.open("rb") as file:
        first = file.readline(200)
    return not first.startswith((b"#!", b"\x7fELF")) or b"python" in first
