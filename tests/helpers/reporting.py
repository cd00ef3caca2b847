"""What a run of the tests prints last: seconds by folder, what was skipped, what was repeated.

Tests of browsers and other processes are repeated once if they fail. Such a test depends on
something outside of it. If it passes only then, the report names it: it has a defect.
"""

from collections import Counter
from collections.abc import Generator, Iterator
from typing import Any

import pytest

# Fixtures of browsers and other processes.
PROCESSES = {"chromium", "serve", "run_python", "run_capture", "with_torch", "with_diffusers"}

SECONDS = "tests/seconds"  # in pytest's cache


class Report:
    """The plugin of pytest. With xdist, the reports of all processes reach the first one."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_itemcollected(self, item: pytest.Function) -> None:
        """Mark the tests that are repeated once if they fail."""
        if not PROCESSES.isdisjoint(item.fixturenames):
            item.add_marker(pytest.mark.flaky(reruns=1))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the seconds of a test."""
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Print the report after all else."""
        yield
        # The processes of xdist have no terminal.
        if terminal := session.config.pluginmanager.getplugin("terminalreporter"):
            _keep_seconds(session.config, self._seconds)
            for line in (*self._by_folder(), *_skipped(terminal), *_repeated(terminal)):
                terminal.write_line(line)

    def _by_folder(self) -> Iterator[str]:
        folders: Counter[str] = Counter()
        for file, seconds in self._seconds.items():
            folders[folder(file)] += seconds
        if len(folders) > 1:
            yield "seconds by folder:"
            for name, seconds in folders.most_common():
                yield f"{seconds:8.1f}  {name}"


def known_seconds(config: pytest.Config) -> dict[str, float]:
    """Return the seconds of each file in the last whole run, from pytest's cache."""
    return dict(config.cache.get(SECONDS, {})) if config.cache else {}


def _keep_seconds(config: pytest.Config, seconds: dict[str, float]) -> None:
    is_whole = not (
        config.option.keyword or config.option.markexpr or config.args_source.name == "ARGS"
    )
    if is_whole and config.getoption("numprocesses", None) and config.cache:
        config.cache.set(SECONDS, known_seconds(config) | seconds)


def folder(file: str) -> str:
    """Return the folder under which the report counts a file: `tests/docs`, `tests/ingest/sql`."""
    parts = file.split("/")[:-1]
    return "/".join(parts[: 3 if "ingest" in parts else 2])


def _skipped(terminal: Any) -> Iterator[str]:
    reasons = Counter(
        str(report.longrepr[2]).removeprefix("Skipped: ")
        for report in terminal.stats.get("skipped", [])
    )
    for reason, count in reasons.most_common():
        yield f"skipped {count} {'test' if count == 1 else 'tests'}: {reason}"


def _repeated(terminal: Any) -> Iterator[str]:
    failed = {
        report.nodeid
        for outcome in ("failed", "error")
        for report in terminal.stats.get(outcome, [])
    }
    passed = [each for each in terminal.stats.get("rerun", []) if each.nodeid not in failed]
    for report in passed:
        yield f"failed before it was repeated: {report.nodeid}"
        yield report.longreprtext
    for report in passed:
        yield f"passed only when repeated: {report.nodeid}"
