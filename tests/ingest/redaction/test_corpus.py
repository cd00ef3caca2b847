"""Secrets of all kinds in all fields are not stored. Harmless texts in all fields are."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import ingest
from ingest.redaction.rule import Rule
from ingest.redaction.rules import KEYWORDS, NAMES, RULES, condition
from ingest.redaction.secrets import REDACTED, redact, redact_text
from tests.ingest.redaction.innocent import INNOCENT, NAMES_OF_SECRETS
from tests.ingest.redaction.kinds import KINDS, planted
from tests.ingest.redaction.places import LABELS, OF_RUN_JSON, write_run

# The tests search for the first characters of a secret's part; every part has at least this many.
START = 8
SINGLE = ("anyscale", "header")  # kinds for fields that occur once in a run


def stored(store: ingest.Store) -> str:
    """Return all values of all tables, the manifests, and the run ids, in lower case."""
    with duckdb.connect() as connection:
        stored_text = list(store.run_ids())
        stored_text += [path.read_text() for path in store.path.rglob("manifest.json")]
        for path in store.path.rglob("*.parquet"):
            stored_text += map(str, connection.sql(f"FROM '{path}'").fetchall())
    return "\n".join(stored_text).casefold()


def found(stored_text: str, kinds: list[str], fields: list[str]) -> set[tuple[str, str]]:
    """Return the kinds of secrets in a store's text, each with its field."""
    starts = {
        part[:START].casefold(): (kind, field)
        for kind in kinds
        for field in fields
        for part in planted(kind, field)[1]
    }
    return {
        starts[part]
        for n in range(len(stored_text))
        if (part := stored_text[n : n + START]) in starts
    }


@pytest.fixture
def planting(tmp_path: Path) -> tuple[Path, list[str]]:
    """A run directory with secrets of all kinds in all fields, and the names of the fields."""
    fields: list[str] = []

    def texts(field: str) -> list[str]:
        fields.append(field)
        return [planted(kind, field)[0] for kind in KINDS]

    return write_run(tmp_path / "run", texts), fields


def test_no_kind_of_secret_is_stored_from_any_field(
    planting: tuple[Path, list[str]], store: ingest.Store
) -> None:
    run, fields = planting
    store.add(run)
    assert len(KINDS) > 60
    assert len(fields) > 31
    assert found(stored(store), list(KINDS), fields) == set()


def test_secrets_that_are_kept_are_found(
    planting: tuple[Path, list[str]], store: ingest.Store
) -> None:
    run, fields = planting
    store.add(run, ingest.AddOptions(keep_metadata=True))
    missing = {(kind, field) for kind in KINDS for field in fields} - found(
        stored(store), list(KINDS), fields
    )
    not_a_name = {kind for kind in KINDS if "/" in planted(kind)[0] or len(planted(kind)[0]) > 200}
    assert missing <= {(kind, "file name") for kind in not_a_name}


@pytest.mark.parametrize("kind", SINGLE)
def test_no_secret_is_stored_from_a_field_that_occurs_once(
    kind: str, tmp_path: Path, store: ingest.Store
) -> None:
    def text_of(field: str) -> str:
        return planted(kind, field)[0].replace("/", "")[:200]

    options = ingest.AddOptions()
    for field, label in LABELS.items():
        given = {name: value for name, value in vars(label(text_of(field))).items() if value}
        options = replace(options, **{**given, "tags": options.tags | given.get("tags", {})})
    directory = tmp_path / text_of("directory")
    directory.mkdir()
    trace = directory / f"{text_of('trace')}.json"
    trace.write_text(json.dumps({"traceEvents": []}))
    (directory / "run.json").write_text(
        json.dumps({key: text_of(key) for key in OF_RUN_JSON if key != "name"})
    )
    store.add(directory)
    store.add(directory, options)
    fields = [*LABELS, *OF_RUN_JSON, "directory", "trace"]
    assert len(store.run_ids()) == 1
    assert found(stored(store), [kind], fields) == set()
    store.remove(store.run_ids()[0])
    store.add(directory, options)
    store.add(trace)
    assert len(store.run_ids()) == 2
    assert found(stored(store), [kind], fields) == set()


def test_harmless_texts_are_stored_unchanged(tmp_path: Path, store: ingest.Store) -> None:
    def texts(field: str) -> list[str]:
        if field.endswith("key"):
            return [text for text in INNOCENT if text not in NAMES_OF_SECRETS]
        if field.endswith("file"):  # `.py` follows, which is not a value
            return [text for text in INNOCENT if not re.search("[=:]|--|(?i:bearer)", text)]
        return INNOCENT

    store.add(write_run(tmp_path / "run", texts))
    assert len(INNOCENT) > 170
    with ingest.connect(store.path) as connection:
        names = {name for (name,) in connection.sql("SELECT name FROM events").fetchall()}
        assert set(INNOCENT) <= names
    assert REDACTED not in stored(store)


def test_harmless_texts_are_not_secrets() -> None:
    values = [
        value for text in INNOCENT for value in (text, [text], {"x": text}, ["run", text, "x"])
    ]
    assert [value for value in values if redact(value) != value] == []


def test_no_text_of_a_sample_is_mistaken_for_a_secret(
    store_of_samples: duckdb.DuckDBPyConnection,
) -> None:
    for table in ("events", "other_events", "frames"):
        [(count,)] = store_of_samples.execute(
            f"SELECT count(*) FROM {table} WHERE contains({table}::VARCHAR, $1)", [REDACTED]
        ).fetchall()
        assert count == 0


@pytest.fixture(scope="module")
def re2() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to search texts with RE2."""
    with duckdb.connect() as connection:
        yield connection


def finds_its_kind(rule: Rule, re2: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the pattern of a rule matches a text of its kind that has its keywords."""
    word, words = rule.kind.split()[0], rule.keywords.split()
    texts = [planted(kind)[0] for kind in KINDS if kind.split()[0] == word]
    query = "SELECT bool_or(regexp_matches(text, $2)) FROM (SELECT unnest($1) AS text)"
    with_keyword = [
        text
        for text in texts
        if not rule.keywords or any(w in (text.lower() if w.islower() else text) for w in words)
    ]
    return re2.execute(query, [with_keyword, rule.pattern]).fetchall() == [(True,)]


def test_each_rule_finds_a_kind_by_its_keywords_and_its_pattern(
    re2: duckdb.DuckDBPyConnection,
) -> None:
    assert RULES
    assert [rule.kind for rule in RULES if not finds_its_kind(rule, re2)] == []


def test_re2_finds_what_python_redacts(re2: duckdb.DuckDBPyConnection) -> None:
    texts = [planted(kind)[0] for kind in KINDS]
    texts += [json.dumps({"a": [text]}) for text in texts]
    query = f"""
    SELECT text FROM (SELECT unnest($1) AS text)
    WHERE NOT regexp_matches(text, $2) OR NOT (regexp_matches(text, $3) OR {condition("text")})
    """
    assert re2.execute(query, [texts, KEYWORDS, NAMES]).fetchall() == []
    assert [text for text in texts if redact_text(text) == text] == []
