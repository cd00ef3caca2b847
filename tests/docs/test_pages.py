"""Lists on single pages are complete, and the paths on them exist."""

import re
from collections.abc import Iterator

from docs.generate import pages
from docs.generate.command_line import ingest_commands
from docs.generate.pages import REPOSITORY
from ingest import sql

CONTRIBUTING = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
COMMANDS = ingest_commands()


def paths_of_contributing() -> Iterator[str]:
    """Yield the paths in backticks and the paths in the indented tree."""
    yield from re.findall(r"`([a-z_]+/[\w./<>]*|\w+\.(?:md|toml))`", CONTRIBUTING)
    package = ""
    for indent, name in re.findall(r"^( {4,})([\w./]+)  ", CONTRIBUTING, re.MULTILINE):
        package = name if len(indent) == 4 else package
        yield name if len(indent) == 4 else f"{package}{name}"


def test_the_paths_in_contributing_exist() -> None:
    """`<name>` is a placeholder for any name."""
    paths = set(paths_of_contributing()) - {"site/"}  # `make docs` writes this directory
    assert len(paths) > 40
    missing = [
        path for path in sorted(paths) if not any(REPOSITORY.glob(re.sub(r"<[a-z]+>", "*", path)))
    ]
    assert missing == []


def test_each_folder_of_tests_says_what_it_needs() -> None:
    tests = REPOSITORY / "tests"
    _, _, listed = (tests / "README.md").read_text(encoding="utf-8").partition("| needs |")
    folders = re.findall(r"`([a-z_/.]+)`", listed)
    found = {str(path.parent.relative_to(tests)) for path in tests.rglob("test_*.py")}
    assert sorted(folders) == sorted(found)


def test_every_command_and_option_has_a_help_text() -> None:
    assert COMMANDS
    without = [name for name, command in COMMANDS.items() if not command.help]
    without += [
        f"{name} {parameter.name}"
        for name, command in COMMANDS.items()
        for parameter in command.params
        if not getattr(parameter, "help", None) and parameter.name != "help"
    ]
    assert without == []


def test_the_page_of_megengine_has_each_option_of_profile_analyze_and_each_table() -> None:
    page = pages.read("from_megengine.md")
    parameters = COMMANDS["profile-analyze"].params
    options = {name for option in parameters for name in option.opts if name[0] == "-"}
    missing = {name for name in options if not re.search(rf"`{name}\b", page)}
    assert missing == {"--store"}  # all commands have it
    topic = next(topic for topic in sql.TOPICS if topic.name == "megengine")
    for file in sql.of_topic(topic):
        assert f"| `{file.name}" in page, file.name


def test_links_within_the_data_dictionary_lead_to_one_heading() -> None:
    text = pages.read("data_dictionary.md")
    anchors = [line.lower().replace(" ", "-") for line in re.findall(r"^#+ (.*)$", text, re.M)]
    assert len(set(anchors)) == len(anchors)
