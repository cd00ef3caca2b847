"""Pages that stay open while other processes change the store."""

import json
import subprocess
import sys

import pytest

from tests.builders.events import op
from tests.dashboard.elements import tables

# Adds, edits, damages and repairs, rebuilds and removes runs, again and again.
WRITER = """
import sys, ingest
store, kept, directory = ingest.Store(sys.argv[1]), sys.argv[2], sys.argv[3]
for number in range(int(sys.argv[4])):
    run_id = store.add(f"{directory}/{number}.json", threads=1).run_id
    store.edit(run_id, ingest.AddOptions(model=f"model {number}"))
    store.edit(kept, ingest.AddOptions(model=f"model {number}"))
    store.rebuild(kept, threads=1)
    store.check(repair=True)
    store.remove(run_id)
"""
ROUNDS = 2


@pytest.mark.slow  # starts a process
@pytest.mark.filterwarnings("error::ingest.StoreWarning")
def test_open_pages_show_the_runs_as_they_are_without_errors(app, tmp_path, store):
    for number in range(ROUNDS + 1):
        trace = {"traceEvents": [op("aten::mm", 1, 5), op("aten::add", 10, 5 + number)]}
        (tmp_path / f"{number}.json").write_text(json.dumps(trace))
    kept = store.add(tmp_path / f"{ROUNDS}.json").run_id
    overview = app(store.path, "overview", run=kept)
    operators = app(store.path, "operators", run=kept)
    runs = app(store.path, "runs")
    arguments = [str(store.path), kept, str(tmp_path), str(ROUNDS)]
    with subprocess.Popen([sys.executable, "-c", WRITER, *arguments]) as writer:
        while True:
            is_done = writer.poll() is not None
            for page in (overview, operators, runs):
                page.run()
                assert not page.exception
                assert not page.error
            assert list(tables(operators)[0]["name"]) == ["aten::add", "aten::mm"]
            if is_done:
                break
    assert writer.returncode == 0
    [row] = tables(runs)[0].to_dict("records")
    assert (row["run_id"], row["model"]) == (kept, f"model {ROUNDS - 1}")
