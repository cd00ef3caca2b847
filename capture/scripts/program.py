"""The user's program: what a command line names, and running it as `python` would."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import traceback
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Literal, NamedTuple, NoReturn

from capture.errors import CaptureError
from capture.recording.code import is_disguised

PYTHON = re.compile(r"python[\d.]*(\.exe)?")
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
USAGE = "capture run [options] -- script.py arguments..."


class Program(NamedTuple):
    """What a command line names: a Python script, a module with `-m`, or another command.

    `arguments` begin with the script, as `sys.argv` does.
    """

    script: str
    kind: Literal["script", "module", "command"]
    arguments: list[str]

    @property
    def name(self) -> str:
        """The name of the script or module, also of one that a launcher starts."""
        if self.kind == "module":
            return self.script
        scripts = (word for word in self.arguments if word.endswith((".py", ".sh")))
        return Path(next(scripts, self.script)).stem

    @classmethod
    def of(cls, command: Sequence[str]) -> Program:
        """The program that `script.py …`, `-m module …`, `python` with either, or a command names.

        Raises CaptureError if there is none; the message says what to type.
        """
        words = list(command)
        if words and PYTHON.fullmatch(Path(words[0]).name):
            has_options = words[1:] and words[1].startswith("-") and words[1] != "-m"
            if has_options or _is_another_python(words[0]):
                return cls(words[0], "command", words)
            words = words[1:]
        is_module = words[:1] == ["-m"]
        words = words[1:] if is_module else words
        if not words:
            raise CaptureError(f"no script. Usage: {USAGE}")
        script = words[0]
        if is_module and not _has_module(script):
            raise CaptureError(f"{script}: no such module")
        if is_module:
            return cls(script, "module", words)
        if not _is_program(Path(script)):
            found = shutil.which(script)
            if not found:
                raise CaptureError(f"{script}: no such file or command. Usage: {USAGE}")
            script = found
        if _is_python(Path(script)):
            return cls(script, "script", [script, *words[1:]])
        if not os.access(script, os.X_OK):
            raise CaptureError(f"{script}: neither a Python script nor executable. Usage: {USAGE}")
        return cls(script, "command", words)

    def run(self) -> None:
        """Runs Python as `__main__`. Its exceptions propagate, SystemExit included."""
        if self.kind == "command":
            _run_command(self.arguments)
        main = ModuleType("__main__")
        main.__dict__.update(__annotations__={}, __builtins__=__builtins__)
        sys.modules["__main__"] = main
        path = os.path.abspath(self.script)
        if self.kind == "module":
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

    def exit_code(self, error: BaseException | None) -> int:
        """The code that the program ends with, after printing what Python prints of its error."""
        if error is None:
            return 0
        if isinstance(error, SystemExit):
            if isinstance(error.code, int | None):
                return error.code or 0
            print(error.code, file=sys.stderr)
            return 1
        error = error.with_traceback(_of_program(error.__traceback__, self.kind == "module"))
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
        try:
            sys.excepthook(type(error), error, error.__traceback__)
        except Exception:
            print("Error in sys.excepthook:", file=sys.stderr)
            traceback.print_exc()
            print("\nOriginal exception was:", file=sys.stderr)
            sys.__excepthook__(type(error), error, error.__traceback__)
        return 1


def _run_command(words: list[str]) -> NoReturn:
    """Runs a command in a process of its own. Raises SystemExit with its code, as a shell has it.

    Signals that are sent to this process are passed on. Ctrl-C in a terminal goes to both anyway.
    """
    with subprocess.Popen(words) as process:
        for number in PASSED_ON:
            signal.signal(number, lambda number, _: process.send_signal(number))
        if sys.stdin and sys.stdin.isatty():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = process.wait()
    raise SystemExit(code if code >= 0 else 128 - code)


def end_of_interrupt(error: KeyboardInterrupt) -> NoReturn:
    """Ends as Python does after Ctrl-C: after the exit handlers, by SIGINT."""
    sys.excepthook = lambda *_: None  # it has been printed
    raise error


def remember_interrupt() -> None:
    """Has Python end by SIGINT, for the last exit handler to call.

    Python forgets that the program ended by KeyboardInterrupt where an exit handler executes text,
    as one of torch does by making named tuples (cpython/Python/pythonrun.c, run_eval_code_obj).
    """
    with suppress(KeyboardInterrupt):
        exec("raise KeyboardInterrupt")


def _of_program(trace: TracebackType | None, with_runpy: bool) -> TracebackType | None:
    """The traceback without the frames of capture; `runpy` runs modules plainly, too."""
    here = Path(__file__).parent.parent
    while trace and (
        here in Path(trace.tb_frame.f_code.co_filename).parents
        or is_disguised(trace.tb_frame.f_code)
        or (not with_runpy and trace.tb_frame.f_code.co_filename == "<frozen runpy>")
    ):
        trace = trace.tb_next
    if trace:
        trace.tb_next = _of_program(trace.tb_next, with_runpy)
    return trace


def _has_module(name: str) -> bool:
    """Whether there is such a module or package; nothing of it is imported."""
    sys.path[0] = os.getcwd()
    return find_spec(name.partition(".")[0]) is not None


def _is_another_python(word: str) -> bool:
    """Whether a path names a Python that is not the one that runs; `python` alone is that one."""
    own = Path(sys.executable)
    return "/" in word and Path(word).absolute().parent != own.parent


def _is_program(path: Path) -> bool:
    """Whether there is a file, or a directory that can be run."""
    return path.exists() and (not path.is_dir() or (path / "__main__.py").exists())


def _is_python(script: Path) -> bool:
    """Whether a file is Python's, by its name or first line."""
    if script.is_dir() or script.suffix in (".py", ".pyw", ".pyz"):
        return True
    with script.open("rb") as file:
        first = file.readline(200)
    return not first.startswith((b"#!", b"\x7fELF")) or b"python" in first
