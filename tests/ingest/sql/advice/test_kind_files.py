"""The files of `ingest/sql/advice/kinds/`."""

import re
from pathlib import Path

import pytest

from ingest import sql
from ingest.conversion.scratch import open_scratch
from ingest.sql import advice_kinds

FILES = sorted(advice_kinds.DIRECTORY.glob("*.sql"))
HEAD = """\
-- Meaning: Something.
-- Title: A title
-- Short title: title
-- Colour: compute
-- Applies to: device
-- Finding: It took {work}.
"""


def test_templates_name_only_values_that_are_filled_in() -> None:
    filled = set(re.findall(r"'(\{\w+\})':", sql.files()["advice_of"].body))
    named = {name for file in FILES for name in re.findall(r"\{\w+\}", file.read_text())}
    assert len(named) > 10
    assert named <= filled


def test_a_kind_has_each_fact_once(tmp_path: Path) -> None:
    """`SELECT *, work_ns AS saved_ns` of a relation that has `saved_ns` would have it twice."""
    with open_scratch(tmp_path / "scratch") as connection:
        connection.execute("USE of_run")
        for kind, (_, query) in advice_kinds._kinds().items():
            columns = connection.sql(query).columns if query else []
            assert len(columns) == len(set(columns)), kind


def test_stored_facts_do_not_depend_on_texts() -> None:
    """Otherwise a new sentence would make all stored runs outdated."""
    bodies = {name: file.body for name, file in sql.files().items()}
    texts = ("Idle: loading data", "while data was loaded")
    assert all(text in bodies["advice_kinds"] for text in texts)
    assert not any(text in bodies["advice_facts"] for text in texts)
    [reads] = [node.reads for node in sql.nodes("scratch") if node.name == "advice_facts"]
    assert "advice_kinds" not in reads


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-- Title: Another", "Title is repeated"),
        ("-- Needs: launch", "Needs: launch is unknown"),
        ("-- Names: frame", "Names: frame is unknown"),
        ("-- Titel: A title", "Titel is not one of"),
    ],
)
def test_errors_in_a_file_are_named(line: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "kind.sql"
    file.write_text(HEAD + line + "\n")
    with pytest.raises(ValueError, match=message):
        advice_kinds._read(file)


def test_a_file_without_a_title_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "kind.sql"
    file.write_text(HEAD.replace("-- Title: A title\n", ""))
    with pytest.raises(ValueError, match="Title is missing"):
        advice_kinds._read(file)
