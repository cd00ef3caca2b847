"""The command `ingest diff`."""

import json
import sys
from enum import StrEnum
from functools import partial
from typing import Annotated

import typer

from ingest.cli.terminal import StoreOption, open_store, results, warn
from ingest.errors import MissingError
from ingest.json_values import plain
from ingest.store.connection import connect, read

CONDITION_HOLDS = 3


class Level(StrEnum):
    """The level at which a change is broken down."""

    op = "op"
    kernel = "kernel"
    module = "module"
    kernel_class = "class"


SideArgument = Annotated[
    str,
    typer.Argument(
        help="A run (its id, the beginning of its id, or its name), or a group: tag:KEY=VALUE, "
        "tag:WORD, model:NAME or name:NAME."
    ),
]


def diff(
    base: SideArgument,
    other: SideArgument,
    by: Annotated[
        Level, typer.Option(help="Break the change down by operator, kernel, module or class.")
    ] = Level.op,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything as one JSON object.")
    ] = False,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(metavar="CONDITION", help="Exit with 3 if the condition holds. Repeatable."),
    ] = None,
    rank: Annotated[
        int | None,
        typer.Option(min=0, help="Compare this rank. Default: each run's straggler, or median."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Rows of the table.")] = 20,
    unfold: Annotated[
        bool, typer.Option("--unfold", help="List the operators that each fused kernel replaces.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Compare the median steps of two runs or groups, and show where the difference comes from.

    A condition is a metric, > or <, and a bound. A bound with a sign limits
    the change: busy>+5%, wall>+2ms, launches>+0, peak>+100MiB, compute<-1%.
    A bound without a sign limits the value of OTHER: idle_host>10ms,
    recompiles>0. Units are %, ns, us, ms, s, B, KiB, MiB and GiB. Metrics are
    those of the macro run_diff. A metric that is unknown on a side is an
    error, because the condition cannot be judged.

    A group (tag:, model:, name:) selects all runs with that label. Metrics
    are then medians, with a rank test. A bound on the change then holds only
    if the change of the medians is beyond it and p is below 0.05. If there are
    too few runs for such a p, every run of OTHER must be beyond every run of
    BASE instead.
    """
    # Import these here: no other command needs them.
    from ingest.cli.diff_ranks import rank_report
    from ingest.cli.diff_report import diff_report
    from ingest.comparison.comparison import Comparison, compare
    from ingest.comparison.gate import judge, parse
    from ingest.comparison.groups import runs_of
    from ingest.reports import rank_diff
    from ingest.reports.diff import breakdown

    opened = open_store(store)
    connection = connect(opened)

    def of_store() -> Comparison:
        bases, others = (runs_of(connection, opened, side) for side in (base, other))
        return compare(connection, bases, others, rank)

    comparison = read(connection, of_store)
    try:
        conditions = [parse(text, comparison.metrics) for text in fail_if or []]
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--fail-if") from None
    metrics, unlike = comparison.metrics, comparison.unlike
    verdicts = [judge(condition, metrics, unlike) for condition in conditions]
    section = breakdown(comparison, by.value)
    rows = read(connection, partial(section.query.rows, connection))
    of_ranks = rank_diff.section(comparison.base.run, comparison.other.run)
    ranks = read(connection, partial(of_ranks.query.rows, connection))
    if as_json:
        report = {**comparison.as_dict(), "by": by.value, "rows": rows, "ranks": ranks}
        print(json.dumps(plain({**report, "verdicts": verdicts})))
    else:
        warn(caveat.warning for caveat in comparison.warnings)
        printed = rank_report(of_ranks.title, ranks, limit)
        title, level = section.title, by.value
        for part in diff_report(comparison, title, rows, level, printed, verdicts, limit, unfold):
            results().print(part)
    for verdict in verdicts:
        if verdict.holds:
            print(verdict.reason, file=sys.stderr)
    if any(verdict.holds for verdict in verdicts):
        raise typer.Exit(CONDITION_HOLDS)
    for verdict in verdicts:
        if verdict.holds is None:
            raise MissingError(verdict.reason)
