"""Regenerates the docs that come from the code, and example output in other docs.

    python -m docs.generate            the data dictionary, the graph of the SQL, keys of run.json
    python -m docs.generate SAMPLES    also the README, the worked questions and the page of
                                       MegEngine, with output for the sample profiles in this
                                       directory

A block of the README is fenced with ```console and begins with `$ ingest …`. The lines after the
command are its output. A query of the other two is fenced with ```sql, and the table below it is
its result.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from capture.output.run_json import KEYS
from docs.dictionary import data_dictionary
from docs.markdown import cell
from docs.worked_questions import MEGENGINE, RUNS, questions, store_of
from ingest import sql

REPOSITORY = Path(__file__).parent.parent
DICTIONARY = REPOSITORY / "docs" / "data_dictionary.md"
GRAPH = REPOSITORY / "docs" / "sql_graph.md"
README = REPOSITORY / "README.md"
CAPTURE = REPOSITORY / "docs" / "capture.md"
QUESTIONS = REPOSITORY / "docs" / "questions.md"
MEGENGINE_PAGE = REPOSITORY / "docs" / "megengine.md"
SHAPES = {"staged": "[({})]", "load": "[{}]", "tables": "[[{}]]", "views": "({})"}
KEYS_HEAD = "| key | meaning |\n| --- | --- |\n"
EXAMPLE = "h100_owlv2.json.gz"
BLOCK = re.compile(r"```console\n\$ (ingest [^\n]*)\n.*?```", re.DOTALL)
SECONDS = re.compile(r"\d+\.\d s\b")


def sql_graph() -> str:
    """Return the text of `docs/sql_graph.md`: a diagram per topic of what each relation reads."""
    reads = {node.name: node.reads for node in sql.nodes("catalog")}
    reads |= {node.name: node.reads for node in sql.nodes("scratch")}
    relations = {
        name: file
        for name, file in sql.files().items()
        if name in reads and (not file.macro or file.kind == "views")
    }
    lines = [
        "# What the SQL reads",
        "",
        "Generated from the files in `ingest/sql` by `make docs`. An arrow goes from a relation to "
        "one that reads it. Cylinders are staged tables, which readers of files fill; boxes are "
        "relations on the way; double boxes are stored tables; rounded ones are views, and macros, "
        "which are views with parameters. Dashed boxes belong to another topic.",
    ]
    for topic in sql.TOPICS:
        own = [name for name, file in sorted(relations.items()) if file.topic == topic.name]
        edges = [(read, name) for name in own for read in reads[name] if read in relations]
        others = sorted({read for read, _ in edges if relations[read].topic != topic.name})
        lines += ["", f"## {topic.title}", "", "```mermaid", "flowchart LR"]
        lines += [f"    {name}{SHAPES[relations[name].kind].format(name)}" for name in own]
        lines += [f"    {name}:::other" for name in others]
        lines += [f"    {read} --> {name}" for read, name in edges]
        lines += ["    classDef other stroke-dasharray: 4", "```"]
    return "\n".join(lines) + "\n"


def capture_page(text: str) -> str:
    """Return `text` with the table of keys at its end, from `capture.output.run_json`."""
    rows = [f"| {key} | {cell(meaning)} |\n" for key, meaning in KEYS.items()]
    return text.partition(KEYS_HEAD)[0] + KEYS_HEAD + "".join(rows)


def readme(text: str, trace: Path) -> str:
    """Return `text` with the output of each `$ ingest …` block for `trace`, without times."""
    with tempfile.TemporaryDirectory() as directory:
        example = Path(directory) / EXAMPLE
        example.symlink_to(trace.resolve())

        def run(match: re.Match[str]) -> str:
            done = subprocess.run(
                [sys.executable, "-m", *shlex.split(match[1])],
                cwd=directory,
                env={**os.environ, "PYTHONPATH": str(REPOSITORY), "TRACEHOUSE_STORE": "store"},
                capture_output=True,
                text=True,
                check=True,
            )
            output = "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")
            return f"```console\n$ {match[1]}\n{SECONDS.sub('… s', output)}\n```"

        return BLOCK.sub(run, text)


def main() -> None:
    """Write the docs."""
    DICTIONARY.write_text(data_dictionary(), encoding="utf-8")
    GRAPH.write_text(sql_graph(), encoding="utf-8")
    CAPTURE.write_text(capture_page(CAPTURE.read_text("utf-8")), encoding="utf-8")
    if len(sys.argv) > 1:
        samples = Path(sys.argv[1])
        text = readme(README.read_text("utf-8"), samples / "traces" / EXAMPLE)
        README.write_text(text, encoding="utf-8")
        for page, runs in ((QUESTIONS, RUNS), (MEGENGINE_PAGE, MEGENGINE)):
            with tempfile.TemporaryDirectory() as directory:
                store = store_of(runs, samples, Path(directory))
                text = questions(page.read_text("utf-8"), store)
            page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
