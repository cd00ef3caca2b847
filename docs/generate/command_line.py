"""The page `docs/command_line.md`: each command with its options, from the help of the commands."""

from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Iterable

import click
from typer.main import get_command

from capture.cli.options import parser
from docs.generate.markdown import anchor, cell
from ingest.cli.app import app

HEAD = """# Command line

`make docs` generates this page from the help of the commands. `ingest COMMAND --help` and
`capture COMMAND --help` print the same texts. [Adding runs](adding.md) describes how a command
finds a run and a store, and the exit codes.
"""
PROFILER = "Options of the profiler"

Options = list[tuple[str, str]]  # names and values, and the help


def command_line() -> str:
    """Return the page."""
    lines = [HEAD, "## ingest"]
    for name, command in sorted(ingest_commands().items()):
        lines += _section(f"ingest {name}", command.help or "", _click_options(command))
    lines += ["", "## capture"]
    alike: dict[tuple[tuple[str, str], ...], list[tuple[str, ArgumentParser]]] = {}
    for name, command in _capture_commands().items():
        options = tuple(_argparse_options(command, of_profiler=False))
        alike.setdefault(options, []).append((name, command))
    for options, commands in alike.items():
        title = "capture " + ", ".join(name for name, _ in commands)
        text = "\n".join(command.description or "" for _, command in commands)
        lines += _section(title, text, options)
        if _argparse_options(commands[0][1], of_profiler=True):
            lines += ["", f"The [{PROFILER.lower()}](#{anchor(PROFILER)}) apply, too."]
    run = _capture_commands()["run"]
    text = "These options apply to all commands that record a profile."
    lines += _section(PROFILER, text, _argparse_options(run, of_profiler=True))
    return "\n".join(lines) + "\n"


def _section(title: str, text: str, options: Iterable[tuple[str, str]]) -> list[str]:
    rows = [f"| {cell(names)} | {cell(meaning)} |" for names, meaning in options]
    table = ["", "| option | meaning |", "| --- | --- |", *rows] if rows else []
    return ["", f"### {title}", "", text.strip(), *table]


def ingest_commands() -> dict[str, click.Command]:
    """Return the commands of `ingest` by name."""
    commands: dict[str, click.Command] = get_command(app).commands  # type: ignore[attr-defined]
    return commands


def _click_options(command: click.Command) -> Options:
    context = click.Context(command)
    options: Options = []
    for parameter in command.params:
        value = "" if getattr(parameter, "is_flag", False) else _value(parameter, context)
        names = ", ".join(
            name for name in (*parameter.opts, *parameter.secondary_opts) if "-" in name
        )
        default, meaning = parameter.default, getattr(parameter, "help", None) or ""
        if isinstance(default, int | str) and not isinstance(default, bool):
            meaning += f" Default: {default}."
        options.append((f"`{names} {value}`".replace("` ", "`").replace(" `", "`"), meaning))
    return options


def _value(parameter: click.Parameter, context: click.Context) -> str:
    """Return the placeholder of a value, for example `RUN`, `N` or `op|kernel`."""
    names = {"int": "N", "int range": "N", "float": "X", "str": "TEXT", "path": "DIR"}
    metavar = parameter.make_metavar(context).strip("<>{}")
    return names.get(metavar, metavar if "-" in parameter.opts[0] else metavar.upper())


def _capture_commands() -> dict[str, ArgumentParser]:
    """Return the commands that `capture --help` lists."""
    (commands,) = (action for action in parser()._actions if action.dest == "command")
    listed = {action.dest for action in commands._choices_actions}  # type: ignore[attr-defined]
    choices: dict[str, ArgumentParser] = commands.choices  # type: ignore[assignment]
    return {name: command for name, command in choices.items() if name in listed}


def _argparse_options(command: ArgumentParser, of_profiler: bool) -> Options:
    return [
        (f"`{_names(action)}`", (action.help or "").replace("%%", "%"))
        for group in command._action_groups
        for action in group._group_actions
        if action.help is not SUPPRESS and action.dest != "help"
        if (group.title == "profiler") == of_profiler
    ]


def _names(action: Action) -> str:
    """Return the flags, without the forms that only avoid a clash with a script's own flags."""
    flags = list(action.option_strings)
    short = [
        flag for flag in flags if not flag.removeprefix("--no-").lstrip("-").startswith("profile-")
    ]
    value = action.metavar or "|".join(map(str, action.choices or ())) or action.dest.upper()
    return " ".join(
        [", ".join(short or flags), *([] if action.nargs == 0 else [str(value)])]
    ).strip()
