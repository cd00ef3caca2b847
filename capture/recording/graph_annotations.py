"""The annotations that torch keeps of the nodes of CUDA graphs, as a file beside the trace."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path
from typing import Any

from capture.output.run_directory import atomic_write

# `torch.cuda.graph_annotations` came with torch 2.15 and uses the same registry.
MODULE = "torch.cuda._graph_annotations"


def recorded() -> dict[int, list[Any]]:
    """Return the annotations by graph node id. They come from `mark_kernels`, or from torch."""
    module = sys.modules.get(MODULE)
    return dict(module.get_kernel_annotations()) if module else {}


def write(path: Path) -> None:
    """Write the annotations to `path`, if there are any."""
    if annotations := recorded():
        document = {
            "graph_node_annotations": {str(node): each for node, each in annotations.items()},
            "pid": os.getpid(),
        }
        with atomic_write(path) as temporary, gzip.open(temporary, "wt") as file:
            json.dump(document, file, default=str)
