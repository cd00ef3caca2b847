"""Exported call stacks, as speedscope shows them and as flamegraph.pl reads them."""

import base64
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest
from playwright.sync_api import Browser, Page

import ingest
from tests.conftest import REPOSITORY
from tests.helpers.command import Result
from tests.helpers.samples import Samples

GPU, FRAMES = "v100_resnet50_workers0", "flux_eager_full"
COLUMNS = {
    "host": "self_ns",
    "device": "self_device_ns",
    "idle": "self_idle_ns",
    "cpu-memory": "self_cpu_bytes",
    "device-memory": "self_device_bytes",
}
EXPORTED = [*((GPU, metric) for metric in COLUMNS), (FRAMES, "host")]
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9} | {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}
SHOWN = re.compile(r"([\d,.]+) ?(\w*) \(.*%\)")
# Total and self weight of each name, by thread or over all threads. A recursive call counts once.
TOTALS = """
WITH RECURSIVE
calls AS (
    SELECT
        {thread} AS thread, rank, pid, tid, id,
        any_value(caller_id) AS caller_id, any_value({name}) AS name, sum({column}) AS own
    FROM call_stacks($1)
    GROUP BY ALL
),

names AS (
    SELECT thread, rank, pid, tid, id, own, name AS own_name, name, caller_id
    FROM calls
    WHERE own > 0
    UNION ALL
    SELECT
        names.thread, rank, pid, tid, names.id, names.own, names.own_name,
        around.name, around.caller_id
    FROM names
    INNER JOIN calls AS around USING (rank, pid, tid)
    WHERE around.id = names.caller_id
),

counted AS (SELECT DISTINCT * EXCLUDE caller_id FROM names)

SELECT
    thread, name, sum(own)::BIGINT AS total,
    coalesce(sum(own) FILTER (WHERE name = own_name), 0)::BIGINT AS self
FROM counted
GROUP BY ALL
"""
THREAD = "format('rank {}, process {}, thread {}', rank, pid, tid)"


class Weight(NamedTuple):
    """Total and self weight of a frame, in speedscope's terms."""

    total: int
    self: int


Weights = dict[str, Weight]


@pytest.fixture(scope="session")
def package() -> Path:
    """The directory of the package speedscope, which `make test` installs and passes on."""
    if named := os.environ.get("SPEEDSCOPE"):
        return Path(named)
    installed = REPOSITORY / ".venv" / "speedscope" / "node_modules" / "speedscope"
    if not installed.is_dir():
        pytest.skip("speedscope is not installed: `make .venv/.speedscope` does so")
    return installed


@pytest.fixture(scope="module")
def sample_runs(sampled: Samples) -> Path:
    """A store of two runs: one with a GPU, and one with Python frames."""
    return sampled.store(GPU, FRAMES)


@pytest.fixture
def exported(
    command: Callable[..., Result], sample_runs: Path, tmp_path: Path
) -> Callable[[str, str, str], Path]:
    """A function that exports a run, and returns the file."""

    def write(run: str, option: str, metric: str) -> Path:
        file = tmp_path / f"exported{'.json' if option == '--speedscope' else '.txt'}"
        result = command("export", run, option, file, "--metric", metric, store=sample_runs)
        assert result.code == 0, result.err
        return file

    return write


@pytest.fixture
def opened(
    chromium: Browser, package: Path, tmp_path: Path
) -> Iterator[Callable[[Path], tuple[Page, dict[str, Any]]]]:
    """A function that opens a file in speedscope, and returns the page and the profiles."""
    app = package / "dist" / "release" / "index.html"
    page = chromium.new_page()
    page.set_default_timeout(120_000)

    def open_file(file: Path) -> tuple[Page, dict[str, Any]]:
        script, profiles = tmp_path / "load.js", tmp_path / "profiles.json"
        encoded = base64.b64encode(file.read_bytes()).decode()
        script.write_text(f"speedscope.loadFileFromBase64({file.name!r}, {encoded!r})")
        page.goto(f"{app.as_uri()}#localProfilePath={script}")
        with page.expect_download() as download:
            page.get_by_text("Export").click()
        download.value.save_as(profiles)
        return page, json.loads(profiles.read_text())

    yield open_file
    page.close()


def expected(store: Path, run: str, column: str, thread: str, name: str) -> dict[str, Weights]:
    """Return the weights of the names in each thread, from the view."""
    with ingest.connect(store) as connection:
        rows = connection.execute(
            TOTALS.format(column=column, thread=thread, name=name), [ingest.Store(store).find(run)]
        ).fetchall()
    weights: dict[str, Weights] = {}
    for key, frame, *weight in rows:
        weights.setdefault(key, {})[frame] = Weight(*weight)
    return weights


def imported(file: dict[str, Any]) -> dict[str, Weights]:
    """Return the weights of the frames in each profile."""
    labels = [
        f"{each['file']}({each['line']}): {each['name']}" if "file" in each else each["name"]
        for each in file["shared"]["frames"]
    ]
    return {profile["name"]: weights(profile, labels) for profile in file["profiles"]}


def weights(profile: dict[str, Any], labels: list[str]) -> Weights:
    """Return the weights of the frames in a profile of events."""
    total, own = Counter[str](), Counter[str]()
    around: list[tuple[str, int]] = []
    before = profile["startValue"]
    for event in profile["events"]:
        label, at = labels[event["frame"]], event["at"]
        if around:
            own[around[-1][0]] += at - before
        before = at
        if event["type"] == "O":
            around.append((label, at))
        else:
            opened, since = around.pop()
            assert opened == label
            total[label] += 0 if any(label == other for other, _ in around) else at - since
    assert not around
    assert profile["endValue"] == sum(own.values())
    return {label: Weight(total[label], own[label]) for label in total}


def largest_shown(page: Page) -> tuple[float, float]:
    """Return the self weight in the first row of the table Sandwich, and its precision."""
    page.get_by_text("Sandwich").click()
    page.locator("td", has_text=SHOWN).first.wait_for()
    _total, own = page.locator("td", has_text=SHOWN).all_inner_texts()[:2]
    number, unit = SHOWN.fullmatch(own.strip()).groups()
    scale = UNITS[unit] if unit else 1
    return float(number.replace(",", "")) * scale, scale * 10 ** -len(number.partition(".")[2])


@pytest.mark.parametrize(("run", "metric"), EXPORTED)
def test_speedscope_shows_all_threads_of_a_speedscope_file(
    exported: Callable[..., Path],
    opened: Callable[..., tuple[Page, dict[str, Any]]],
    package: Path,
    sample_runs: Path,
    run: str,
    metric: str,
) -> None:
    """The file conforms to the schema of speedscope."""
    written = exported(run, "--speedscope", metric)
    schema = json.loads((package / "dist" / "release" / "file-format-schema.json").read_text())
    jsonschema.validate(json.loads(written.read_text()), schema)
    page, file = opened(written)
    found = imported(file)
    assert found == expected(sample_runs, run, COLUMNS[metric], THREAD, "name")
    unit = "bytes" if metric.endswith("memory") else "nanoseconds"
    assert {profile["unit"] for profile in file["profiles"]} == {unit}
    first = found[file["profiles"][0]["name"]]
    shown, digit = largest_shown(page)
    assert shown == pytest.approx(max(weight.self for weight in first.values()), abs=digit)


@pytest.mark.parametrize(
    ("run", "metric"), [(GPU, "device"), (GPU, "cpu-memory"), (FRAMES, "host")]
)
def test_speedscope_shows_all_threads_of_collapsed_stacks(
    exported: Callable[..., Path],
    opened: Callable[..., tuple[Page, dict[str, Any]]],
    sample_runs: Path,
    run: str,
    metric: str,
) -> None:
    page, file = opened(exported(run, "--stacks", metric))
    name = r"regexp_replace(name, '[ ;\t\n\r]', '_', 'g')"
    (found,) = imported(file).values()
    assert {"all": found} == expected(sample_runs, run, COLUMNS[metric], "'all'", name)
    shown, digit = largest_shown(page)
    assert shown == pytest.approx(max(weight.self for weight in found.values()), abs=digit)


@pytest.mark.parametrize(("run", "metric"), EXPORTED)
def test_flamegraph_pl_reads_a_stack_and_one_count_from_each_line(
    exported: Callable[..., Path], sample_runs: Path, run: str, metric: str
) -> None:
    """flamegraph.pl reads a second number in a line as another count, and splits names at `;`."""
    total = 0
    for line in exported(run, "--stacks", metric).read_text().splitlines():
        stack, samples = re.fullmatch(r"(.*)\s+?(\d+(?:\.\d*)?)", line).groups()
        assert not re.search(r"\s", stack)
        assert all(stack.split(";"))
        total += int(samples)
    found = expected(sample_runs, run, COLUMNS[metric], "'all'", "name")["all"]
    assert total == sum(weight.self for weight in found.values())
