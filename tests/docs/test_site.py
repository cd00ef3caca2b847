"""The site of the docs, and the links of the pages that are not in it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.generate.pages import DOCS, REPOSITORY


def test_the_site_builds_and_its_links_lead_somewhere(tmp_path: Path) -> None:
    shutil.copy(REPOSITORY / "mkdocs.yml", tmp_path)
    shutil.copytree(DOCS, tmp_path / "docs")
    done = subprocess.run(
        [Path(sys.executable).parent / "zensical", "build", "--strict"],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "site" / "index.html").is_file()


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    config = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r": (\w+\.md)$", config, re.MULTILINE)
    assert sorted(named) == sorted(path.name for path in DOCS.glob("*.md"))


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md"]
)
def test_links_of_other_pages_lead_to_files_and_headings(page: str) -> None:
    path = REPOSITORY / page
    for target in re.findall(r"\]\(([^)#]*(?:#[^)]*)?)\)", path.read_text(encoding="utf-8")):
        file, _, heading = target.partition("#")
        if "://" not in target:
            linked = path.parent / file if file else path
            assert linked.is_file(), target
            assert not heading or heading in _anchors(linked), target


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
