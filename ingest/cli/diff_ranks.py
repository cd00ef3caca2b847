"""The ranks of both runs, as `ingest diff` prints them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from ingest.cli.terminal import results, table
from ingest.reports.rank_diff import TIMES, of_both, sentences
from ingest.units import amount, before_and_after, change, percent_change

Row = dict[str, Any]

WIDE_ENOUGH = 150  # terminal width that all columns need
NARROW = ("rank", "base", "other", "change", "%", "compute", "waiting")


def rank_report(title: str, rows: Sequence[Row], limit: int) -> Iterator[RenderableType]:
    """Yield the ranks that both runs have, the most changed ones first, and the worst of each run.

    `rows` are those of `rank_diff`. Ranks beyond `limit` are counted.
    """
    both = of_both(rows)
    if both:
        columns = [*COLUMNS] if results().width >= WIDE_ENOUGH else [*NARROW]
        cells = [[COLUMNS[name](row) for name in columns] for row in both[:limit]]
        if len(both) > limit:
            cells.append([f"… {len(both) - limit:,} more", *("" for _ in columns[1:])])
        yield table(columns, cells, title, right=columns[1:])
    for sentence in sentences(rows):
        yield Text(sentence)
    if rows:
        yield Text()


def _pair(time: str, row: Row) -> str:
    return before_and_after(row[f"base_{time}_ns"], row[f"other_{time}_ns"], "ns")


COLUMNS: dict[str, Callable[[Row], str]] = {
    "rank": lambda row: str(row["base_rank"]),
    "base": lambda row: amount(row["base_wall_ns"], "ns"),
    "other": lambda row: amount(row["other_wall_ns"], "ns"),
    "change": lambda row: change(row["change_wall_ns"], partial(amount, unit="ns")),
    "%": lambda row: percent_change(row["change_percent"]).removesuffix("%"),
    **{label: partial(_pair, time) for time, label in TIMES.items()},
}
