"""The command `ingest`, as people and scripts use it."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ingest
from tests.helpers.command import Command
from tests.helpers.samples import Samples


@pytest.fixture(scope="module")
def rankings(sampled: Samples) -> Path:
    """A store of runs with long rankings, and one without a device."""
    return sampled.store("v100_resnet50_workers0", "mi300_flux1_graph_replay", "flux_eager_min")


@pytest.fixture
def two_ranks(samples: Path, tmp_path: Path) -> Path:
    """A run directory of two ranks, with a run.json and a file that is not a profile."""
    directory = tmp_path / "training"
    directory.mkdir()
    for rank in (0, 1):
        name = f"two_rank_rank{rank}.json.gz"
        shutil.copy(samples / "traces" / name, directory)
    (directory / "notes.txt").write_text("batch 4")
    description = {"model": "dlrm", "mode": "eager", "tags": {"branch": "main"}}
    (directory / "run.json").write_text(json.dumps(description))
    return directory


def test_a_run_directory_becomes_one_run(command: Command, two_ranks: Path) -> None:
    added = command(
        "add", two_ranks, "--tag", "batch=4", "--tag", "note=a=b", "--name", "First Try!"
    )
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
    out = command("sql", "FROM runs", "--format", "json").out
    [row] = json.loads(out)
    assert (row["name"], row["model"], row["mode"]) == ("First Try!", "dlrm", "eager")
    assert row["tags"] == {"branch": "main", "batch": "4", "note": "a=b"}
    assert row["world_size"] == 128
    out = command(
        "sql", "SELECT path, rank, status FROM sources ORDER BY ALL", "--format", "csv"
    ).out
    assert [line.rpartition("/")[2] for line in out.splitlines()] == [
        "path,rank,status",
        "notes.txt,,skipped",
        "run.json,,ok",
        "two_rank_rank0.json.gz,0,ok",
        "two_rank_rank1.json.gz,1,ok",
    ]
    tables = command("top", "first-try").out
    assert "rank 0  device 0" in tables
    assert "rank 1  device 1" in tables
    assert "all 2 devices, sum of their times" in tables


def test_the_same_content_is_added_once(
    command: Command, two_ranks: Path, store: ingest.Store
) -> None:
    first = command("add", two_ranks, "--json")
    [added] = map(json.loads, first.out.splitlines())
    before = {p: p.stat().st_mtime_ns for p in store.path.rglob("*")}
    again = command("add", two_ranks, "--name", "other")
    assert again.code == 0
    assert (
        again.out
        == f"{two_ranks}: already in the store as {added['run_id']}; its labels are unchanged\n"
    )
    assert before == {p: p.stat().st_mtime_ns for p in store.path.rglob("*")}
    assert added["is_new"]
    assert [source["events"] for source in added["sources"]] == [None, None, 4855, 4720]


def test_good_files_are_added_despite_bad_ones(
    command: Command, samples: Path, store: ingest.Store, tmp_path: Path
) -> None:
    bad = tmp_path / "it's bad.json"
    bad.write_text("no trace")
    good = samples / "traces" / "cpu_only.json.gz"
    missing = tmp_path / "missing"
    result = command("add", bad, good, missing, good)  # the same path twice is one run
    assert result.code == 1
    assert result.err.splitlines() == [
        f"error: {bad}: neither a JSON object nor an array: not a profiler trace",
        f"error: {missing}: no such file or directory",
    ]
    assert result.out.startswith("cpu_only-")
    assert len(result.out.splitlines()) == 2
    assert store.run_ids() == [result.out.split()[0]]


def test_a_bad_file_does_not_affect_others_of_its_run(command: Command, two_ranks: Path) -> None:
    bad = two_ranks / "rank7.json"
    bad.write_text('{"schemaVersion": "traceEvents"}')
    result = command("add", two_ranks)
    assert result.code == 1
    assert result.err == f"error: {bad}: no traceEvents array: not a profiler trace\n"
    out = command("sql", "SELECT status, count(*) FROM sources GROUP BY 1", "--format", "csv").out
    assert sorted(out.splitlines()[1:]) == ["failed,1", "ok,3", "skipped,1"]


def test_several_processes_share_the_runs(
    samples: Path, store: ingest.Store, tmp_path: Path
) -> None:
    names = ["cpu_only", "mi300_torch_compile_triton"]
    bad = tmp_path / "bad.json"
    bad.write_text("")
    files = [samples / "traces" / f"{name}.json.gz" for name in names]
    done = subprocess.run(
        [sys.executable, "-m", "ingest", "add", *files, bad, "--jobs", "2", "--store", store.path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == f"error: {bad}: empty file\n"
    assert [run_id.rpartition("-")[0] for run_id in store.run_ids()] == names


def test_the_error_of_a_directory_without_profiles_suggests_another(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    result = command("add", tmp_path / "outer")
    assert (result.code, result.out) == (1, "")
    inner = tmp_path / "outer" / "inner"
    assert result.err == (
        f"error: {tmp_path / 'outer'}: no profile in this directory; "
        f"did you mean a directory in it, such as {inner}?\n"
    )


def test_runs_are_found_by_name_and_removed(
    command: Command, sampled: Samples, store: ingest.Store
) -> None:
    sampled.add(store, "cpu_only", "cupti_counters")
    assert "cpu_only-" in command("list").out
    assert "gloo:all_reduce" not in command("show", "cpu_only").out
    assert "cpu_only.json.gz" in command("show", "cpu_only").out
    assert command("show", "c").err.startswith("error: c: ambiguous; matches 2 runs: cpu_only-")
    removed = command("remove", "cpu_only")
    assert removed.code == 0
    assert removed.out.startswith("removed cpu_only-")
    assert "cpu_only" not in command("list").out
    assert command("remove", "cpu_only").code == 1


def test_top_prints_the_ranking_including_the_bubble(command: Command, rankings: Path) -> None:
    run = "v100_resnet50_workers0"
    result = command("top", run, "--limit", "3", store=rankings)
    assert result.err == ""
    out = result.out
    lines = [line.split() for line in out.splitlines()]
    header = next(line for line in lines if line[:1] == ["OpName"])
    assert header == ["OpName", "DeviceActiveTime", "(ms)", "Calls", "Percentage"]
    rows = lines[lines.index(header) + 2 :][:3]
    assert rows[0][0] == "bubble"
    shares = [float(row[-1].rstrip("%")) for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert "Wall time:" in out
    assert "Top 3 ops:" in out
    by_kernel = command("top", run, "--by", "kernel", store=rankings).out
    assert "Top 3 kernels:" in by_kernel
    assert "volta_sgemm" in by_kernel or "cudnn" in by_kernel


def test_a_run_without_a_device_ranks_by_host_time_and_says_so(
    command: Command, rankings: Path
) -> None:
    out = command("top", "flux_eager_min", "--limit", "3", store=rankings).out
    assert re.search(r"flux_eager_min-\w+ has no device activity: ranked by host self time", out)
    assert "HostSelfTime (ms)" in out
    assert "aten::" in out


def test_top_warns_about_a_file_that_ended_early(
    command: Command, store: ingest.Store, tmp_path: Path
) -> None:
    effects = {
        "kernel": "missing work looks like idle time",
        "cpu_op": "no device activity was read",
    }
    for category in effects:
        event = {"ph": "X", "cat": category, "name": "a", "ts": 1, "dur": 2, "pid": 0, "tid": 7}
        text = json.dumps({"traceEvents": [event, event]})
        (tmp_path / f"cut_{category}.json").write_text(text[:-10])
    command("add", *sorted(tmp_path.glob("*.json")))
    for category, effect in effects.items():
        result = command("top", f"cut_{category}")
        assert result.code == 0
        [run_id] = [run_id for run_id in store.run_ids() if category in run_id]
        assert result.err == f"warning: 1 file of {run_id} ended early or failed: {effect}\n"


def test_queries_come_out_in_every_format(command: Command, sampled: Samples) -> None:
    store = sampled.store("cpu_only")
    query = "SELECT name, dur_ns FROM ops WHERE category = 'cpu_op' ORDER BY start_ns LIMIT 2"
    records = json.loads(command("sql", query, "--format", "json", store=store).out)
    assert [list(record) for record in records] == [["name", "dur_ns"]] * 2
    csv = command("sql", query, "--format", "csv", store=store).out.splitlines()
    assert csv == ["name,dur_ns", *(f"{r['name']},{r['dur_ns']}" for r in records)]
    assert records[0]["name"] in command("sql", query, store=store).out
    done = subprocess.run(
        [sys.executable, "-m", "ingest", "sql", query, "--format", "parquet"],
        capture_output=True,
        check=True,
        env=os.environ,
    )
    assert pq.read_table(io.BytesIO(done.stdout)).to_pylist() == records
    assert json.loads(command("sql", "FROM runs WHERE false", "--format", "json").out) == []


def test_a_failed_query_reports_the_reason(command: Command) -> None:
    result = command("sql", "SELECT nothing FROM ops")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith('error: Binder Error: Referenced column "nothing" not found')
    assert "Traceback" not in result.err


def test_schema_describes_tables_and_columns(command: Command) -> None:
    assert "A row" not in command("schema").out
    assert "One row: a run." in command("schema").out
    assert "Unix time, ns" in command("schema", "kernels").out
    assert (
        command("schema", "nope").err
        == "error: nope: no such table, view or macro; `ingest schema` lists them\n"
    )


def test_reading_a_missing_store_is_an_error(command: Command, tmp_path: Path) -> None:
    typo = tmp_path / "typo"
    for arguments in (
        ["list"],
        ["show", "x"],
        ["top", "x"],
        ["schema"],
        ["sql", "FROM runs"],
        ["remove", "x"],
    ):
        result = command(*arguments, "--store", typo)
        assert (result.code, result.out) == (1, "")
        assert result.err == f"error: {typo}: no such store; `ingest add` creates one\n"
    assert not typo.exists()


@pytest.mark.parametrize(
    ("place", "error"),
    [
        *(
            (
                place,
                "a store is a directory, s3://BUCKET/PREFIX (or gs://, az://) or file:///DIRECTORY",
            )
            for place in (
                "gcs://bucket/runs",
                "https://host/runs",
                "s3:/bucket",
                "S3://bucket/runs",
            )
        ),
        *(
            (
                place,
                f"{place}: a store is a directory, s3://BUCKET/PREFIX (or gs://, az://) or file:///DIRECTORY",
            )
            for place in ("s3://", "file://directory", "file:///")
        ),
        *(
            (place, "the URL of a store cannot contain spaces, %, ?, #, @, \\, //, /. or /..")
            for place in (
                "s3://KEY:SECRET@bucket/x",
                "s3://bucket/a%20b",
                "file:///a/../b",
                "s3://b//c",
            )
        ),
    ],
)
def test_a_store_is_not_at_any_url(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, error: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (["list"], ["add", tmp_path]):
        result = command(*arguments, "--store", place)
        assert (result.code, result.out, result.err) == (1, "", f"error: {error}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_narrow_terminal_keeps_the_numbers(rankings: Path) -> None:
    command = f"{sys.executable} -m ingest top mi300_flux1_graph_replay --by kernel --limit 3"
    shown = subprocess.run(
        ["script", "-qc", f"stty cols 80; {command}", "/dev/null"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TRACEHOUSE_STORE": str(rankings), "TERM": "xterm"},
    ).stdout
    rows = [line for line in shown.splitlines() if "%" in line and "…" in line]
    assert len(rows) >= 3
    assert not any("……" in row for row in rows)
    assert all(len(line.rstrip()) <= 80 for line in rows)


@pytest.mark.parametrize("query", ["", ";", "SELECT 1; SELECT nothing"])
def test_odd_queries_print_no_traceback(query: str, command: Command) -> None:
    assert "Traceback" not in command("sql", query).err


def test_values_keep_their_type_in_json(command: Command) -> None:
    query = "SELECT 1.5::DECIMAL(9, 2) AS d, 'nan'::DOUBLE AS n, TIMESTAMPTZ '2026-01-01' AS t"
    [row] = json.loads(command("sql", query, "--format", "json").out)
    assert (row["d"], row["n"]) == (1.5, None)
    assert command("sql", "SELECT 1 AS a, 2 AS a", "--format", "json").code == 1
    assert command("sql", query).code == 0


VALUES = [  # a value, its text, and its JSON
    ("TRUE", "true", "true"),
    ("NULL", "", "null"),
    ("1.50::DECIMAL(9, 2)", "1.50", "1.5"),
    ("1e300::DOUBLE", "1e+300", "1e300"),
    ("'-inf'::DOUBLE", "-inf", "null"),
    ("340282366920938463463374607431768211455::UHUGEINT", f"{2**128 - 1}", f"{2**128 - 1}"),
    ("(-170141183460469231731687303715884105727)::HUGEINT", f"-{2**127 - 1}", f"-{2**127 - 1}"),
    ("DATE '290000-01-01'", "290000-01-01", '"290000-01-01"'),
    ("'infinity'::TIMESTAMP", "infinity", '"infinity"'),
    ("TIMESTAMP '0044-03-15 (BC)'", "0044-03-15 (BC) 00:00:00", '"0044-03-15 (BC) 00:00:00"'),
    ("INTERVAL '1 year 3 days'", "1 year 3 days", '"1 year 3 days"'),
    ("'\\xAA'::BLOB", "\\xAA", '"\\\\xAA"'),
    ("['nan'::DOUBLE, 1.5]", "[NaN,1.5]", "[null, 1.5]"),
    ("{'x': [NULL], 'é': 1}", '{"x":[null],"é":1}', '{"x":[null],"\\u00e9":1}'),
    ("MAP{'k': DATE '2026-01-01'}", '{"k":"2026-01-01"}', '{"k":"2026-01-01"}'),
    ("""'{"a": [1]}'::JSON""", '{"a": [1]}', '{"a":[1]}'),
]


def test_every_value_is_written_exactly(command: Command) -> None:
    columns = [f"{value} AS v{number}" for number, (value, *_) in enumerate(VALUES)]
    query = f"SELECT 1 AS n, {', '.join(columns)}"
    [row] = csv.DictReader(io.StringIO(command("sql", query, "--format", "csv").out))
    texts = {f"v{number}": text for number, (_, text, _) in enumerate(VALUES)}
    assert row == {"n": "1", **texts}
    written = command("sql", query, "--format", "json").out
    parsed = {f"v{number}": json.loads(in_json) for number, (*_, in_json) in enumerate(VALUES)}
    assert json.loads(written) == [{"n": 1, **parsed}]
    pairs = [f'"v{number}":{in_json}' for number, (*_, in_json) in enumerate(VALUES)]
    compact = written.replace(" ", "")
    assert [pair for pair in pairs if pair.replace(" ", "") not in compact] == []
    tables = {text: command("sql", f"SELECT 1 AS n, {value} AS v").out for value, text, _ in VALUES}
    assert [text for text, table in tables.items() if text not in table] == []


def test_empty_text_is_not_null_and_names_may_differ_in_case_only(command: Command) -> None:
    query = "SELECT '' AS a, NULL AS A, '\"NaN\": -Infinity,' AS b, ['inf'::DOUBLE] AS c"
    assert command("sql", query, "--format", "csv").out == (
        'a,A,b,c\n"",,"""NaN"": -Infinity,",[Infinity]\n'
    )
    assert json.loads(command("sql", query, "--format", "json").out) == [
        {"a": "", "A": None, "b": '"NaN": -Infinity,', "c": [None]}
    ]


def test_a_ranking_of_one_device_is_printed_once(command: Command, rankings: Path) -> None:
    printed = command("top", "mi300_flux1_graph_replay", store=rankings).out
    assert printed.count("Wall time:") == 1
    assert "sum of their times" not in printed


def test_long_names_of_a_ranking_are_shortened_unless_wide(
    command: Command, rankings: Path
) -> None:
    kernels = ("top", "mi300_flux1_graph_replay", "--by", "kernel", "--limit", "0")
    short = command(*kernels, store=rankings).out
    assert max(len(line) for line in short.splitlines() if "Top 3" not in line) < 120
    assert "… and" not in short
    assert len(short.splitlines()) > 100
    wide = command(*kernels, "--wide", store=rankings).out
    with ingest.connect(rankings) as connection:
        [(name,)] = connection.sql(
            """
            SELECT arg_max(name, length(name)) FROM ranking
            WHERE run_id ^@ 'mi300_flux1_graph_replay' AND level = 'kernel' AND length(name) < 200
            """
        ).fetchall()
    assert name in wide
    assert name not in short
    assert f"{name[:30]}…{name[-29:]}" in short


def test_a_query_without_rows_prints_that(command: Command) -> None:
    assert "(no rows)" in command("sql", "SELECT 1 WHERE FALSE").out
    for query in ("", " ; ", "/* nothing */"):
        assert command("sql", query).err == "error: the query is empty\n"


def test_csv_on_a_terminal_has_one_line_per_row(rankings: Path) -> None:
    query = "SELECT n, chr(27) || n AS t FROM range(2) AS r (n)"
    done = subprocess.run(
        ["script", "-qec", f"{sys.executable} -m ingest sql '{query}' --format csv", "/dev/null"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TRACEHOUSE_STORE": str(rankings)},
    )
    assert done.stdout.splitlines() == ["n,t", "0,\\x1b0", "1,\\x1b1"]


def test_parquet_is_not_written_to_a_terminal(rankings: Path) -> None:
    done = subprocess.run(
        [
            "script",
            "-qec",
            f"{sys.executable} -m ingest sql 'SELECT 1' --format parquet",
            "/dev/null",
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TRACEHOUSE_STORE": str(rankings)},
    )
    assert done.returncode == 1
    assert "error: Parquet is binary; write it to a file" in done.stdout
    assert "PAR1" not in done.stdout


def test_an_unforeseen_file_does_not_affect_others(
    command: Command, samples: Path, tmp_path: Path
) -> None:
    odd = tmp_path / "odd"
    odd.mkdir()
    (odd / "trace.json").write_text(
        '{"traceEvents": [5], "deviceProperties": 5, "distributedInfo": 3}'
    )
    (odd / "run.json").write_text('{"tags": ["x"]}')
    gone = tmp_path / "dangling"
    gone.mkdir()
    (gone / "rank0.json").symlink_to(tmp_path / "nowhere")
    result = command("add", odd, gone, samples / "traces" / "cpu_only.json.gz")
    assert result.code == 1
    assert result.err.splitlines() == [
        f"error: {odd / 'trace.json'}: no event can be read: 1 piece of traceEvents left out: "
        "not an event, the first at byte 17",
        f"error: {gone / 'rank0.json'}: No such file or directory",
    ]
    assert result.out.startswith("cpu_only-")


def test_wrong_usage_has_its_own_exit_code(command: Command) -> None:
    assert command("add").code == 2
    assert command("add", "x", "--mode", "fast").code == 2
    assert command("add", "x", "--tag", "novalue").code == 2
    assert command("add", "x", "--tag", "=nokey").code == 2


def test_a_wrong_setting_is_reported_once(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEHOUSE_MAX_INFLATION", "abc")
    result = command("add", "x", "y")
    wanted = "error: TRACEHOUSE_MAX_INFLATION: must be a number of at least 1, not abc\n"
    assert (result.code, result.err) == (1, wanted)
    monkeypatch.delenv("TRACEHOUSE_MAX_INFLATION")
    monkeypatch.setenv("TRACEHOUSE_MAX_SNAPSHOT_BYTES", "0")
    result = command("add", "x", "y")
    wanted = (
        "error: TRACEHOUSE_MAX_SNAPSHOT_BYTES: must be a whole number of bytes, at least 1, not 0\n"
    )
    assert (result.code, result.err) == (1, wanted)


@pytest.mark.parametrize("output_format", ["table", "csv", "json", "parquet"])
def test_a_full_disk_behind_stdout_is_an_error(output_format: str, store: ingest.Store) -> None:
    command = [sys.executable, "-m", "ingest", "sql", "SELECT 1", "--store", str(store.path)]
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


def test_a_reader_that_closes_the_pipe_is_not_an_error(store: ingest.Store) -> None:
    query = "SELECT unnest(range(100_000))"
    command = (
        f"{sys.executable} -m ingest sql '{query}' --format csv --store {store.path} | head -1"
    )
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert (len(done.stdout.splitlines()), done.stderr) == (1, "")


def test_a_truncated_file_is_reported_but_is_not_a_failure(
    command: Command, samples: Path, tmp_path: Path
) -> None:
    whole = (samples / "traces" / "cpu_only.json.gz").read_bytes()
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(whole[:2_000])
    result = command("add", cut)
    assert result.code == 0
    assert result.err.startswith(f"{cut}: truncated: the file ends inside traceEvents: ")
    assert result.err.endswith(", the compressed stream ends after 2,000 bytes\n")


def test_names_cannot_reverse_the_text_direction(command: Command, tmp_path: Path) -> None:
    name = "a\u202eb\u200fc\u061cd"
    event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    (tmp_path / "odd.json").write_text(json.dumps([event]))
    added = command("add", tmp_path / "odd.json").out
    assert "1 event," in added
    assert "1 row," in added
    assert r"a\u202eb\u200fc\u061cd" in command("top", "odd").out
    assert "1 event, 1 row" in command("show", "odd").out


@pytest.mark.parametrize(
    ("arguments", "code", "out", "err"),
    [
        (["sql", "SELECT 1 AS one", "--format", "csv"], 0, "one\n1\n", ""),
        (["sql", "FROM range(100000)", "--format", "csv"], 0, None, ""),
        (["show", "nothing"], 1, "", "error: nothing: no such run in "),
        (["lits"], 2, "", "Usage: ingest "),
    ],
)
def test_the_process_writes_all_output_before_it_ends(
    default_store: Path, arguments: list[str], code: int, out: str | None, err: str
) -> None:
    """After a success, the process skips Python's shutdown, and no output may be lost."""
    done = subprocess.run(
        [Path(sys.executable).with_name("ingest"), *arguments],
        env={**os.environ, "TRACEHOUSE_STORE": str(default_store)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == code
    assert done.stderr.startswith(err)
    if out is None:
        out = "".join(f"{row}\n" for row in ["range", *range(100_000)])
    assert done.stdout == out
