"""The order in which the SQL runs: it follows from what each file reads, and never changes rows."""

import filecmp
import random
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import ingest
from ingest import sql
from ingest.conversion import AddOptions, build, write_run
from ingest.inputs import read_run_input
from ingest.sql import order, versions
from tests.helpers.samples import Samples, run_name

ORDERS = 1  # number of random orders per profile
OF_SAMPLES = (  # a device, compilations on a host, a snapshot, which other tests need as runs
    "traces/two_rank_rank0.json.gz",
    "traces/cpu/flux_compile_recompile.json.gz",
    "snapshots/full_history_annotations.pickle",
)
# More: a compile log, a malformed trace.
PROFILES = (*OF_SAMPLES, "compile", "malformed/misc_badmeta.json")


def test_the_committed_order_is_up_to_date() -> None:
    assert order.ORDER_FILE.read_text(encoding="utf-8") == versions.derive_file(), (
        "the order is out of date: run `make docs`"
    )


@pytest.mark.parametrize("database", ["scratch", "catalog"])
def test_every_object_follows_the_objects_that_it_reads(database: str) -> None:
    seen: set[str] = set()
    for node in sql.nodes(database):
        assert seen.issuperset(node.reads), node.name
        seen.add(node.name)


def test_a_cycle_is_an_error_that_names_its_members() -> None:
    with pytest.raises(sql.OrderError, match="bubbles reads gaps reads bubbles"):
        sql.in_order({"bubbles": ["gaps"], "gaps": ["bubbles"]})


def test_an_unknown_name_is_an_error_that_names_its_reader() -> None:
    with pytest.raises(sql.OrderError, match="bubbles reads gapps, but there is no such relation"):
        sql.in_order({"bubbles": ["gapps"], "gaps": []})


def test_no_file_fills_the_relation_of_another_file() -> None:
    for file in sql.of_kind("intermediate", "tables", "views"):
        assert "INSERT" not in file.body, file.name


def shuffled(seed: str) -> tuple[sql.Node, ...]:
    """Return the nodes of the scratch database in another valid order, without skipping any."""
    by_name = {node.name: replace(node, empty_if=False) for node in sql.nodes("scratch")}
    first = sorted(by_name)
    random.Random(seed).shuffle(first)
    return tuple(
        by_name[name] for name in sql.in_order({n: by_name[n].reads for n in by_name}, first)
    )


def different_rows(run: Path, other: Path) -> dict[str, int]:
    """Return table → number of rows in only one of two runs. `ingested_at` is ignored."""
    read = (
        "(SELECT columns(LAMBDA c: c <> 'ingested_at') "
        "FROM read_parquet('{}', hive_partitioning = false) {})"
    )
    with duckdb.connect() as connection:
        found = {}
        for name in {file.name for path in (run, other) for file in path.glob("*.parquet")}:
            file, opposite = run / name, other / name
            if file.exists() and opposite.exists() and filecmp.cmp(file, opposite, shallow=False):
                continue
            existing = file if file.exists() else opposite
            ours, theirs = (
                read.format(path, "") if path.exists() else read.format(existing, "LIMIT 0")
                for path in (file, opposite)
            )
            (count,) = connection.execute(
                f"SELECT count(*) FROM (({ours} EXCEPT ALL {theirs}) UNION ALL "
                f"({theirs} EXCEPT ALL {ours}))"
            ).fetchall()[0]
            if count:
                found[file.stem] = count
        return found


def types(run: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return table → names and types of its columns."""
    with duckdb.connect() as connection:
        return {
            file.stem: connection.execute(
                f"SELECT column_name, column_type FROM (DESCRIBE FROM read_parquet('{file}', "
                "hive_partitioning = false))"
            ).fetchall()
            for file in sorted(run.glob("*.parquet"))
        }


@pytest.mark.slow  # writes the tables of each profile again
@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: Path(path).name)
def test_no_row_depends_on_the_order(
    profile: str,
    samples: Path,
    sampled: Samples,
    store: ingest.Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    empty = types(store.path / "runs" / sql.schema_version() / "run_id=~empty")
    if profile in OF_SAMPLES:
        [run_id] = sampled.add(store, run_name(samples / profile))
        added = store.run_path(run_id)
    else:
        added = write_tables(tmp_path / "added", samples / profile)
    assert types(added) == {table: empty[table] for table in types(added)}
    orders = {tuple(node.name for node in sql.nodes("scratch"))}
    for number in range(ORDERS):
        nodes = shuffled(f"{profile} {number}")
        orders.add(tuple(node.name for node in nodes))
        tasks = build.tasks_of(nodes)
        monkeypatch.setattr(build, "tasks", lambda tasks=tasks: tasks)
        other = tmp_path / f"other {number}"
        run = write_tables(other, samples / profile)
        assert different_rows(added, run) == {}
        assert types(run) == {table: empty[table] for table in types(run)}
        monkeypatch.undo()
    assert len(orders) == ORDERS + 1


def write_tables(directory: Path, profile: Path) -> Path:
    """Write the tables of a profile without a store, and return their directory."""
    directory.mkdir()
    write_run(read_run_input(profile), AddOptions(), directory)
    return directory


def test_a_store_without_runs_has_every_table(tmp_path: Path) -> None:
    store = ingest.Store(tmp_path / "store")
    written = [file.stem for file in store.path.glob("runs/*/run_id=~empty/*.parquet")]
    assert sorted(written) == [table.name for table in sql.tables()]
