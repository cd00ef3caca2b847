"""`ingest diff` on runs of several ranks."""

import json
from pathlib import Path

import pytest

import ingest
from ingest.units import before_and_after
from tests.builders.rank_runs import late, stepping, without_collectives
from tests.helpers.command import Command, Result


@pytest.fixture(scope="module")
def rank_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of runs of ranks whose straggler is known, and of one rank."""
    directory = tmp_path_factory.mktemp("ranks")
    store = ingest.Store(directory / "store")
    runs = {
        "before": stepping(range(4), late(1, 400)),
        "after": stepping(range(6), late(2)),
        "apart": stepping([4, 5], late(5)),
        "silent": without_collectives(stepping(range(4), late(1))),
        "alone": stepping([0], late(0)),
    }
    for name, run in runs.items():
        (directory / name).mkdir()
        for file, content in run.files.items():
            (directory / name / file).write_text(json.dumps(content))
        store.add(directory / name)
    return Path(store.path)


@pytest.fixture
def default_store(rank_runs: Path) -> Path:
    """The store that `command` uses."""
    return rank_runs


def rank_rows(result: Result) -> dict[str, list[str]]:
    """Return the rows of the table of ranks, by rank."""
    return {first: cells for first, cells in result.rows.items() if first.isdigit()}


def test_each_rank_and_the_worst_ranks_are_compared(command: Command) -> None:
    result = command("diff", "before", "after")
    rows = rank_rows(result)
    wall = ["5.30 ms", "5.70 ms", "+400 µs", "+7.5"]
    waits = ["4.80 ms", "400 → 800 µs", "100 µs", "500 → 900 µs", "0"]
    assert [*rows.items()] == [
        ("2", [*wall, "4.80 → 5.60 ms", "400 µs → 0", "100 µs", "500 → 100 µs", "0 → 800 µs"]),
        ("1", [*wall, "5.20 → 4.80 ms", "0 → 800 µs", "100 µs", "100 → 900 µs", "400 µs → 0"]),
        ("0", [*wall, *waits]),
        ("3", [*wall, *waits]),
    ]
    [worst] = [line for line in result.out.splitlines() if line.startswith("Worst")]
    assert "rank 1, the straggler (5.30 ms in BASE)" in worst
    assert "rank 2, the straggler (5.70 ms in OTHER)" in worst
    assert "+400 µs (+7.5%), compute +400 µs, waiting 0" in worst
    assert "Only in OTHER: ranks 4 and 5." in result.out


def test_ranks_beyond_the_limit_are_counted(command: Command) -> None:
    result = command("diff", "before", "after", "--limit", 1)
    assert [*rank_rows(result)] == ["2"]
    assert "… 3 more" in result.rows
    ranks = json.loads(command("diff", "before", "after", "--limit", 1, "--json").out)["ranks"]
    assert [(row["pairing"], row["base_rank"], row["other_rank"]) for row in ranks] == [
        ("worst", 1, 2),
        *(("rank", rank, rank) for rank in (2, 1, 0, 3)),
        *(("rank", None, rank) for rank in (4, 5)),
    ]


@pytest.mark.parametrize("sides", [("before", "alone"), ("alone", "after")])
def test_a_run_of_one_rank_has_no_ranks_to_compare(
    sides: tuple[str, str], command: Command
) -> None:
    result = command("diff", *sides)
    assert result.code == 0
    assert not rank_rows(result)
    assert "Worst" not in result.out
    assert json.loads(command("diff", *sides, "--json").out)["ranks"] == []


def test_runs_without_common_ranks_have_no_table(command: Command) -> None:
    result = command("diff", "before", "apart")
    assert not rank_rows(result)
    assert "Worst against worst: rank 1, the straggler" in result.out
    assert "Only in BASE: ranks 0 to 3." in result.out
    assert "Only in OTHER: ranks 4 and 5." in result.out
    assert "Waits in OTHER are lower bounds" in result.out
    assert "Waits in BASE" not in result.out


def test_unknown_waiting_is_not_zero(command: Command) -> None:
    """Waiting, transfer and lateness of `silent` are unknown, and so are their changes."""
    result = command("diff", "before", "silent")
    compute, waiting, transfer, exposed, lateness = rank_rows(result)["0"][4:]
    assert (waiting, transfer, lateness) == ("400 µs → –", "100 µs → –", "0 → –")
    assert (compute, exposed) == ("4.80 ms", "500 µs → 0")
    [worst] = [line for line in result.out.splitlines() if line.startswith("Worst")]
    assert "compute" in worst
    assert "waiting" not in worst


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (4_800_000, 5_600_000, "4.80 → 5.60 ms"),
        (400_000, 5_600_000, "400 µs → 5.60 ms"),
        (0, 100, "0 → 100 ns"),
        (100, 0, "100 ns → 0"),
        (None, 100, "– → 100 ns"),
        (100, None, "100 ns → –"),
        (None, None, "–"),
        (100, 100, "100 ns"),
    ],
)
def test_two_values_share_a_unit(before: int | None, after: int | None, text: str) -> None:
    assert before_and_after(before, after, "ns") == text
