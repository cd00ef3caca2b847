"""Generated pages of the docs, and results on pages, are up to date."""

from pathlib import Path

import pytest

import ingest
from docs.generate import compared_figures, examples, known_work, pages
from docs.generate.command_line import command_line
from docs.generate.dictionary import data_dictionary
from docs.generate.run_json import with_keys
from docs.generate.sql_graph import sql_graph
from tests.helpers.samples import Samples


def test_the_data_dictionary_is_up_to_date() -> None:
    assert pages.read("data_dictionary.md") == data_dictionary()


def test_the_graph_of_the_sql_is_up_to_date() -> None:
    assert pages.read("sql_graph.md") == sql_graph()


def test_the_page_of_the_command_line_is_up_to_date() -> None:
    assert pages.read("command_line.md") == command_line()


def test_the_keys_of_run_json_are_up_to_date() -> None:
    assert pages.read("capture.md") == with_keys(pages.read("capture.md"))


@pytest.mark.parametrize("page", examples.RUNS)
def test_a_page_shows_what_its_commands_and_queries_return(
    page: str, sampled: Samples, tmp_path: Path
) -> None:
    text = pages.read(page)
    assert examples.COMMAND.search(text) or examples.QUERY.search(text)
    if "$ ingest add" in text:
        assert examples.page_with_results(page, text, sampled.directory) == text
    else:
        store = sampled.store(*examples.RUNS[page])
        assert examples.with_results(text, store, tmp_path) == text


def test_the_compared_figures_are_those_of_the_samples(sampled: Samples, samples: Path) -> None:
    store = ingest.Store(sampled.store(*compared_figures.RUNS))
    sections = compared_figures.compared(store, samples / "expected")
    assert pages.read(compared_figures.PAGE) == compared_figures.page(sections)
    assert not any(each.unexplained() for part in sections.values() for each in part)


def test_the_page_of_known_work_is_that_of_the_samples(sampled: Samples) -> None:
    store = ingest.Store(sampled.store(*known_work.RUNS))
    assert pages.read(known_work.PAGE) == known_work.page(store)
