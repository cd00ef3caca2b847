"""The variants of a sweep in the store, from run.json to rows and to `ingest sweep`."""

import json
import shutil
from statistics import median
from typing import Any

import pytest

import ingest
from tests.builders.relations import Run, built
from tests.builders.sweeps import (
    BREAK,
    DISTANCES,
    FAILING,
    FAILURE,
    GAVE_UP,
    MS,
    REASON,
    TAG,
    TIMES,
    described,
    of,
    sweep_store,
    write_run,
)
from tests.helpers.command import Command

NO_TRACE = "no trace"  # the store accepts a run without a trace only if it has an error


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    return sweep_store(tmp_path_factory.mktemp("sweep"))


@pytest.fixture(scope="module")
def default_store(swept):
    """The store that `command` works on."""
    return swept


@pytest.fixture(scope="module")
def rows(swept):
    with ingest.connect(swept) as connection:
        return {row["variant"]: row for row in ingest.sweep_rows(connection, TAG)}


def test_variants_are_in_the_order_of_the_sweep(rows):
    assert list(rows) == [*TIMES, FAILING]
    assert [row["is_base"] for row in rows.values()] == [True, False, False, False, False]


@pytest.mark.parametrize("variant", TIMES)
def test_times(rows, variant):
    def images(name):
        return [median(process) * MS / 2 for process in TIMES[name][0]]

    row, own, base = rows[variant], images(variant), images("eager 64")
    assert row["process_image_ns"] == own
    assert row["base_image_ns"] == base
    assert row["image_ns"] == median(own)
    assert row["spread_ns"] == median(abs(each - median(own)) for each in own)
    assert row["speedup"] == pytest.approx(median(base) / median(own))


def test_compile_times_and_break_even(rows):
    eager, default, slow = rows["eager 64"], rows["default 64"], rows["slow 64"]
    assert (eager["compile_cold_ns"], eager["compile_warm_ns"]) == (None, None)
    assert eager["break_even_images"] is None
    # A warm-up call took 20,051 ms, and a later one 51; in the second process 2,048 and 48.
    assert (default["compile_cold_ns"], default["compile_warm_ns"]) == (20_000 * MS, 2_000 * MS)
    # An image takes 24.75 ms instead of 50 ms: 20,000 / 25.25.
    assert default["break_even_images"] == 793
    assert slow["compile_cold_ns"] == 9_000 * MS
    assert slow["break_even_images"] is None


def test_ranks_of_two_against_two_cannot_be_significant(rows):
    assert rows["default 64"]["p"] == pytest.approx(1 / 3)
    assert rows["eager 64"]["p"] is None
    assert rows["failing 64"]["p"] is None


def test_distances(rows):
    for variant, distance in DISTANCES.items():
        row = rows[variant]
        assert row["max_distance"] == distance.get("max_abs")
        assert row["mean_distance"] == distance.get("mean_abs")
        assert row["psnr_db"] == distance.get("psnr_db")
        assert row["distance_reason"] == distance.get("missing")


def test_a_variant_that_failed_is_a_run_with_its_reason(rows, swept):
    row = rows["failing 64"]
    assert row["failure"] == FAILURE
    assert [row[name] for name in ("image_ns", "speedup", "peak_bytes", "mean_distance")] == [
        None
    ] * 4
    assert row["base_run_id"] == rows["eager 64"]["run_id"]
    with ingest.connect(swept) as connection:
        query = "SELECT run_json ->> '$.error' FROM runs WHERE run_id = $1"
        assert connection.execute(query, [row["run_id"]]).fetchall() == [(FAILURE,)]


def test_the_command_prints_every_variant_and_its_notes(command: Command):
    said = command("sweep", TAG)
    assert said.code == 0, said.err
    lines = {line.split("  ")[0].strip(): line for line in said.out.splitlines()}
    assert "49.5 ms" not in lines["default 64"]
    assert "24.8 ms" in lines["default 64"]
    assert "2.02×" in lines["default 64"]
    assert "121.5 dB" in lines["default 64"]
    assert "equal" in lines["eager 64"]
    assert "never" in lines["slow 64"]
    assert "failed" in lines["failing 64"]
    for note in (
        f"failing 64: failed: {FAILURE}",
        f"slow 64: recompiled: {REASON}",
        f"slow 64: graph break: {BREAK}",
        f"slow 64: compilation failed, ran eager: {GAVE_UP}",
        "slow 64: no distance: shape (1, 8) instead of (1, 4)",
    ):
        assert note in said.out.splitlines()


def test_the_command_prints_the_rows_as_json(command: Command, rows):
    said = json.loads(command("sweep", TAG, "--json").out)
    assert [row["variant"] for row in said] == list(rows)
    assert said[1]["process_image_ns"] == rows["default 64"]["process_image_ns"]
    assert said[1]["settings"] == {"size": "64"}


def test_a_sweep_that_is_not_in_the_store_is_an_error(command: Command):
    said = command("sweep", "other")
    assert said.code == 1
    assert said.err == f"error: other: no such sweep; the store has {TAG}\n"


def test_a_store_without_sweeps(store, tmp_path):
    with ingest.connect(store.path) as connection:
        with pytest.raises(ingest.IngestError, match="capture sweep"):
            ingest.sweep_rows(connection, TAG)
        assert connection.sql("FROM sweep_results").fetchall() == []


@pytest.mark.parametrize("variant", ["eager 64", "failing 64"])
def test_a_variant_that_was_tried_again_is_one_row_of_its_last_run(swept, tmp_path, variant):
    store = ingest.Store(shutil.copytree(swept, tmp_path / "store"))
    again = described("eager 64") | of(variant)
    again["call_times_ns"] = [[10 * MS], [10 * MS]]
    latest = store.add(write_run(tmp_path / "second", variant, again, error=NO_TRACE)).run_id
    with ingest.connect(store.path) as connection:
        rows = {row["variant"]: row for row in ingest.sweep_rows(connection, TAG)}
    assert len(rows) == len(TIMES) + 1
    assert rows[variant]["run_id"] == latest
    assert rows[variant]["failure"] is None
    assert {row["base_run_id"] for row in rows.values()} == {rows["eager 64"]["run_id"]}


KEYS = ("images", "base", "call_times_ns", "warmup_times_ns", "distance")
NO_CALLS, OTHER_INPUTS, NO_BASE = "no warm-up calls", "other inputs", "alone"


def described_run(variant: str, sweep: Any, error: str) -> Run:
    """Return a run that has only a run.json."""
    described = {"name": variant, "tags": {"sweep": TAG}, "sweep": sweep, "error": error}
    return Run({"run.json": described})


@pytest.fixture(scope="module")
def incomplete_rows() -> dict[str, dict[str, Any]]:
    """The variants of a sweep that lack values."""
    default = described("default 64")
    variants = {f"no {key}": {k: v for k, v in default.items() if k != key} for key in KEYS}
    variants[NO_CALLS] = default | {"warmup_times_ns": [[], []]}
    variants[OTHER_INPUTS] = default | {"warmup_times_ns": [None, None], "recompiles": 1}
    runs = {name: sweep | {"variant": name} for name, sweep in variants.items()}
    runs["eager 64"] = described("eager 64")
    relations = built({name: described_run(name, sweep, NO_TRACE) for name, sweep in runs.items()})
    relations.create(["sweep_results"])
    return {row["variant"]: row for row in ingest.sweep_rows(relations.connection, TAG)}


def test_compile_times_are_unknown_without_warm_up_calls(incomplete_rows):
    row = incomplete_rows[NO_CALLS]
    times = ("compile_cold_ns", "compile_warm_ns", "break_even_images")
    assert [row[name] for name in times] == [None] * 3


def test_break_even_is_unknown_without_the_eager_variant(store, tmp_path, command):
    alone = described("default 64") | {"tag": NO_BASE}
    store.add(write_run(tmp_path, NO_BASE, alone, error=NO_TRACE))
    said = command("sweep", NO_BASE, store=store.path)
    assert "20.0 s" in said.out
    assert "never" not in said.out


ODD = [
    "a text",
    [],
    {"variant": "eager"},
    {"tag": "t", "variant": "v", "base": "v", "call_times_ns": "none", "images": "two"},
    {"tag": "t", "variant": "v", "call_times_ns": [["x"]], "settings": [1], "distance": 3},
    {"tag": "t", "variant": "v", "call_times_ns": [[]], "warmup_times_ns": [], "images": 0},
]


def test_values_of_other_types_are_absent():
    runs = {str(n): described_run("odd", sweep, "it failed") for n, sweep in enumerate(ODD)}
    relations = built(runs)
    rows = relations.sql("SELECT image_ns, speedup, mean_distance FROM sweep_results").fetchall()
    assert set(rows) <= {(None, None, None)}
    warnings = relations.sql("SELECT run_id, warnings FROM sources WHERE kind = 'run_json'")
    found = dict(warnings.fetchall())
    assert found.keys() == runs.keys()
    for sweep, of_run in zip(ODD, found.values(), strict=True):
        if not isinstance(sweep, dict):
            assert len(of_run) == 1
            assert "sweep" in of_run[0]


def test_a_directory_with_neither_a_profile_nor_an_error_is_refused(store, tmp_path):
    run = write_run(tmp_path, "nothing", described("eager 64"))
    with pytest.raises(ingest.IngestError, match="no profile in this directory"):
        store.add(run)


def test_compile_times_are_unknown_if_warm_up_had_other_inputs(incomplete_rows):
    row = incomplete_rows[OTHER_INPUTS]
    times = ("compile_cold_ns", "compile_warm_ns", "break_even_images")
    assert [row[name] for name in times] == [None] * 3
    assert (row["image_ns"], row["recompiles"]) == (24_750_000, 1)


@pytest.mark.parametrize("key", KEYS)
def test_a_missing_key_only_removes_the_values_that_need_it(incomplete_rows, key):
    eager, row = incomplete_rows["eager 64"], incomplete_rows[f"no {key}"]
    assert eager["image_ns"] == 50 * MS
    assert row["is_base"] is False
    assert (row["image_ns"] is None) == (key in ("images", "call_times_ns"))
    assert (row["speedup"] is None) == (key in ("images", "base", "call_times_ns"))
    assert (row["compile_cold_ns"] is None) == (key in ("call_times_ns", "warmup_times_ns"))
    assert (row["mean_distance"] is None) == (key == "distance")
