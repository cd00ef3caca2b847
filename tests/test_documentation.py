"""Documentation stays up to date: it is generated, or compared with the code."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from duckdb import DuckDBPyConnection as Connection
from typer.main import get_command

import ingest
from docs import compared_figures, generate, worked_questions
from ingest import connect, sql
from ingest.cli.commands import app
from tests.samples import TWO_RANKS, Samples

REPOSITORY = Path(__file__).parent.parent
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")


def paths_of_contributing() -> set[str]:
    """Return the paths in backticks and those in the indented tree."""
    paths = set(re.findall(r"`([a-z_]+/[\w./<>]*|\w+\.(?:md|toml))`", CONTRIBUTING))
    package = ""
    for indent, name in re.findall(r"^( {4,})([\w./]+)  ", CONTRIBUTING, re.MULTILINE):
        package = name if len(indent) == 4 else package
        paths.add(name if len(indent) == 4 else f"{package}{name}")
    return paths


@pytest.mark.parametrize("path", sorted(paths_of_contributing()))
def test_contributing_names_what_exists(path: str) -> None:
    """`<name>` matches any name."""
    assert list(REPOSITORY.glob(re.sub(r"<[a-z]+>", "*", path)))


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A connection to an empty store, with views as arguments for macros that take a table name."""
    store = ingest.Store(tmp_path_factory.mktemp("documented") / "store")
    with connect(store.path) as opened:
        opened.execute("CREATE TEMP VIEW asked AS FROM memory_timeline")
        opened.execute(
            "CREATE TEMP VIEW compared AS SELECT *, 1 AS steps, TRUE AS is_coarse, "
            "FALSE AS is_fused FROM compared_work_items('1', '1')"
        )
        for view, source in {
            "executed": "compiled_programs('compared', '1', '1')",
            "slotted": "program_slots('compared', 'executed')",
            "listed": "fused_kernel_ops('compared')",
        }.items():
            opened.execute(f"CREATE TEMP VIEW {view} AS FROM {source}")
        opened.execute("CREATE TEMP VIEW stacked AS FROM memory_stacks_at('asked')")
        opened.execute("CREATE TEMP VIEW called AS FROM calls_of_stacks('stacked')")
        opened.execute("CREATE TEMP VIEW named AS SELECT *, '' AS steps_name FROM run_metrics")
        yield opened


def test_the_data_dictionary_matches_the_sql() -> None:
    assert generate.DICTIONARY.read_text(encoding="utf-8") == generate.data_dictionary()


def test_links_within_the_data_dictionary_are_unambiguous() -> None:
    text = generate.DICTIONARY.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    anchors = [heading.lower().replace(" ", "-") for heading in headings]
    assert len(set(anchors)) == len(anchors)
    assert set(re.findall(r"\(#([^)]*)\)", text)) <= set(anchors)


def test_the_questions_show_the_results_of_their_queries(sampled: Samples) -> None:
    page = generate.QUESTIONS.read_text(encoding="utf-8")
    assert len(worked_questions.QUESTION.findall(page)) >= 10
    store = sampled.store(*worked_questions.RUNS)
    assert worked_questions.questions(page, store) == page


WORKERS = ("v100_resnet50_workers0", "v100_resnet50_workers4")
NCCL = ("nccl_training_control", "nccl_training_test")


@pytest.mark.parametrize(
    ("tool", "fewest", "runs"),
    [
        ("tensorboard", 15, (*WORKERS, TWO_RANKS, "flux_eager_full")),
        ("hta", 12, (*NCCL, "mi300_resnet_ddp_rank0")),
        ("tracelens", 12, (*WORKERS, "b200_gptoss")),
    ],
)
def test_the_queries_for_users_of_other_tools_return_rows(
    tool: str, fewest: int, runs: tuple[str, ...], sampled: Samples
) -> None:
    page = (REPOSITORY / "docs" / f"from_{tool}.md").read_text(encoding="utf-8")
    queries = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    assert len(queries) >= fewest
    with connect(sampled.store(*runs)) as opened:
        for query in queries:
            rows = opened.execute(query).fetchall()
            assert rows or "[pl]" in query, query  # no sample uses Lightning
    assert_that_commands_have_their_options(page)


def assert_that_commands_have_their_options(page: str) -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for command, options in re.findall(r"^\$ ingest ([\w-]+)(.*)$", page, re.MULTILINE):
        known = {name for option in commands[command].params for name in option.opts}
        assert set(re.findall(r"--[\w-]+", options)) <= known


def test_the_megengine_page_shows_the_results_of_its_queries(sampled: Samples) -> None:
    page = generate.MEGENGINE_PAGE.read_text(encoding="utf-8")
    assert len(worked_questions.QUESTION.findall(page)) >= 8
    store = sampled.store(*worked_questions.MEGENGINE)
    assert worked_questions.questions(page, store) == page
    of_options = re.findall(r"`((?:FROM|SELECT) [^`]*)`", page)
    assert len(of_options) >= 15
    with connect(store) as opened:
        for query in of_options:
            assert opened.execute(query).fetchall(), query
    assert_that_commands_have_their_options(page)


def test_the_megengine_page_names_each_option_and_table() -> None:
    page = generate.MEGENGINE_PAGE.read_text(encoding="utf-8")
    command = get_command(app).commands["profile-analyze"]  # type: ignore[attr-defined]
    options = {name for option in command.params for name in option.opts if name[0] == "-"}
    missing = {name for name in options if not re.search(rf"`{name}\b", page)}
    assert missing == {"--store"}  # this option is common to all commands
    topic = next(topic for topic in sql.TOPICS if topic.name == "megengine")
    for file in sql.of_topic(topic):
        assert f"| `{file.name}" in page, file.name


def test_the_compared_figures_match_the_samples(sampled: Samples, samples: Path) -> None:
    store = ingest.Store(sampled.store(*compared_figures.RUNS))
    sections = compared_figures.compared(store, samples / "expected")
    assert compared_figures.PAGE.read_text(encoding="utf-8") == compared_figures.page(sections)
    assert not any(each.unexplained() for part in sections.values() for each in part)


def test_the_graph_of_the_sql_matches_the_sql() -> None:
    assert generate.GRAPH.read_text(encoding="utf-8") == generate.sql_graph()


def test_the_keys_of_run_json_match_the_code() -> None:
    page = generate.CAPTURE.read_text(encoding="utf-8")
    assert generate.capture_page(page) == page


def test_the_readme_shows_the_output_of_the_commands(samples: Path) -> None:
    trace = samples / "traces" / generate.EXAMPLE
    assert generate.BLOCK.search(README)
    assert generate.readme(README, trace) == README


@pytest.mark.parametrize("file", [*sql.tables(), *sql.views()], ids=lambda file: file.name)
def test_every_column_is_documented(file: sql.SqlFile, connection: Connection) -> None:
    columns = [row[0] for row in connection.sql(f"DESCRIBE {file.name}").fetchall()]
    assert list(file.documentation.columns) == columns
    assert file.documentation.summary
    assert file.documentation.row
    commented = connection.execute(
        "SELECT count(*) FROM duckdb_columns() WHERE table_name = $1 AND comment IS NULL",
        [file.name],
    )
    assert commented.fetchall() == [(0,)]


@pytest.mark.parametrize("macro", sql.macros(), ids=lambda file: file.name)
def test_every_column_of_a_macro_is_documented(macro: sql.SqlFile, connection: Connection) -> None:
    signature = re.search(rf"CREATE MACRO {macro.name}\(([^)]*)\)", macro.body)
    assert signature
    known = {"moments": "'asked'", "work_items": "'compared'", "programs": "'executed'"}
    known |= {"facts": "'advice_facts'", "measured": "'named'"}
    known |= {"calls": "'called'", "stacks": "'stacked'"}
    known |= {"slots": "'slotted'", "ops_in_names": "'listed'"}
    known |= {"base": "'1'", "other": "'1'", "bases": "['1']", "others": "['1']"}
    needed = [name.strip() for name in signature[1].split(",") if name and ":=" not in name]
    arguments = ", ".join(known.get(name, "1") for name in needed)
    columns = connection.sql(f"DESCRIBE FROM {macro.name}({arguments})").fetchall()
    assert list(macro.documentation.columns) == [row[0] for row in columns]


@pytest.mark.parametrize("path", sorted((REPOSITORY / "ingest" / "sql").rglob("*.sql")), ids=str)
def test_every_sql_file_begins_with_a_header(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("-- ")


def test_the_sql_uses_the_shared_placeholder_names() -> None:
    """A literal in brackets replaces a missing name and must be in `ingest.names`."""
    names = {name for name in vars(ingest.names).values() if isinstance(name, str)}
    for path in (REPOSITORY / "ingest" / "sql").rglob("*.sql"):
        lines = path.read_text(encoding="utf-8").splitlines()
        statement = "\n".join(line for line in lines if not line.startswith("--"))
        for written in re.findall(r"'(\((?:no|not|before) [a-z ]+\))'", statement):
            assert written in names, f"{path}: {written}"


def test_every_command_and_option_has_help_and_is_in_the_readme() -> None:
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        assert command.help, name
        assert f"ingest {name}" in README, name
        for parameter in command.params:
            assert getattr(parameter, "help", None) or parameter.name == "help", (
                f"{name} {parameter.name}"
            )
