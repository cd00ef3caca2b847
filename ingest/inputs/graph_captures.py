"""Traces of captures of CUDA graphs, which vLLM and SGLang write beside the traces of a run.

A trace of captures explains the run's graph launches and is no profile of the run: its own events
are not stored.
"""

from pathlib import Path

KIND = "graph_capture"  # in column `kind` of table `sources`
# The directories of a run that hold such traces: of vLLM and older versions of SGLang; of SGLang.
DIRECTORIES = ("capture_traces", "graph_capture_profile")


def files_of_captures(path: Path) -> list[Path]:
    """Return the files in the directories of a run that hold traces of captures."""
    directories = [path / name for name in DIRECTORIES]
    return [
        file
        for directory in directories
        if directory.is_dir()
        for file in directory.iterdir()
        if not file.is_dir() and not file.name.startswith(".")
    ]
