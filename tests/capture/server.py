"""Runs Python programs, each in a fork of a process that has imported modules.

The arguments name the modules, or classes in them: `diffusers:FluxPipeline`. Each line of stdin is
a JSON list: the files for stdout and stderr, the working directory, changes of the environment, and
the arguments of `python`, which begin with `-m` or with a script. The reply is a line with the exit
code.
"""

import gc
import importlib
import json
import multiprocessing.process
import os
import runpy
import signal
import sys
from typing import Any


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
gc.freeze()  # so that forks end quickly: they need not free what this process has imported
out, err, directory, environment, *sys.argv = forks()
for number, file in enumerate((os.devnull, out, err)):
    os.dup2(os.open(file, os.O_RDWR | os.O_CREAT), number)
os.chdir(directory)
multiprocessing.process.ORIGINAL_DIR = directory  # where it starts processes
os.environ.update(environment)
sys.path[0] = directory
signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal
if sys.argv[0] == "-m":
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
else:
    runpy.run_path(os.path.abspath(sys.argv[0]), run_name="__main__")
