"""Runs Python programs, each in a fork of a process that has imported modules.

The arguments name the modules, or classes in them: `diffusers:FluxPipeline`. Each line of stdin is
a JSON list: the files for stdout and stderr, the working directory, changes of the environment
(null removes a variable), and the arguments of `python`, which begin with `-m` or with a script.
The reply is a line with the exit code.
"""

import gc
import importlib
import json
import multiprocessing.process
import os
import signal
import sys
from typing import Any

from tests.capture.forked_python import fork_this_python, run, set_up_torch

FORK_PYTHON = "FORK_PYTHON"  # a change of the environment for `fork_this_python`


def load(name: str) -> None:
    """Import `module` or `module:member`. Some members are imported only at their first use."""
    module, _, member = name.partition(":")
    loaded = importlib.import_module(module)
    if member:
        getattr(loaded, member)


def forks() -> list[Any]:
    """Fork for each line of stdin. Return its items in the fork, and exit at the end of stdin."""
    for line in sys.stdin:
        if not (fork := os.fork()):
            return list(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]), flush=True)
    sys.exit()


for name in sys.argv[1:]:
    load(name)
gc.freeze()  # so that forks need not look at what this process has imported
out, err, directory, environment, *arguments = forks()
for number, file in enumerate((os.devnull, out, err)):
    os.dup2(os.open(file, os.O_RDWR | os.O_CREAT), number)
os.chdir(directory)
multiprocessing.process.ORIGINAL_DIR = directory  # where it starts processes
for name, value in environment.items():
    os.environ.pop(name, None) if value is None else os.environ.update({name: value})
# As in a terminal: the tests may run under nohup, or in the background of a shell.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
if word := os.environ.pop(FORK_PYTHON, None):
    fork_this_python(word)
set_up_torch(os.environ)
run(arguments)
