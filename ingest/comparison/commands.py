"""The command `ingest diff`: thin, over `compare`, `rows_by` and `judge`."""

import json
import sys
from enum import StrEnum
from typing import Annotated

import typer

from ingest.errors import MissingError
from ingest.store.connection import connect, read
from ingest.terminal import StoreOption, open_store, plain, results
from ingest.units import printable

CONDITION_HOLDS = 3


class Level(StrEnum):
    """What a change is counted by."""

    op = "op"
    kernel = "kernel"
    module = "module"
    kernel_class = "class"


SideArgument = Annotated[
    str,
    typer.Argument(help="A run's id, its beginning, its name; or tag:K=V, tag:T, model:M, name:N."),
]


def diff(
    base: SideArgument,
    other: SideArgument,
    by: Annotated[Level, typer.Option(help="What the change is counted by.")] = Level.op,
    as_json: Annotated[bool, typer.Option("--json", help="All of it, as one JSON object.")] = False,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(metavar="CONDITION", help="Exit with 3 if it holds; repeatable."),
    ] = None,
    rank: Annotated[
        int | None, typer.Option(min=0, help="This rank; else of each run the slowest.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Rows of the table.")] = 20,
    unfold: Annotated[
        bool, typer.Option("--unfold", help="List what each fused kernel replaces.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Compare the median steps of two runs, or of two groups, and where the difference comes from.

    A condition is a metric, > or <, and a bound. With a sign, it bounds the
    change: busy>+5%, wall>+2ms, launches>+0, peak>+100MiB, compute<-1%.
    Without, what OTHER has: bubble_host>10ms, recompiles>0. Units are %, ns,
    us, ms, s, B, KiB, MiB and GiB; metrics, those of macro run_diff. One that
    is not known on a side is an error, for it cannot be judged.

    tag:, model: and name: stand for all runs that have it. Metrics are then
    medians, with a rank test. A bound of the change holds only if the medians
    are beyond it and p is below 0.05 or, where the runs are too few for that,
    all of OTHER are beyond all of BASE.
    """
    # Imported here, as no other command needs it.
    from ingest.comparison.comparison import Comparison, compare
    from ingest.comparison.gate import judge, parse
    from ingest.comparison.groups import runs_of
    from ingest.comparison.report import diff_report
    from ingest.comparison.rows import rows_by

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
    rows = read(connection, lambda: rows_by(connection, comparison, by.value))
    if as_json:
        said = {**comparison.as_dict(), "by": by.value, "rows": rows, "verdicts": verdicts}
        print(json.dumps(plain(said)))
    else:
        for warning in comparison.warnings:
            print(f"warning: {printable(warning.warning)}", file=sys.stderr)
        for part in diff_report(comparison, rows, by.value, verdicts, limit, unfold):
            results().print(part)
    for verdict in verdicts:
        if verdict.holds:
            print(verdict.reason, file=sys.stderr)
    if any(verdict.holds for verdict in verdicts):
        raise typer.Exit(CONDITION_HOLDS)
    for verdict in verdicts:
        if verdict.holds is None:
            raise MissingError(verdict.reason)
