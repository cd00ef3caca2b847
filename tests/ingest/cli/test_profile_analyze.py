"""`ingest profile-analyze`, compared with the output of MegEngine's profile_analyze."""

import json
from pathlib import Path

import pytest

from tests.helpers.command import Command
from tests.helpers.samples import MEGENGINE, Samples


@pytest.fixture(scope="module")
def default_store(sampled: Samples) -> Path:
    """The store that `command` uses."""
    return sampled.store(*MEGENGINE)


@pytest.fixture
def expected(samples: Path) -> Path:
    """The directory with the original's output."""
    return samples / "expected" / "megengine"


@pytest.mark.parametrize("run", MEGENGINE)
def test_it_prints_what_the_original_prints(run: str, command: Command, expected: Path) -> None:
    """Each file is printed with a third of the options, and thus each option for two files."""
    entries = json.loads((expected / "index.json").read_text())
    of_run = [entry for entry in entries if entry["file"] == f"{run}.json"]
    assert len(of_run) == 46
    for entry in of_run[MEGENGINE.index(run) % 3 :: 3]:
        text = (expected / entry["stdout"]).read_text()
        result = command("profile-analyze", run, *entry["argv"].split())
        assert (result.code, result.err) == (0, ""), entry["argv"]
        if entry["error"] is None:
            assert result.out == text, entry["argv"]
        else:
            assert result.out.startswith(text.rstrip()), entry["argv"]
            assert len(result.out.rstrip()) > len(text.rstrip()), entry["argv"]
