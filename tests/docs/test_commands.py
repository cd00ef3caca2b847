"""The commands, queries and programs on the pages are valid. Those that can run in a test do.

Commands are the lines of ```sh blocks, and the lines after `$ ` in ```console blocks.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ingest
from capture.cli.options import parser
from docs.generate import examples
from docs.generate.command_line import ingest_commands
from docs.generate.pages import DOCS, REPOSITORY
from tests.helpers.command import Command
from tests.helpers.samples import Samples

BLOCK = re.compile(r"^```(sh|console|sql|python)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = {path.name: path for path in [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md"))]}
# The runs that the pages use: the sample file of each, by the name of the run.
NAMED = {
    "flux-tiny": "traces/cpu/flux_eager_min.json.gz",
    "memory-demo": "traces/cpu/flux_eager_full.json.gz",
    "my_script": "traces/cpu/flux_eager_min.json.gz",
    "slow_rank": "traces/cpu/flux_eager_min.json.gz",
    "commit": "traces/cpu/flux_eager_min.json.gz",
    "flux-tiny-eager": "compile/flux_eager_b2-rank0.trace.json.gz",
    "flux-tiny-compiled": "compile/flux_compiled_b2-rank0.trace.json.gz",
}
# The sample runs of the other pages' commands and queries; `examples.RUNS` has more.
SAMPLES = {
    "from_tensorboard.md": (
        "v100_resnet50_workers0",
        "v100_resnet50_workers4",
        "two_ranks",
        "flux_eager_full",
    ),
    "from_hta.md": ("nccl_training_control", "nccl_training_test", "mi300_resnet_ddp_rank0"),
    "from_tracelens.md": ("v100_resnet50_workers0", "v100_resnet50_workers4", "b200_gptoss"),
    "from_cache_dit.md": ("h100_owlv2",),
    "known_work.md": ("b200_gptoss",),
    "ranks.md": ("mi300_resnet_ddp_rank0",),
}
FEWEST_QUERIES = {"from_tensorboard.md": 15, "from_hta.md": 12, "from_tracelens.md": 12}
# Commands that no test can run, because they install, serve, or need another machine.
NOT_RUN = {"duckdb", "export", "load_and_run", "pip", "source", "ssh", "streamlit"}
# Names that the programs on pages use but do not define.
PROGRAM = "batches, train = range(4), print\n"


def blocks(page: str, *kinds: str) -> Iterator[str]:
    """Yield the blocks of these kinds on a page."""
    for kind, text in BLOCK.findall(PAGES[page].read_text(encoding="utf-8")):
        if kind in kinds:
            yield text


def commands(page: str) -> list[str]:
    """Return the commands on a page, in their order."""
    lines = [line for text in blocks(page, "sh") for line in text.splitlines()]
    lines += re.findall(r"^\$ (.*)$", "\n".join(blocks(page, "console")), re.MULTILINE)
    return [line for line in lines if shlex.split(line, comments=True)]


def sample_runs(page: str) -> tuple[str, ...]:
    """Return the sample runs that the commands and queries of a page use."""
    return SAMPLES.get(page, tuple(examples.RUNS.get(page, ())))


@pytest.fixture(scope="module")
def prepared(samples: Path, sampled: Samples, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the store and files that the commands on the pages use."""
    directory = tmp_path_factory.mktemp("prepared") / "workplace"
    store = ingest.Store(directory / "store")
    for path, name in {
        "both/eager": "flux-tiny-eager",
        "both/compiled": "flux-tiny-compiled",
        "profile": "commit",
        "profiles/my_script": "my_script",
        "profiles/slow_rank": "slow_rank",
        "memory-demo": "memory-demo",
        "demo/flux-tiny": "flux-tiny",
        "traces": "my_script",
        "logdir": "my_script",
    }.items():
        run = directory / path
        run.mkdir(parents=True)
        shutil.copy(samples / NAMED[name], run / f"{name}-rank0.trace.json.gz")
        (run / "run.json").write_text(f'{{"name": "{name}"}}')
        # The command on a page that adds this directory then finds the run, and adds no other one.
        if path != "profile":  # the page adds this one with other tags
            store.add(run, ingest.AddOptions(tags={"branch": "main"}))
    shutil.copy(samples / NAMED["my_script"], directory / "trace.json.gz")
    shutil.copy(samples / "traces/h100_owlv2.json.gz", directory)
    # The newline makes it another run than the sample of the page's queries.
    profile = (samples / "megengine/prof_net3.json").read_bytes() + b"\n"
    (directory / "out.json").write_bytes(profile)
    sampled.add(store, *{run for page in PAGES if with_ingest(page) for run in sample_runs(page)})
    store.catalog_file.write()
    shutil.copytree(directory, directory.with_name("kept"))
    return directory


@pytest.fixture
def workplace(prepared: Path) -> Path:
    """That directory without the changes of earlier tests.

    Its path stays the same. In a store with another path, the catalog would be written again.
    """
    shutil.rmtree(prepared)
    shutil.copytree(prepared.with_name("kept"), prepared)
    return prepared


def with_ingest(page: str) -> bool:
    return any(command.startswith("ingest ") for command in commands(page))


@pytest.mark.parametrize("page", [page for page in PAGES if with_ingest(page)])
def test_the_commands_of_ingest_on_a_page_run(
    page: str, workplace: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workplace)
    for name, value in {"HOME": str(workplace), "SHA": "1a2b"}.items():
        monkeypatch.setenv(name, value)
    for line in commands(page):
        program, *arguments = shlex.split(os.path.expandvars(line), comments=True)
        if program == "ingest" and arguments[0] != "open":
            if ">" in arguments:  # a file for the output, which the shell writes
                arguments = arguments[: arguments.index(">")]
            done = command(*arguments, store=workplace / "store")
            # The exit code is 3 if a condition of --fail-if holds.
            assert done.code in ((0, 3) if "--fail-if" in arguments else (0,)), (line, done.err)


@pytest.mark.parametrize("page", PAGES)
def test_the_other_commands_on_a_page_are_valid(page: str) -> None:
    targets = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    for command in commands(page):
        program, *arguments = shlex.split(command, comments=True)
        if program == "capture":
            assert_that_capture_takes(arguments)
        elif program == "make":
            assert re.search(rf"^{arguments[0]}:", targets, re.MULTILINE), command
        elif arguments[:1] == ["open"]:  # which serves until Ctrl-C; other commands run above
            ingest_commands()["open"].make_context("open", arguments[1:])
        else:
            assert program in {"ingest", *NOT_RUN}, command


def test_the_tables_in_the_readme_have_the_columns_that_the_commands_print(
    workplace: Path, command: Command
) -> None:
    shown = [text[len("$ ingest ") :].split("\n", 1) for text in blocks("README.md", "console")]
    assert shown
    for arguments, output in shown:
        printed = command(*shlex.split(arguments), store=workplace / "store").out
        (columns,) = re.findall(r"^(.*\S) *\n ─", output, re.MULTILINE)
        assert columns.split() in [line.split() for line in printed.splitlines()]


def assert_that_capture_takes(arguments: list[str]) -> None:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    try:
        _, others = parser().parse_known_args(arguments[:end])
    except SystemExit:
        pytest.fail(f"capture {shlex.join(arguments)}")
    if arguments[0] != "sweep":
        assert not others, arguments
    elif others:  # the pipeline of the sweep, with its options
        assert_that_capture_takes(others)


@pytest.mark.parametrize("page", [page for page in PAGES if list(blocks(page, "sql"))])
def test_the_queries_on_a_page_return_rows(page: str, sampled: Samples) -> None:
    queries = list(blocks(page, "sql"))
    assert len(queries) >= FEWEST_QUERIES.get(page, 1)
    with ingest.connect(sampled.store(*sample_runs(page))) as connection:
        for query in queries:
            rows = connection.execute(query).fetchall()
            assert rows or "[pl]" in query, query  # no sample was recorded with Lightning


@pytest.mark.parametrize("page", [page for page in PAGES if list(blocks(page, "python"))])
def test_the_programs_on_a_page_run(page: str, workplace: Path) -> None:
    for program in blocks(page, "python"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM + program],
            cwd=workplace,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
