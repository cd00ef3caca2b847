"""The commands of `ingest`: each is a module here, a thin wrapper around the Python interface."""

from collections.abc import Callable
from importlib import metadata
from typing import Annotated

import typer

from ingest.cli.add import add
from ingest.cli.diff import diff
from ingest.cli.export import export
from ingest.cli.key_averages import key_averages
from ingest.cli.lake import compact, pull, push, vacuum
from ingest.cli.memory import memory
from ingest.cli.open_trace import open_trace
from ingest.cli.profile_analyze import profile_analyze
from ingest.cli.queries import schema, sql
from ingest.cli.ranks import ranks
from ingest.cli.runs import list_runs, show
from ingest.cli.sweep import sweep
from ingest.cli.terminal import results
from ingest.cli.top import top
from ingest.cli.upkeep import check, edit, remove, upgrade

app = typer.Typer(
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def ingest(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
) -> None:
    """Load model profiles into a store, and query them."""
    if version:
        results().print(f"tracehouse {metadata.version('tracehouse')}", markup=False)
        raise typer.Exit


COMMANDS: dict[str, Callable[..., None]] = {  # in the order of `ingest --help`
    "add": add,
    "list": list_runs,
    "show": show,
    "schema": schema,
    "sql": sql,
    "top": top,
    "table": key_averages,
    "ranks": ranks,
    "open": open_trace,
    "profile-analyze": profile_analyze,
    "edit": edit,
    "remove": remove,
    "upgrade": upgrade,
    "check": check,
    "diff": diff,
    "sweep": sweep,
    "memory": memory,
    "export": export,
    "push": push,
    "pull": pull,
    "compact": compact,
    "vacuum": vacuum,
}
for name, command in COMMANDS.items():
    app.command(name)(command)
