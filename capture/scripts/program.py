"""Finds the user's program from a command line, and runs it as `python` would."""

from __future__ import annotations

import builtins
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

from capture.errors import UsageError
from capture.recording.code import is_disguised

PYTHON = re.compile(r"python[\d.]*(\.exe)?")
LAUNCHERS = {
    *("torchrun", "torch.distributed.run", "torch.distributed.launch"),
    *("accelerate", "accelerate.commands.launch"),
}
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
USAGE = "capture run [options] -- script.py arguments..."


class Program(NamedTuple):
    """The program of a command line: a Python script, a module with `-m`, or another command.

    `arguments` begins with the script, as `sys.argv` does.
    """

    script: str
    kind: Literal["script", "module", "command"]
    arguments: list[str]

    @property
    def name(self) -> str:
        """The name of the script or module, even if a launcher starts it."""
        if self.kind == "module" and not self.is_launcher:
            return self.script
        scripts = (word for word in self.arguments if word.endswith((".py", ".sh")))
        return Path(next(scripts, self.script)).stem

    @property
    def is_launcher(self) -> bool:
        """Whether the program only starts the ranks of a job."""
        name = self.script if self.kind == "module" else Path(self.script).name
        return name in LAUNCHERS

    @classmethod
    def of(cls, command: Sequence[str]) -> Program:
        """Return the program of a command line.

        The forms are `script.py …`, `-m module …`, `python` with either, and any other command.
        Raises UsageError if there is no such program.
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
            raise UsageError(f"name a script or a command. Usage: {USAGE}")
        script = words[0]
        if is_module and not _has_module(script):
            raise UsageError(f"{script}: no such module")
        if is_module:
            return cls(script, "module", words)
        if not _is_program(Path(script)):
            found = shutil.which(script)
            if not found:
                raise UsageError(f"{script}: no such file or command. Usage: {USAGE}")
            script = found
        if _is_python(Path(script)):
            return cls(script, "script", [script, *words[1:]])
        if not os.access(script, os.X_OK):
            raise UsageError(f"{script}: is neither a Python script nor executable. Usage: {USAGE}")
        return cls(script, "command", words)

    def run(self) -> None:
        """Run the program as `__main__`. Its exceptions propagate, including SystemExit."""
        if self.kind == "command":
            _run_command(self.arguments)
        main = ModuleType("__main__")
        main.__dict__.update(__annotations__={}, __builtins__=builtins)
        sys.modules["__main__"] = main
        path = os.path.abspath(self.script)
        if self.kind == "module":
            sys.argv = ["-m", *self.arguments[1:]]
            sys.path[0] = os.getcwd()
            runpy._run_module_as_main(self.script)  # type: ignore[attr-defined]
            return
        sys.argv = list(self.arguments)
        if os.path.isdir(path) or zipfile.is_zipfile(path):
            del sys.path[0]  # run_path inserts the path of the program
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
        """Return the exit code of the program, after printing its error as Python does."""
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
    """Run a command in a child process. Raise SystemExit with its exit code, as a shell reports it.

    Signals to this process are passed on to the child. Ctrl-C in a terminal reaches both anyway.
    """
    with subprocess.Popen(words) as process:
        for number in PASSED_ON:
            signal.signal(number, lambda number, _: process.send_signal(number))
        if sys.stdin and sys.stdin.isatty():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        while (code := process.poll()) is None:
            with suppress(subprocess.TimeoutExpired):  # a signal may not interrupt a wait
                process.wait(0.5)
    raise SystemExit(code if code >= 0 else 128 - code)


def end_of_interrupt(error: KeyboardInterrupt) -> NoReturn:
    """End as Python does after Ctrl-C: run the exit handlers, then die by SIGINT."""
    sys.excepthook = lambda *_: None  # the traceback has been printed
    raise error


def remember_interrupt() -> None:
    """Make Python end by SIGINT. The last exit handler calls this.

    Python forgets that the program ended by KeyboardInterrupt if an exit handler executes source
    code. One of torch's does, because it creates named tuples (cpython/Python/pythonrun.c,
    run_eval_code_obj).
    """
    with suppress(KeyboardInterrupt):
        exec("raise KeyboardInterrupt")


def _of_program(trace: TracebackType | None, with_runpy: bool) -> TracebackType | None:
    """Return the traceback without the frames of capture.

    Keep the frames of `runpy` for a module, because `python -m` shows them, too.
    """
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
    """Return whether the top-level module or package exists, without importing it."""
    sys.path[0] = os.getcwd()
    return find_spec(name.partition(".")[0]) is not None


def _is_another_python(word: str) -> bool:
    """Return whether a path names another Python than the running one. `python` alone does not."""
    own = Path(sys.executable)
    return "/" in word and Path(word).absolute().parent != own.parent


def _is_program(path: Path) -> bool:
    """Return whether the path is a file, or a directory with a `__main__.py`."""
    return path.exists() and (not path.is_dir() or (path / "__main__.py").exists())


def _is_python(script: Path) -> bool:
    """Return whether a file is Python code, by its name or first line."""
    if script.is_dir() or script.suffix in (".py", ".pyw", ".pyz"):
        return True
    with script.open("rb") as file:
        first = file.readline(200)
    return not first.startswith((b"#!", b"\x7fELF")) or b"python" in first
