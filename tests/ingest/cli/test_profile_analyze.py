"""`ingest profile-analyze`, against the printouts of MegEngine's own profile_analyze."""

import json
from pathlib import Path

import pytest

from tests.command import Command
from tests.samples import MEGENGINE, Samples


@pytest.fixture(scope="module")
def default_store(sampled: Samples) -> Path:
    """The store that `command` works on."""
    return sampled.store(*MEGENGINE)


@pytest.fixture
def expected(samples: Path) -> Path:
    """What the original says."""
    return samples / "expected" / "megengine"


@pytest.mark.parametrize("run", MEGENGINE)
def test_it_prints_what_the_original_prints(run: str, command: Command, expected: Path) -> None:
    entries = json.loads((expected / "index.json").read_text())
    asked = [entry for entry in entries if entry["file"] == f"{run}.json"]
    assert len(asked) == 46
    for entry in asked:
        text = (expected / entry["stdout"]).read_text()
        said = command("profile-analyze", run, *entry["argv"].split())
        assert (said.code, said.err) == (0, ""), entry["argv"]
        if entry["error"] is None:
            assert said.out == text, entry["argv"]
        else:
            assert said.out.startswith(text.rstrip()), entry["argv"]
            assert len(said.out.rstrip()) > len(text.rstrip()), entry["argv"]
