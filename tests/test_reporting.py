"""The report at the end of a run of the tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLUGINS = ("-p", "xdist", "-p", "pytest_rerunfailures")
OPTIONS = (*PLUGINS, "-n", "1", "-q", "--import-mode=importlib", ".")
CONFTEST = """
import pytest
from tests.helpers.reporting import Report

def pytest_configure(config):
    config.pluginmanager.register(Report())

@pytest.fixture
def chromium():
    return "a browser"
"""
TESTS = """
import pathlib
import pytest

def once(name):
    file = pathlib.Path(__file__).with_name(name)
    is_first = not file.exists()
    file.touch()
    return is_first

def test_in_a_browser(chromium):
    assert not once("browser"), "the page was not ready"

def test_that_always_fails(chromium):
    raise ValueError("always")

def test_without_a_browser():
    assert not once("plain")

@pytest.mark.parametrize("number", [1, 2])
def test_with_samples(number):
    pytest.skip("no sample traces")
"""


def test_the_last_lines_say_what_was_skipped_and_what_passed_only_when_repeated(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for name in ("a/one/test_small.py", "ingest/b/two/test_small.py"):
        file = tmp_path / "tests" / name
        file.parent.mkdir(parents=True)
        file.write_text(TESTS if "one" in name else "def test_it(): pass")
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 1, finished.stdout + finished.stderr
    small = "tests/a/one/test_small.py"
    lines = finished.stdout.splitlines()
    assert f"FAILED {small}::test_that_always_fails - ValueError: always" in lines
    assert any(line.startswith(f"FAILED {small}::test_without_a_browser") for line in lines)
    begin = lines.index("seconds by folder:")
    assert "2 failed, 2 passed, 2 skipped, 2 rerun" in lines[begin - 1]
    folders = [re.fullmatch(r" +\d+\.\d  (.*)", line) for line in lines[begin + 1 : begin + 3]]
    assert sorted(found[1] for found in folders if found) == ["tests/a", "tests/ingest/b"]
    assert lines[begin + 3 : begin + 5] == [
        "skipped 2 tests: no sample traces",
        f"failed before it was repeated: {small}::test_in_a_browser",
    ]
    assert "the page was not ready" in "\n".join(lines[begin + 5 : -1])
    assert lines[-1] == f"passed only when repeated: {small}::test_in_a_browser"
