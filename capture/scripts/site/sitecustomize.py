"""Has `capture run` record a Python process that the program starts.

The folder of this file is on PYTHONPATH, so Python imports it first of all. Nothing else is
imported until the process imports torch.
"""

import importlib
import os
import sys
from importlib.util import find_spec
from typing import Any

HELPERS = ("multiprocessing.resource_tracker", "compile_worker")  # Inductor's
NOT_RECORDED = "capture: a process is not recorded: {!r}"


def _wait_for_torch() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    said = os.environ.get("TRACEHOUSE_CAPTURE")
    if not said or any(name in word for word in sys.orig_argv for name in HELPERS):
        return
    scripts = os.path.dirname(here)
    imports: dict[str, Any] = {"__name__": "imports"}  # without importing the package around it
    with open(os.path.join(scripts, "imports.py"), encoding="utf-8") as file:
        exec(compile(file.read(), file.name, "exec"), imports)

    def record() -> None:
        if "TRACEHOUSE_CAPTURE" not in os.environ:  # it is `capture` itself
            return
        try:
            if not find_spec("capture"):  # it runs from a checkout
                sys.path.append(os.path.dirname(os.path.dirname(scripts)))
            from capture.scripts.child import record_child

            record_child(said)
        except Exception as error:
            print(NOT_RECORDED.format(error), file=sys.stderr)

    imports["after_imports"]({"torch": record})


try:
    _wait_for_torch()
except Exception as error:
    print(NOT_RECORDED.format(error), file=sys.stderr)

# Another one that this one hides.
_hides = sys.modules.pop("sitecustomize")
try:
    importlib.import_module("sitecustomize")
except ImportError as error:
    if error.name != "sitecustomize":
        raise
    sys.modules["sitecustomize"] = _hides
