"""The command `ingest` as people and scripts use it."""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest

import ingest
from ingest.cli import main


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    monkeypatch.setenv("TRACEHOUSE_STORE", str(ingest.Store(tmp_path / "store").path))

    def call(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["ingest", *map(str, arguments)])
        code = 0
        try:
            main.main()
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def two_ranks(samples: Path, tmp_path: Path) -> Path:
    """A run directory of two ranks, with a run.json and a file that is no profile."""
    directory = tmp_path / "training"
    directory.mkdir()
    for rank in (0, 1):
        name = f"two_rank_rank{rank}.json.gz"
        shutil.copy(samples / "traces" / name, directory)
    (directory / "notes.txt").write_text("batch 4")
    description = {"model": "dlrm", "mode": "eager", "tags": {"branch": "main"}}
    (directory / "run.json").write_text(json.dumps(description))
    return directory


def test_a_run_directory_becomes_one_run(run: Run, two_ranks: Path) -> None:
    added = run("add", two_ranks, "--tag", "batch=4", "--tag", "note=a=b", "--name", "First Try!")
    assert added.code == 0
    assert added.err == ""
    run_id, *sources = added.out.splitlines()
    assert run_id.startswith("first-try-")
    assert [line.split(":")[0].strip() for line in sources] == [
        "notes.txt",
        "run.json",
        "two_rank_rank0.json.gz",
        "two_rank_rank1.json.gz",
    ]
    assert "rank 1, 4,720 events, 1.7 MB of JSON, read in" in sources[3]
    assert "4,676 rows, ok" in sources[3]
    out = run("sql", "FROM runs", "--format", "json").out
    [row] = json.loads(out)
    assert (row["name"], row["model"], row["mode"]) == ("First Try!", "dlrm", "eager")
    assert row["tags"] == {"branch": "main", "batch": "4", "note": "a=b"}
    assert row["world_size"] == 128
    out = run("sql", "SELECT path, rank, status FROM sources ORDER BY ALL", "--format", "csv").out
    assert [line.rpartition("/")[2] for line in out.splitlines()] == [
        "path,rank,status",
        "notes.txt,,skipped",
        "run.json,,ok",
        "two_rank_rank0.json.gz,0,ok",
        "two_rank_rank1.json.gz,1,ok",
    ]
    tables = run("top", "first-try").out
    assert "rank 0  device 0" in tables
    assert "rank 1  device 1" in tables
    assert "over all" in tables


def test_the_same_content_is_added_once(run: Run, two_ranks: Path, tmp_path: Path) -> None:
    first = run("add", two_ranks, "--json")
    [added] = map(json.loads, first.out.splitlines())
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "store").rglob("*")}
    again = run("add", two_ranks, "--name", "other")
    assert again.code == 0
    assert (
        again.out
        == f"{two_ranks}: already in the store as {added['run_id']}, with the labels it had\n"
    )
    assert before == {p: p.stat().st_mtime_ns for p in (tmp_path / "store").rglob("*")}
    assert added["is_new"]
    assert [source["events"] for source in added["sources"]] == [None, None, 4855, 4720]


def test_good_files_are_added_beside_bad_ones(run: Run, samples: Path, tmp_path: Path) -> None:
    bad = tmp_path / "it's bad.json"
    bad.write_text("no trace")
    good = samples / "traces" / "cpu_only.json.gz"
    missing = tmp_path / "missing"
    result = run("add", bad, good, missing)
    assert result.code == 1
    assert result.err.splitlines() == [
        f"error: {bad}: neither a JSON object nor an array: not a profiler trace",
        f"error: {missing}: no such file or directory",
    ]
    assert result.out.startswith("cpu_only-")
    assert ingest.Store(tmp_path / "store").run_ids() == [result.out.split()[0]]


def test_a_bad_file_in_a_run_directory_costs_only_itself(
    run: Run, two_ranks: Path, tmp_path: Path
) -> None:
    bad = two_ranks / "rank7.json"
    bad.write_text('{"schemaVersion": "traceEvents"}')
    result = run("add", two_ranks)
    assert result.code == 1
    assert result.err == f"error: {bad}: no traceEvents array: not a profiler trace\n"
    out = run("sql", "SELECT status, count(*) FROM sources GROUP BY 1", "--format", "csv").out
    assert sorted(out.splitlines()[1:]) == ["failed,1", "ok,3", "skipped,1"]


def test_several_processes_share_the_runs(samples: Path, tmp_path: Path) -> None:
    names = ["cpu_only", "two_rank_rank0", "two_rank_rank1"]
    bad = tmp_path / "bad.json"
    bad.write_text("")
    files = [samples / "traces" / f"{name}.json.gz" for name in names]
    store = ingest.Store(tmp_path / "store")
    done = subprocess.run(
        [sys.executable, "-m", "ingest", "add", *files, bad, "--jobs", "2", "--store", store.path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == f"error: {bad}: empty file\n"
    assert [run_id.rpartition("-")[0] for run_id in store.run_ids()] == names


def test_a_directory_without_profiles_says_where_to_look(run: Run, tmp_path: Path) -> None:
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    result = run("add", tmp_path / "outer")
    assert (result.code, result.out) == (1, "")
    inner = tmp_path / "outer" / "inner"
    assert result.err == (
        f"error: {tmp_path / 'outer'}: no profile in this directory; "
        f"did you mean a directory in it, such as {inner}?\n"
    )


def test_runs_are_found_by_name_and_removed(run: Run, samples: Path) -> None:
    run(
        "add",
        samples / "traces" / "cpu_only.json.gz",
        samples / "traces" / "cupti_counters.json.gz",
    )
    assert "cpu_only-" in run("list").out
    assert "gloo:all_reduce" not in run("show", "cpu_only").out
    assert "cpu_only.json.gz" in run("show", "cpu_only").out
    assert run("show", "c").err.startswith("error: c: 2 runs fit: cpu_only-")
    removed = run("remove", "cpu_only")
    assert removed.code == 0
    assert removed.out.startswith("removed cpu_only-")
    assert "cpu_only" not in run("list").out
    assert run("remove", "cpu_only").code == 1


def test_top_prints_the_ranking_with_the_bubble_among_it(run: Run, samples: Path) -> None:
    run("add", samples / "traces" / "v100_resnet50_workers0.pt.trace.json.gz")
    out = run("top", "v100_resnet50_workers0", "--limit", "3").out
    device, over_all = out.split("over all")
    for part in (device, over_all):
        lines = [line.split() for line in part.splitlines()]
        header = next(line for line in lines if line[:1] == ["OpName"])
        assert header == ["OpName", "DeviceActiveTime", "(ms)", "Calls", "Percentage"]
        rows = lines[lines.index(header) + 2 :][:3]
        assert rows[0][0] == "bubble"
        shares = [float(row[-1].rstrip("%")) for row in rows]
        assert shares == sorted(shares, reverse=True)
        assert "Total device time:" in part
        assert "Top 3 ops:" in part
    by_kernel = run("top", "v100_resnet50_workers0", "--by", "kernel").out
    assert "volta_sgemm" in by_kernel or "cudnn" in by_kernel


def test_a_run_without_a_device_ranks_by_host_time_and_says_so(run: Run, samples: Path) -> None:
    run("add", samples / "traces" / "cpu" / "flux_eager_min.json.gz")
    out = run("top", "flux_eager_min", "--limit", "3").out
    assert "no device activity was read of flux_eager_min-" in out
    assert "HostSelfTime (ms)" in out
    assert "aten::" in out


@pytest.mark.parametrize(
    ("category", "lost"),
    [
        ("kernel", "what is missing looks like idle time"),
        ("cpu_op", "no device activity was read"),
    ],
)
def test_top_says_that_a_file_ended_early(
    run: Run, tmp_path: Path, category: str, lost: str
) -> None:
    event = {"ph": "X", "cat": category, "name": "a", "ts": 1, "dur": 2, "pid": 0, "tid": 7}
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps({"traceEvents": [event, event]}))
    cut = tmp_path / "cut.json"
    cut.write_text(whole.read_text()[:-10])
    run("add", whole, cut)
    assert run("top", "whole").err == ""
    told = run("top", "cut")
    assert told.code == 0
    [run_id] = [run_id for run_id in ingest.Store(tmp_path / "store").run_ids() if "cut" in run_id]
    assert told.err == f"warning: 1 file of {run_id} ended early or failed: {lost}\n"


def test_queries_come_out_in_every_format(run: Run, samples: Path) -> None:
    run("add", samples / "traces" / "cpu_only.json.gz")
    query = "SELECT name, dur_ns FROM ops WHERE category = 'cpu_op' ORDER BY start_ns LIMIT 2"
    records = json.loads(run("sql", query, "--format", "json").out)
    assert [list(record) for record in records] == [["name", "dur_ns"]] * 2
    csv = run("sql", query, "--format", "csv").out.splitlines()
    assert csv == ["name,dur_ns", *(f"{r['name']},{r['dur_ns']}" for r in records)]
    assert records[0]["name"] in run("sql", query).out
    done = subprocess.run(
        [sys.executable, "-m", "ingest", "sql", query, "--format", "parquet"],
        capture_output=True,
        check=True,
        env=os.environ,
    )
    assert pq.read_table(io.BytesIO(done.stdout)).to_pylist() == records
    assert json.loads(run("sql", "FROM runs WHERE false", "--format", "json").out) == []


def test_a_query_that_fails_says_why(run: Run) -> None:
    result = run("sql", "SELECT nothing FROM ops")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith('error: Binder Error: Referenced column "nothing" not found')
    assert "Traceback" not in result.err


def test_schema_describes_tables_and_columns(run: Run) -> None:
    assert "A row" not in run("schema").out
    assert "One row: a run." in run("schema").out
    assert "Unix time, ns" in run("schema", "kernels").out
    assert (
        run("schema", "nope").err
        == "error: nope: no such table, view or macro; see `ingest schema`\n"
    )


def test_reading_a_store_that_is_not_there_says_so(run: Run, tmp_path: Path) -> None:
    typo = tmp_path / "typo"
    for command in (
        ["list"],
        ["show", "x"],
        ["top", "x"],
        ["schema"],
        ["sql", "FROM runs"],
        ["remove", "x"],
    ):
        result = run(*command, "--store", typo)
        assert (result.code, result.out) == (1, "")
        assert result.err == f"error: {typo}: there is no store; `ingest add` makes one\n"
    assert not typo.exists()


def test_a_narrow_terminal_keeps_the_numbers(samples: Path, tmp_path: Path) -> None:
    path = samples / "traces" / "mi300_flux1_graph_replay.json.gz"
    ingest.Store(tmp_path / "store").add(path)
    command = f"{sys.executable} -m ingest top mi300_flux1_graph_replay --by kernel --limit 3"
    shown = subprocess.run(
        ["script", "-qc", f"stty cols 80; {command}", "/dev/null"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TRACEHOUSE_STORE": str(tmp_path / "store"), "TERM": "xterm"},
    ).stdout
    rows = [line for line in shown.splitlines() if "%" in line and "…" in line]
    assert len(rows) >= 6
    assert all(len(line.rstrip()) <= 80 for line in rows)


@pytest.mark.parametrize("query", ["", ";", "SELECT 1; SELECT nothing"])
def test_odd_queries_bring_no_traceback(query: str, run: Run) -> None:
    assert "Traceback" not in run("sql", query).err


def test_values_keep_their_kind_in_json(run: Run) -> None:
    query = "SELECT 1.5::DECIMAL(9, 2) AS d, 'nan'::DOUBLE AS n, TIMESTAMPTZ '2026-01-01' AS t"
    [row] = json.loads(run("sql", query, "--format", "json").out)
    assert (row["d"], row["n"]) == (1.5, None)
    assert run("sql", "SELECT 1 AS a, 2 AS a", "--format", "json").code == 1
    assert run("sql", query).code == 0


def test_the_same_path_twice_is_one_run(run: Run, samples: Path) -> None:
    path = samples / "traces" / "cpu_only.json.gz"
    assert len(run("add", path, path).out.splitlines()) == 2


def test_one_unforeseen_file_costs_no_other(run: Run, samples: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    odd.mkdir()
    (odd / "trace.json").write_text(
        '{"traceEvents": [], "deviceProperties": 5, "distributedInfo": 3}'
    )
    (odd / "run.json").write_text('{"tags": ["x"]}')
    gone = tmp_path / "dangling"
    gone.mkdir()
    (gone / "rank0.json").symlink_to(tmp_path / "nowhere")
    result = run("add", odd, gone, samples / "traces" / "cpu_only.json.gz")
    assert result.code == 1
    assert result.err.splitlines() == [
        f"error: {odd / 'run.json'}: tags must be dict",
        f"error: {gone / 'rank0.json'}: No such file or directory",
    ]
    assert result.out.startswith("cpu_only-")


def test_wrong_usage_is_told_apart(run: Run) -> None:
    assert run("add").code == 2
    assert run("add", "x", "--mode", "fast").code == 2
    assert run("add", "x", "--tag", "novalue").code == 2
    assert run("add", "x", "--tag", "=nokey").code == 2


def test_a_wrong_setting_is_told_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEHOUSE_MAX_INFLATION", "abc")
    result = run("add", "x", "y")
    wanted = "error: TRACEHOUSE_MAX_INFLATION: must be a number from 1 on, not abc\n"
    assert (result.code, result.err) == (1, wanted)
    monkeypatch.delenv("TRACEHOUSE_MAX_INFLATION")
    monkeypatch.setenv("TRACEHOUSE_MAX_SNAPSHOT_BYTES", "0")
    result = run("add", "x", "y")
    wanted = "error: TRACEHOUSE_MAX_SNAPSHOT_BYTES: must be a number of bytes from 1 on, not 0\n"
    assert (result.code, result.err) == (1, wanted)


@pytest.mark.parametrize("output_format", ["table", "csv", "json", "parquet"])
def test_a_full_disk_behind_stdout_is_told(output_format: str, tmp_path: Path) -> None:
    store = ingest.Store(tmp_path / "store").path
    command = [sys.executable, "-m", "ingest", "sql", "SELECT 1", "--store", str(store)]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*command, "--format", output_format],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "error: stdout: No space left on device\n"


def test_a_reader_that_goes_is_no_error(tmp_path: Path) -> None:
    store = ingest.Store(tmp_path / "store").path
    query = "SELECT unnest(range(100_000))"
    command = f"{sys.executable} -m ingest sql '{query}' --format csv --store {store} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert (len(done.stdout.splitlines()), done.stderr) == (1, "")


def test_a_file_cut_short_is_no_failure_but_told(run: Run, samples: Path, tmp_path: Path) -> None:
    whole = (samples / "traces" / "two_rank_rank0.json.gz").read_bytes()
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(whole[:60_000])
    result = run("add", cut)
    assert result.code == 0
    assert result.err.startswith(f"{cut}: truncated: the file ends inside traceEvents: ")
    assert result.err.endswith(", the compressed stream ends after 60,000 bytes\n")


def test_names_cannot_turn_the_line(run: Run, tmp_path: Path) -> None:
    name = "a\u202eb\u200fc\u061cd"
    event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    (tmp_path / "odd.json").write_text(json.dumps([event]))
    added = run("add", tmp_path / "odd.json").out
    assert "1 event," in added
    assert "1 row," in added
    assert r"a\u202eb\u200fc\u061cd" in run("top", "odd").out
    assert "1 event, 1 row" in run("show", "odd").out
