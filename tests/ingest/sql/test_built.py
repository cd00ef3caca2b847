"""Relations that tests build in memory have the rows of a run that was added to a store."""

import shutil
from pathlib import Path

import ingest
from ingest import sql
from tests.builders.relations import built
from tests.helpers.samples import COMPILED, Samples

RUNS = ("flux_eager_min", "train_ctx128", COMPILED)  # a trace, a snapshot, a trace with a log
VIEWS = ("advice_checks", "memory_by_owner", "op_ranking", "run_metrics_long", "stage_summary")
OWN = ("run_id", "ingested_at", "path")  # depend on when, from where and as what a run was added


def test_built_relations_have_the_rows_of_the_store(sampled: Samples, tmp_path: Path) -> None:
    for run in RUNS:
        tmp_path.joinpath(run).mkdir()
        for file in sampled.files(run):
            shutil.copy(file, tmp_path / run)
    relations = built({run: tmp_path / run for run in RUNS})
    names = (*(table.name for table in sql.tables()), *VIEWS)
    with ingest.connect(sampled.store(*RUNS)) as stored:
        for name in names:
            found, expected = (
                source.sql(
                    "SELECT count(*), sum(hash(content)::HUGEINT) FROM (SELECT "
                    f"COLUMNS(LAMBDA name: name NOT IN {OWN}) FROM {name}) AS content"
                ).fetchall()
                for source in (relations, stored)
            )
            assert (name, found) == (name, expected)
    assert relations.sql("SELECT count(*) FROM memory_events").fetchall() != [(0,)]
