"""Secrets of all kinds in all fields are not stored. Harmless texts in all fields are."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import betterleaks
import duckdb
import pytest

import ingest
from ingest.redaction.rule import Rule
from ingest.redaction.rules import KEYWORDS, RULES
from ingest.redaction.secrets import REDACTED, redact, redact_text
from tests.ingest.redaction.innocent import INNOCENT, NAMES_OF_SECRETS
from tests.ingest.redaction.kinds import GROUPS, KINDS, ROWS, SEED, SETTINGS, planted
from tests.ingest.redaction.places import LABELS, OF_RUN_JSON, is_file_name, write_run

pytestmark = pytest.mark.slow  # plants every kind of secret everywhere

# The tests search for the first and the last characters of a secret's part; every part has at
# least `START`. More of them make sure that no other text has the same.
START, SURE = 8, 12
SINGLE = ("anyscale", "header")  # kinds for fields that occur once in a run


def stored(store: ingest.Store) -> str:
    """Return all values of all tables, the manifests, and the run ids, each once."""
    with duckdb.connect() as connection:
        stored_text = list(store.run_ids())
        stored_text += [path.read_text() for path in store.path.rglob("manifest.json")]
        for path in store.path.rglob("*.parquet"):
            stored_text += map(str, connection.sql(f"FROM '{path}'").fetchall())
    return "\n".join(dict.fromkeys(stored_text))


def found(stored_text: str, planted_pairs: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the pairs of a kind of secret and a field whose secret is in a store's text."""
    needles: dict[str, list[tuple[str, str, str]]] = {}
    for kind, field in planted_pairs:
        for part in planted(kind, field)[1]:
            for needle in (part[:SURE].casefold(), part[-SURE:].casefold()):
                needles.setdefault(needle[:START], []).append((needle, kind, field))
    stored_text = stored_text.casefold()
    return {
        (kind, field)
        for n in range(len(stored_text))
        if (start := stored_text[n : n + START]) in needles
        for needle, kind, field in needles[start]
        if stored_text.startswith(needle, n)
    }


@pytest.fixture(scope="module")
def planting(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A run directory with secrets of all kinds in all fields, and the names of the fields."""
    fields: list[str] = []

    def texts(field: str) -> list[str]:
        fields.append(field)
        return [planted(kind, field)[0] for kind in kinds_in(field)]

    return write_run(tmp_path_factory.mktemp("planting") / "run", texts), fields


def kinds_in(field: str) -> list[str]:
    """Return the kinds of the texts in a field. Names of files have no room for groups."""
    return [*KINDS, *ROWS] if field == "file name" else [*SETTINGS, *GROUPS]


def pairs(fields: Iterable[str]) -> list[tuple[str, str]]:
    """Return all kinds of secrets in fields, with the field. Print how to make the same again."""
    print(f"SECRETS_SEED={SEED}")
    return [(kind, field) for field in fields for kind in kinds_in(field)]


@pytest.fixture(scope="module")
def stored_planting(
    planting: tuple[Path, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> str:
    """Everything that is stored of the run directory."""
    store = ingest.Store(tmp_path_factory.mktemp("planted") / "store")
    store.add(planting[0])
    return stored(store)


def test_no_kind_of_secret_is_stored_from_any_field(
    planting: tuple[Path, list[str]], stored_planting: str
) -> None:
    assert len(KINDS) > 220
    assert len(ROWS) > 240
    assert len(planting[1]) > 45
    assert found(stored_planting, pairs(planting[1])) == set()


def test_another_engine_finds_no_secret_in_what_is_stored(stored_planting: str) -> None:
    print(f"SECRETS_SEED={SEED}")
    every_kind = "\n".join(planted(kind)[0] for kind in (*KINDS, *ROWS))
    assert len({rule for rule, _ in known_to_betterleaks(every_kind)}) > 70
    assert known_to_betterleaks(stored_planting) == []


def test_another_engine_finds_no_secret_in_the_stored_samples(sample_store: Path) -> None:
    assert known_to_betterleaks(words(sample_store)) == []


def words(store: Path) -> str:
    """Return the different texts of traces in a store that have a word as long as a token's."""
    texts: set[str] = set()
    with ingest.connect(store) as connection:
        for table in ("events", "other_events", "runs", "sources"):  # other tables repeat these
            for column, kind, *_ in connection.sql(f"DESCRIBE FROM {table}").fetchall():
                if "VARCHAR" in kind or "JSON" in kind:
                    has_word = f"regexp_matches({column}::VARCHAR, '[A-Za-z0-9_-]{{16}}')"
                    query = f"SELECT DISTINCT {column}::VARCHAR FROM {table} WHERE {has_word}"
                    texts.update(text for (text,) in connection.sql(query).fetchall())
    return "\n".join(sorted(texts))


def known_to_betterleaks(text: str) -> list[tuple[str, str]]:
    """Return the rules and secrets of betterleaks in a text, except of its generic rules."""
    return [
        (finding.rule_id, finding.match.full)
        for finding in betterleaks.scan_string(text)
        if not finding.rule_id.startswith("generic")
    ]


def test_secrets_that_are_kept_are_found(
    planting: tuple[Path, list[str]], store: ingest.Store
) -> None:
    run, fields = planting
    store.add(run, ingest.AddOptions(keep_metadata=True))
    kept = stored(store)
    missing = {*pairs(fields)} - found(kept, pairs(fields))
    assert missing == {
        (kind, "file name")
        for kind in kinds_in("file name")
        if not is_file_name(planted(kind, "file name")[0])
    }


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
    assert found(stored(store), [(kind, field) for field in fields]) == set()
    store.remove(store.run_ids()[0])
    store.add(directory, options)
    store.add(trace)
    assert len(store.run_ids()) == 2
    assert found(stored(store), [(kind, field) for field in fields]) == set()


def test_harmless_texts_are_stored_unchanged(tmp_path: Path, store: ingest.Store) -> None:
    def texts(field: str) -> list[str]:
        if field.endswith("key"):
            return [text for text in INNOCENT if text not in NAMES_OF_SECRETS]
        if field.endswith("file"):  # `.py` follows, which is not a value
            return [text for text in INNOCENT if not re.search("[=:]|--| is |(?i:bearer)", text)]
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
    kinds = [kind for kind in (*KINDS, *ROWS) if kind.split()[0] == word]
    texts = [planted(kind, where)[0] for kind in kinds for where in "abcd"]
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
    texts = [planted(kind)[0] for kind in (*KINDS, *ROWS)]
    texts += [json.dumps({"a": [text]}) for text in texts]
    query = "SELECT text FROM (SELECT unnest($1) AS text) WHERE NOT regexp_matches(text, $2)"
    assert re2.execute(query, [texts, KEYWORDS]).fetchall() == []
    assert [text for text in texts if redact_text(text) == text] == []
