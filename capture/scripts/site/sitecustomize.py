"""Records a Python process that a program under `capture run` starts.

The directory of this file is on PYTHONPATH, so each Python process imports it at its start. Nothing
else is imported until the process imports torch. The syntax must be valid in Python 2, too.
"""

# mypy: ignore-errors

import importlib
import os
import sys

REQUEST = os.environ.get("TRACEHOUSE_CAPTURE")
HELPERS = ("multiprocessing.resource_tracker", "compile_worker")  # the second belongs to Inductor


def wait_for_torch():
    scripts = os.path.dirname(HERE)
    imports = {"__name__": "imports"}  # load the file alone, without its package
    with open(os.path.join(scripts, "imports.py"), encoding="utf-8") as file:
        exec(compile(file.read(), file.name, "exec"), imports)

    def record():
        if os.environ.get("TRACEHOUSE_CAPTURE") != REQUEST:  # this process is `capture` itself
            return
        if not os.path.exists(REQUEST):
            complain("the program that started it has ended")
            return
        try:
            sys.path.append(os.path.dirname(os.path.dirname(scripts)))
            try:
                from capture.scripts.child import record_child
            finally:
                sys.path.pop()
            record_child(REQUEST)
        except Exception as error:
            complain(repr(error))

    imports["after_imports"]({"torch": record})


def complain(why):
    sys.stderr.write("capture: a process is not recorded: " + why + "\n")


HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != HERE]
if sys.version_info >= (3, 11) and REQUEST and os.path.exists(REQUEST):
    if not any(name in word for word in sys.orig_argv for name in HELPERS):
        try:
            wait_for_torch()
        except Exception as error:
            complain(repr(error))

# Imports the program's own sitecustomize, which this file hides.
hidden = sys.modules.pop("sitecustomize")
try:
    importlib.import_module("sitecustomize")
except ImportError as error:
    if getattr(error, "name", "sitecustomize") != "sitecustomize":
        raise
    sys.modules["sitecustomize"] = hidden
