"""Runs Python programs in forks of a process, which has imported what they need."""

import atexit
import ctypes
import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, NoReturn


def run(arguments: list[str]) -> None:
    """Run `python` with these arguments, which begin with `-m` or a script, and exit.

    The process ends after its exit handlers, as Python does, but without destroying all modules,
    which takes longer than most programs. Forks of the program, and programs that raise an error,
    end as usual.
    """
    process, leave = os.getpid(), os._exit
    sys.argv = list(arguments)
    sys.path[0] = os.getcwd()
    code: object = None
    try:
        if sys.argv[0] == "-m":
            del sys.argv[0]
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(os.path.abspath(sys.argv[0]), run_name="__main__")
    except SystemExit as end:
        code = end.code
    if os.getpid() != process:
        sys.exit(code)
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    _leave(int(code or 0), leave)


def _leave(code: int, leave: Callable[[int], NoReturn]) -> NoReturn:
    threading._shutdown()  # waits for threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream and not stream.closed:
            stream.flush()
    ctypes.CDLL(None).fflush(None)  # the output of C code
    leave(code & 0xFF)


def set_up_torch(environment: Mapping[str, str]) -> None:
    """Apply variables of the environment that torch has read at its import."""
    if "TORCH_TRACE" in environment:
        from torch._logging import _internal as logging

        logging.LOG_TRACE_HANDLER.root_dir = environment["TORCH_TRACE"]
        logging.trace_log.addHandler(logging.LOG_TRACE_HANDLER)
    if dynamo := sys.modules.get("torch._dynamo.config"):
        dynamo.debug_backend_override = environment.get("TORCH_COMPILE_OVERRIDE_BACKENDS", "")


def fork_this_python(word: str) -> None:
    """Fork this process, instead of a new interpreter, for this Python with `word` as an argument.

    The subprocess has its own session, directory, environment, files and signal handlers, as if it
    had been started. Its parent must have only one thread.
    """
    start = subprocess._fork_exec

    def fork(words: list[Any], *options: Any) -> int:
        python, *arguments = map(os.fsdecode, words)
        if python != sys.executable or word not in arguments:
            return int(start(words, *options))
        if not (process := os.fork()):
            _become(arguments, *options)
        return process

    subprocess._fork_exec = fork


def _become(
    arguments: list[str],
    executables: object,
    close_fds: bool,
    kept_files: tuple[int, ...],
    directory: str | None,
    environment: list[bytes] | None,
    *options: Any,
) -> NoReturn:
    """Make this fork the subprocess. The parameters are those of `_posixsubprocess.fork_exec`."""
    files, failure = (options[0], options[3], options[5]), options[7]
    is_new_session = options[9]
    try:
        for number, file in enumerate(files):
            if file != -1:
                os.dup2(file, number)
        kept = sorted({2, *kept_files} - {failure})
        for first, last in zip(kept, [*kept[1:], os.sysconf("SC_OPEN_MAX")], strict=True):
            os.closerange(first + 1, last)
        if is_new_session:
            os.setsid()
        if directory is not None:
            os.chdir(directory)
        if environment is not None:
            os.environb.clear()
            os.environb.update(entry.partition(b"=")[::2] for entry in environment)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        atexit._clear()
        run(arguments)
        sys.exit()
    except BaseException as error:  # the frames above belong to the parent
        sys.excepthook(type(error), error, error.__traceback__)
        os._exit(1)
