"""Temporary files of killed processes: the next one removes them, and none of living processes."""

import gzip
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ingest.export.files import write_atomically
from ingest.temporary import temporary_directory

# Both wait for a line, with their temporary file or directory in use.
WRITE = """
import sys
from pathlib import Path
from ingest.export.files import write_atomically

def parts():
    yield b"begun "
    print("begun", flush=True)
    yield sys.stdin.readline().encode()

write_atomically(Path(sys.argv[1], "theirs.json"), parts())
"""
USE = """
import sys
from ingest.temporary import temporary_directory

with temporary_directory() as directory:
    (directory / "file").write_text("theirs")
    print("begun", flush=True)
    sys.stdin.readline()
    (directory / "file").read_text()
"""


@contextmanager
def waiting(program: str, directory: Path) -> Iterator["subprocess.Popen[str]"]:
    """Run a program until it waits in `directory`."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, directory],
        env={"TMPDIR": str(directory), "PYTHONPATH": ":".join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "begun\n"
            yield process
        finally:
            process.kill()


def write(directory: Path) -> None:
    write_atomically(directory / "ours.json", [b"ours"])


def use(directory: Path) -> None:
    with temporary_directory():
        pass


KINDS = pytest.mark.parametrize(("program", "do"), [(WRITE, write), (USE, use)])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for outputs and for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@KINDS
def test_leftovers_of_a_killed_process_go(
    program: str, do: Callable[[Path], None], place: Path
) -> None:
    with waiting(program, place) as process:
        process.kill()
        process.wait()
        assert len(list(place.iterdir())) == 1
        do(place)
    assert {file.name for file in place.iterdir()} <= {"ours.json"}


@KINDS
def test_files_of_a_living_process_stay(
    program: str, do: Callable[[Path], None], place: Path
) -> None:
    with waiting(program, place) as process:
        do(place)
        process.communicate("and ended\n")
        assert process.returncode == 0
    assert {file.name for file in place.iterdir()} <= {"ours.json", "theirs.json"}
    if program == WRITE:
        assert (place / "theirs.json").read_text() == "begun and ended\n"


def test_a_compressed_file_does_not_name_its_temporary_file(place: Path) -> None:
    write_atomically(place / "ours.json.gz", [b"ours"])
    content = (place / "ours.json.gz").read_bytes()
    assert gzip.decompress(content) == b"ours"
    assert b"tracehouse" not in content
