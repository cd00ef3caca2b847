"""Secrets that profiles carry along: none of them is anywhere in a store, unless asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

import ingest
from ingest.redact import redact

TOKEN = "hf_EXAMPLEexampleEXAMPLEexampleEXAMPLE"
PLANTED = ["hf_" + "a1B2" * 8, "sk-" + "c3D4" * 8, "correct horse battery", "AKIA" + "Q" * 16]
IN_PLAIN = ["128", "tokenizer of gpt2", "plain"]


def x(name: str, ts: int, **args: Any) -> dict[str, Any]:
    event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 1}
    return {**event, "args": args}


EVENTS = [
    x(f"login with {PLANTED[0]}", 1),
    x("call", 2, headers={"Authorization": f"Bearer {PLANTED[1]}"}, tokens="128", kind="plain"),
    x("connect", 3, settings=[{"db_password": PLANTED[2]}], num_tokens=128),
    {**x("read", 4), "cat": "python_function", "name": f"f.py(1): {PLANTED[3]}"},
    {"ph": "i", "name": "note", "ts": 5, "pid": 1, "tid": 1, "args": {"api_key": PLANTED[2]}},
]
ARGUMENTS = ["run.py", "--hf-token", PLANTED[2], "--tokens", "128", f"--api-key={PLANTED[1]}"]
METADATA = {"env": {"HF_TOKEN": PLANTED[0], "CI_KEY": PLANTED[2], "note": "tokenizer of gpt2"}}


def all_that_a_store_holds(store: ingest.Store) -> str:
    """Every value of every table as text, because the bytes of Parquet files are compressed."""
    with ingest.connect(store.path) as connection:
        tables = connection.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal")
        return "\n".join(
            str(row)
            for (table,) in tables.fetchall()
            for row in connection.sql(f"FROM {table}").fetchall()
        )


def all_bytes(store: ingest.Store) -> bytes:
    return b"".join(path.read_bytes() for path in store.path.rglob("*") if path.is_file())


@pytest.fixture
def run(tmp_path: Path) -> Path:
    directory = tmp_path / "run"
    directory.mkdir()
    trace = {**METADATA, "traceEvents": EVENTS}
    (directory / "trace.json").write_text(json.dumps(trace))
    said = {"name": "r", "tags": {"team": f"key {PLANTED[1]}"}, "arguments": ARGUMENTS}
    (directory / "run.json").write_text(json.dumps(said))
    return directory


def test_no_table_holds_a_secret(run: Path, tmp_path: Path) -> None:
    store = ingest.Store(tmp_path / "store")
    [warnings] = [s.warnings for s in store.add(run).sources if s.kind == "kineto"]
    held, stored = all_that_a_store_holds(store), all_bytes(store)
    for secret in PLANTED:
        assert secret not in held
        assert secret.encode() not in stored
    for value in IN_PLAIN:
        assert value in held
    assert "login with [redacted]" in held
    assert "5 events held what looks like a secret: redacted" in warnings


def test_what_is_asked_for_is_kept(run: Path, tmp_path: Path) -> None:
    store = ingest.Store(tmp_path / "store")
    store.add(run, ingest.RunLabels(keep_metadata=True))
    held = all_that_a_store_holds(store)
    assert all(secret in held for secret in PLANTED)


def test_no_sample_leaves_its_token_in_the_store(sample_store: Path, samples: Path) -> None:
    store = ingest.Store(sample_store)
    with ingest.connect(sample_store) as connection:
        assert connection.sql(
            "SELECT count(*) FROM sources WHERE meta LIKE '%[redacted]%'"
        ).fetchall() > [(0,)]
        for table, column in (("sources", "meta"), ("events", "args"), ("other_events", "event")):
            found = connection.execute(
                f"SELECT count(*) FROM {table} WHERE contains({column}, $1)", [TOKEN]
            ).fetchall()
            assert found == [(0,)]
    assert TOKEN.encode() not in all_bytes(store)


@pytest.mark.parametrize(
    "value",
    [
        {"credentials": {"user": "u", "value": "s"}},
        {"tokens": {"first": "abc"}},
        {"accessKey": "v", "private key": 1},
        {"db_pass": "v", "auth": "v"},
        ["--password", "v"],
        "postgres://user:pw@host/db",
        "WANDB_API_KEY=v python run.py",
        '{"api_key": "v"}',
        "Bearer abcdefghijkl",
    ],
)
def test_a_secret_is_known_by_its_key_or_its_form(value: Any) -> None:
    assert "[redacted]" in json.dumps(redact(value))


@pytest.mark.parametrize(
    "value",
    [
        {"num_tokens": 128, "tokens": "128", "eos_token": "</s>", "pad_token": "[PAD]"},
        {"cache_key": "fx_123", "fusion_key": [1, 2]},
        "mask-generation-pipeline-large",
        "/runs/task-0123456789abcdefghijkl/x",
        "MonkeyJson.parser.load",
        "tokenizer.py(3): get_tokens",
        ["--num-tokens", "128", "--token"],
        {"password": None, "secret": False},
    ],
)
def test_what_only_sounds_like_one_is_kept(value: Any) -> None:
    assert redact(value) == value
