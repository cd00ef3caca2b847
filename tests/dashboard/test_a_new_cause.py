"""One entry in `step_part_rules` adds a cause of idle time to all tables and pages."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import _lru_cache_wrapper
from pathlib import Path

import pytest
import streamlit as st

import ingest
from ingest import sql
from ingest.sql import loader
from tests.builders.diff_traces import Call, trace
from tests.conftest import Traces
from tests.dashboard.elements import tables

RULE = """,
    {
        'part': 'logging',
        'label': 'idle: logging',
        'is_of_device': TRUE,
        'is_of_host': TRUE,
        'is_idle': TRUE,
        'text': 'As host, and the host wrote a log.',
        'remedies': [{ 'text': 'Log less.', 'unless': [] }],
        'applies': is_late AND is_waiting IS NOT TRUE
    },
    {
        'part': 'sync',"""


def clear_caches() -> None:
    """Clear what ingest keeps of its SQL, so that no test depends on the tests before it."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "ingest"]
    for each in (value for module in modules for value in vars(module).values()):
        if isinstance(each, _lru_cache_wrapper):
            each.cache_clear()
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.fixture
def logging(tmp_path: Path) -> Iterator[None]:
    """The SQL with one more cause after `host`."""
    rules = sql.files()["step_part_rules"]
    body = rules.body.replace(
        """,
    {
        'part': 'sync',""",
        RULE,
    )
    assert body != rules.body
    files = {**sql.files(), rules.name: replace(rules, body=body)}
    with pytest.MonkeyPatch.context() as patch:
        for module in (sql, loader):
            patch.setattr(module, "files", lambda: files)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        clear_caches()
        yield
    clear_caches()


def test_a_new_cause_is_shown_in_tables_diffs_and_pages(logging, traces: Traces, app) -> None:
    late = [
        Call("aten::mm", (10, 20), "gemm", (50, 100)),
        Call("aten::add", (400, 20), "add_kernel", (430, 50)),  # after a bubble of 280 µs
    ]
    later = [late[0], Call("aten::add", (500, 20), "add_kernel", (530, 50))]
    runs = [
        traces.store.add(traces.write(trace(calls, step_us, 2), name)).run_id
        for name, calls, step_us in (("base", late, 1000), ("other", later, 950))
    ]
    with ingest.connect(traces.store.path) as connection:
        causes = connection.sql("SELECT DISTINCT cause FROM bubble_causes").fetchall()
        parts = connection.sql(
            f"SELECT ns FROM run_parts WHERE run_id = '{runs[0]}' AND part = 'logging'"
        ).fetchall()
        changes = connection.sql(
            f"SELECT metric, change, is_part FROM run_diff('{runs[0]}', '{runs[1]}') "
            "WHERE change <> 0"
        ).fetchall()
        wrong_sums = connection.sql(
            """
            SELECT totals.run_id FROM run_totals AS totals
            INNER JOIN (SELECT run_id, sum(ns) AS wall_ns FROM step_parts GROUP BY run_id) AS parts
                ON totals.run_id = parts.run_id
            WHERE totals.wall_ns <> parts.wall_ns
            """
        ).fetchall()
    assert causes == [("logging",)]
    # The first step has gaps of 50 and 280 µs. Another gap of 570 µs lasts until the second step's
    # first kernel, and 520 µs of it are in the first step.
    assert parts == [(50_000 + 280_000 + 520_000,)]
    by_metric = {metric: change for metric, change, is_part in changes if is_part}
    [wall] = (change for metric, change, _ in changes if metric == "wall")
    assert set(by_metric) == {"idle_logging"}
    assert sum(by_metric.values()) == wall
    assert wrong_sums == []
    page = app(traces.store.path, "bubbles", run=runs[0], cause="logging")
    assert list(tables(page)[0]["cause"]) == ["logging"]
    assert "the host wrote a log" in tables(page)[0]["meaning"][0]
