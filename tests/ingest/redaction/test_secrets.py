"""Secrets in profiles: none of them is anywhere in a store, except on request."""

import json
from pathlib import Path
from typing import Any

import pytest

import ingest
from ingest.redaction.secrets import redact
from tests.builders.events import Event, op
from tests.conftest import Ranks

TOKEN = "hf_EXAMPLEexampleEXAMPLEexampleEXAMPLE"
PLANTED = ["hf_" + "a1B2" * 8, "sk-" + "c3D4" * 8, "correct horse battery", "AKIA" + "Q" * 16]
IN_PLAIN = ["128", "tokenizer of gpt2", "plain"]


def x(name: str, ts: int, **args: Any) -> Event:
    return op(name, ts, args=args)


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
    """Return every value of every table as text, because Parquet files are compressed."""
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
    description = {"name": "r", "tags": {"team": f"key {PLANTED[1]}"}, "arguments": ARGUMENTS}
    (directory / "run.json").write_text(json.dumps(description))
    return directory


def test_no_table_holds_a_secret(run: Path, store: ingest.Store) -> None:
    [warnings] = [s.warnings for s in store.add(run).sources if s.kind == "kineto"]
    held, stored = all_that_a_store_holds(store), all_bytes(store)
    for secret in PLANTED:
        assert secret not in held
        assert secret.encode() not in stored
    for value in IN_PLAIN:
        assert value in held
    assert "login with [redacted]" in held
    assert "redacted text that looks like a secret in 5 events" in warnings


def test_secrets_are_kept_on_request(run: Path, store: ingest.Store) -> None:
    store.add(run, ingest.AddOptions(keep_metadata=True))
    held = all_that_a_store_holds(store)
    assert all(secret in held for secret in PLANTED)


PRIVATE_KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{'MIIE' * 16}\n{'a1+/' * 9}==\n"
END = "-----END RSA PRIVATE KEY-----"


def test_a_private_key_is_redacted_completely(ranks: Ranks) -> None:
    def trace(newline: str, end: str, after: str) -> dict[str, Any]:
        key = (PRIVATE_KEY + end).replace("\n", newline)
        events = [x(f"load {key}{after}", 1), x("b", 2, pem=f"x {key}{after}")]
        return {
            "pem": f"SSH={key}{after}",
            "lines": ["a", *key.split("\n")],
            "traceEvents": events,
        }

    endings = [(END, " and on"), ("", "")]
    cases = [(newline, *ending) for newline in ("\n", "\\n", "") for ending in endings]
    ranks.add(*[trace(*case) for case in cases])
    held = all_that_a_store_holds(ranks.store)
    for part in ("MIIE", "a1+/", "PRIVATE KEY"):
        assert part not in held
    names = ranks.rows("SELECT rank, name FROM events WHERE name <> 'b'")
    assert names == [[(f"load [redacted]{after}",)] for *_, after in cases]


def test_labels_of_the_command_are_redacted(
    samples: Path, store: ingest.Store, tmp_path: Path
) -> None:
    labels = {"name": f"try {PLANTED[0]}", "tags": {"wandb_api_key": "v", "tokens": "128"}}
    file = samples / "traces" / "cpu_only.json.gz"
    assert store.add(file, ingest.AddOptions(**labels)).run_id.startswith("try-redacted-")
    with ingest.connect(store.path) as connection:
        for table in ("runs", "run_overview"):
            rows = connection.sql(f"SELECT name, tags FROM {table}").fetchall()
            tags = {"wandb_api_key": "[redacted]", "tokens": "128"}
            assert rows == [("try [redacted]", tags)]
    kept = ingest.Store(tmp_path / "kept")
    kept.add(file, ingest.AddOptions(**labels, keep_metadata=True))
    assert ingest.connect(kept.path).sql("SELECT tags['wandb_api_key'] FROM runs").fetchall() == [
        ("v",)
    ]


def test_no_column_of_an_event_holds_a_secret(traces: Any) -> None:
    columns = ("cat", "pid", "tid", "id", "name")
    events = [{**x("a", i), column: PLANTED[0]} for i, column in enumerate(columns)]
    events += [
        {**x("a", 7), "cat": "SECRET_KEY=hidden", "pid": "token=hidden"},
        {**x("password=hidden", 8), "tid": "--api-key hidden"},
        {"ph": "s", "name": "flow", "id": PLANTED[0], "pid": 1, "tid": 1, "ts": 1},
    ]
    connection = traces.add(events)
    held = all_that_a_store_holds(traces.store)
    assert PLANTED[0] not in held
    assert "hidden" not in held
    assert connection.sql("SELECT warnings FROM sources").fetchall() == [
        (["redacted text that looks like a secret in 8 events"],)
    ]


def test_an_event_whose_input_is_a_secret_counts_once(traces: Any) -> None:
    inputs = {"Concrete Inputs": ["", PLANTED[0], ""], "Input Dims": [[2], [], [3]]}
    connection = traces.add([{**x("a", 1), "cat": "cpu_op", "args": inputs}])
    assert PLANTED[0] not in all_that_a_store_holds(traces.store)
    assert connection.sql("SELECT warnings FROM sources").fetchall() == [
        (["redacted text that looks like a secret in 1 event"],)
    ]
    assert connection.sql("SELECT input_dims, concrete_inputs FROM ops").fetchall() == [
        ("[[2],[],[3]]", '["","[redacted]",""]')
    ]


def test_json_that_python_cannot_read_is_redacted(ranks: Ranks) -> None:
    values = ["nan", "1" * 5000, "[" * 600 + "]" * 600, "[" * 9000 + "]" * 9000]
    events = json.dumps([x("a", 1, odd=0, api_key=5, list=["b", PLANTED[0]], tokens="12")])
    ranks.add(*[events.replace('"odd": 0', f'"odd": {odd}') for odd in values])
    expected = {"api_key": "[redacted]", "list": ["b", "[redacted]"], "tokens": "12"}
    rows = ranks.rows("SELECT rank, args FROM events")
    for odd, [(args,)] in zip(values, rows, strict=True):
        kept = None if odd == "nan" else 0
        assert json.loads(args.replace(odd, "0")) == {"odd": kept, **expected}


def test_values_of_a_key_that_occurs_twice_are_redacted_and_kept(ranks: Ranks) -> None:
    events = json.dumps([x("a", 1, key=PLANTED[0], again="plain")])
    ranks.add(events.replace('"again"', '"key"'))
    expected = '{"key": "[redacted]", "key": "plain"}'
    assert ranks.rows("SELECT rank, args FROM events") == [[(expected,)]]


def test_keys_that_are_redacted_stay_different(ranks: Ranks) -> None:
    ranks.add([{**x("a", 1), "args": {PLANTED[0]: 1, PLANTED[1]: 2}}])
    expected = '{"[redacted]": 1, "[redacted] 2": 2}'
    assert ranks.rows("SELECT rank, args FROM events") == [[(expected,)]]


def test_tokens_of_samples_are_not_stored(sample_store: Path, samples: Path) -> None:
    store = ingest.Store(sample_store)
    with ingest.connect(sample_store) as connection:
        assert connection.sql(
            "SELECT count(*) FROM sources WHERE metadata LIKE '%[redacted]%'"
        ).fetchall() > [(0,)]
        for table, column in (
            ("sources", "metadata"),
            ("events", "args"),
            ("other_events", "event"),
        ):
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
        "Authorization: Basic dXNlcjpwYXNz",
        "python train.py --wandb-key v",
        ["--wandb-key", "v"],
        "curl -s -u user:v https://host",
        "machine host login user password v",
        "https://host/x?X-Amz-Signature=v&y=1",
        {"MY_PAT": "v"},
        [["HF_TOKEN", "a1b2c3"], ["PATH", "/usr"]],
        [{"name": "HF_TOKEN", "value": "v"}],
        {"env": [{"key": "DB_PASSWORD", "value": "v"}]},
        [{"Name": "MY_KEY", "Value": "v"}],
        ["wandb", "login", "0123456789abcdef0123456789abcdef01234567"],
        ["aws", "configure", "set", "aws_secret_access_key", "0123456789abcdef"],
    ],
)
def test_a_secret_is_recognised_by_its_key_or_its_form(value: Any) -> None:
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
        "next-token prediction --tokenizer gpt2 --max-tokens 128 (tokens=2K)",
        "Basic attention of Token::Kind, python -u train.py:main",
        {"key": "q", "signature": "*fp32", "tokens": "2M"},
        {"password": None, "secret": False},
        [["token", "float"], ["key", "query"]],
        [{"name": "token_embedding", "value": "plain"}, {"name": "tokens", "value": 128}],
    ],
)
def test_texts_that_resemble_secrets_are_kept(value: Any) -> None:
    assert redact(value) == value
