"""A kind of advice is one file in `ingest/sql/advice/kinds/`: SQL and all pages show it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.builders.diff_traces import EAGER, trace
from tests.dashboard.conftest import ROOT

KIND = """\
-- Meaning: Time of the softmax.
-- Title: Ends with a softmax
-- Short title: softmax
-- Colour: compute
-- Applies to: device
-- Names: kernel
-- Finding: This sentence needs {late}.
-- Finding: {calls} softmax kernels took {work} of {steps}.
-- Also: Mostly {name}.
-- Also: It lacks {device}.
-- Remedy: Leave it out.
-- Remedy unless graphs: Record it.
-- Evidence: measured_kernels
-- Evidence of: name
-- Evidence sums: sum(inside_ns)::BIGINT AS inside_ns
-- Evidence order: name
SELECT *, 1 AS calls, inside_ns AS work_ns, inside_ns AS saved_ns, inside_ns AS named_ns
FROM measured_kernels
WHERE name = 'softmax_kernel';
"""
SCRIPT = """
import json, sys
import ingest
from streamlit.testing.v1 import AppTest

store, profile = sys.argv[1:]
run = ingest.Store(store).add(profile).run_id
sys.argv = ["streamlit"]


def page(name):
    app = AppTest.from_file("dashboard/main.py", default_timeout=600)
    app.query_params["run"] = run
    pages = app.run().session_state["pages"]
    app._page_hash = pages[name]._script_hash
    app.run()
    labels = [expander.label for expander in app.expander]
    return [*labels, *(each.value for each in (*app.markdown, *app.caption))]


with ingest.connect(store) as connection:
    asked = connection.execute(
        "SELECT bound_ns, is_reachable, finding, remedy, kernel FROM advice "
        "WHERE kind = 'last_softmax'"
    ).fetchall()
    of_steps = connection.execute(
        "SELECT bound_ns FROM advice_of_steps(?, 1, 3) WHERE kind = 'last_softmax'", [run]
    ).fetchall()
pages = {name: page(name) for name in ("advice", "overview")}
print(json.dumps({"advice": asked, "of_steps": of_steps, "pages": pages}))
"""


def test_one_file_adds_a_kind_of_advice(tmp_path: Path) -> None:
    for package in ("ingest", "dashboard"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    (tmp_path / "ingest/sql/advice/kinds/last_softmax.sql").write_text(KIND)
    profile = tmp_path / "profile.json"
    profile.write_text(json.dumps({"traceEvents": trace(EAGER, 600, steps=3)}))
    store = str(tmp_path / "store")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "TRACEHOUSE_STORE": store}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("-m", "ingest.sql")
    found = json.loads(run("-c", SCRIPT, store, str(profile)))
    finding = "1 softmax kernels took 50.0 µs of the median step. Mostly softmax_kernel."
    remedy = "Leave it out. Record it."
    assert found["advice"] == [[50_000, True, finding, remedy, "softmax_kernel"]]
    assert found["of_steps"] == [[150_000]]
    for texts in found["pages"].values():
        assert any("Ends with a softmax" in text for text in texts)
    texts = found["pages"]["advice"]
    assert any("Mostly softmax\\_kernel" in text for text in texts)
    assert any(text.startswith("Try: Leave it out") for text in texts)
    assert "Evidence" in texts
