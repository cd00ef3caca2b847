"""The matrix of ranks and parts of a step: which rank took longer for which part."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting
from dashboard.ranks import answer, rows, table
from dashboard.ranks.answer import Answer
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import Query, Value, reports

KEY = "rank-matrix"
PARTS = {
    "lateness_ns": "lateness",
    "compute_ns": "compute",
    "waiting_ns": "waiting",
    "transfer_ns": "transfer",
    "unmatched_ns": "unmatched collectives",
    "exposed_communication_ns": "exposed communication",
}
STRONGEST_PERCENT = 10  # of a step: the difference with the strongest colour
HEIGHTS = ((8, 30), (16, 24), (32, 18), (rows.MOST, 14))  # most rows, and pixels of each
HELP = (
    "Times of a step, on average over the steps. Lateness is the mean time by which a rank comes "
    "later to its collectives than the first rank. Waiting is the time in collectives until the "
    "last rank comes, and transfer the rest."
)


@dataclass(frozen=True)
class Matrix:
    """The cells of the matrix.

    cells    row, part, label of the rank that the cell shows, colour, and texts
    rows     names of rows, in their order
    parts    names of columns, in their order
    several  whether a row has several ranks
    """

    cells: pd.DataFrame
    rows: list[str]
    parts: list[str]
    several: bool


def show(
    view: View, where: Mapping[str, Value], query: Query, frame: pd.DataFrame, found: Answer
) -> None:
    """Draw the matrix. A click opens the timeline of a rank."""
    causes = reports.rank_views.idle_causes(where)
    heading = menu.heading_line("What the ranks did", help=HELP)
    orders = rows.orders(frame, found.groups)
    with heading:
        menu.show({"ranks": query, "idle time": causes}, "rank-matrix", view.files)
    order = st.segmented_control(
        "Order",
        list(orders),
        default=next(iter(orders)),
        required=True,
        key="order",
        bind="query-params",
        label_visibility="collapsed",
        help="  \n".join(f"**{name}**: {meaning}" for name, meaning in orders.items()),
    )
    whole, parts = with_causes(frame, data.rows(causes))
    placed = rows.of_order(whole, str(order), rows.groups_of(found.groups, len(frame)))
    drawn = matrix_of(placed, parts, found.straggler)
    charts.legend(
        {
            "less than the median rank": colours.LESS,
            "as the median rank": colours.NO_BOXES[0],
            "more": colours.MORE,
        }
    )

    def picked() -> None:
        chosen: Any = st.session_state[KEY]["selection"].get(charts.PICK, [])
        if chosen:
            label = str(chosen[0]["label"])
            table.open_timeline(str(view.run), frame[frame["label"] == label].iloc[0])

    st.altair_chart(
        _chart(drawn),
        key=KEY,
        on_select=picked,
        selection_mode=charts.PICK,
        alt="The time of each rank in each part of a step",
    )
    st.caption(_note(frame, drawn, found))


def with_causes(frame: pd.DataFrame, causes: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the rows of ranks with a column for each cause of idle time, and labels of columns."""
    parts = {name: label for name, label in PARTS.items() if frame[name].fillna(0).any()}
    if causes.empty:
        return frame, parts
    by_part = causes.pivot_table(
        index=["rank", "device_id"], columns="part", values="part_ns", aggfunc="sum", fill_value=0
    ).reset_index()
    whole = frame.merge(by_part, on=["rank", "device_id"], how="left")
    names = colours.order(set(causes["part"]))
    for name in names:
        whole[name] = whole[name].fillna(0) / whole["steps"]
    return whole, parts | {name: colours.label(name) for name in names}


def matrix_of(placed: pd.DataFrame, parts: Mapping[str, str], straggler: int | None) -> Matrix:
    """Return a cell for each row and part. Rows are in the order of `placed`."""
    strongest = STRONGEST_PERCENT / 100 * float(placed["wall_ns"].median())
    late = set(placed["row"][placed["rank"] == straggler])
    found = []
    for name, part in parts.items():
        middle = float(placed[name].median())
        shown = rows.farthest(placed, name, middle)
        for row, label, value in zip(shown["row"], shown["label"], shown[name], strict=True):
            change = float(value) - middle
            found.append(
                {
                    "row": f"{row} *" if row in late else row,
                    "part": part,
                    "label": label,
                    "colour": colours.of_change(change, strongest),
                    "time": formatting.duration(value),
                    "apart": f"{formatting.change(change)} from the median rank",
                }
            )
    return Matrix(
        pd.DataFrame(found),
        [f"{row} *" if row in late else row for row in dict.fromkeys(placed["row"])],
        list(parts.values()),
        bool(placed["row"].duplicated().any()),
    )


def _chart(drawn: Matrix) -> Any:
    pixels = next(pixels for most, pixels in HEIGHTS if len(drawn.rows) <= most)
    y = alt.Y(
        "row:N",
        sort=drawn.rows,
        title=None,
        axis=alt.Axis(
            labelLimit=charts.LABEL_PIXELS, labelFontSize=min(12, pixels - 3), labelOverlap=False
        ),
    )
    x = alt.X(
        "part:N",
        sort=drawn.parts,
        title=None,
        axis=alt.Axis(
            orient="top", labelAngle=0, labelFlush=False, labelLimit=110, labelExpr=_BROKEN
        ),
    )
    base = alt.Chart(drawn.cells).encode(x=x, y=y)
    boxes = (
        base.mark_rect(stroke=None)
        .encode(
            color=alt.Color("colour:N", scale=None),
            tooltip=charts.tooltips(("label:N", "rank"), "part:N", "time:N", ("apart:N", "apart")),
        )
        .add_params(alt.selection_point(charts.PICK, fields=["label"], toggle=False))
    )
    texts = base.mark_text(color=colours.BOX_INK, fontSize=min(12, pixels - 4)).encode(
        text=alt.Text("time:N"), tooltip=alt.value(None)
    )
    return alt.layer(boxes, texts).properties(height=pixels * len(drawn.rows) + 50)


# Long names of parts have a word on each line.
_BROKEN = "split(datum.label, ' ')"


def _note(frame: pd.DataFrame, drawn: Matrix, found: Answer) -> str:
    notes = [f"The strongest colour is a difference of {STRONGEST_PERCENT}% of a step."]
    if drawn.several:
        notes.insert(
            0,
            "A cell shows the rank of its row that is farthest from the median rank, and lateness "
            "that of the latest rank.",
        )
    if found.straggler is not None:
        notes.append(f"\\* has rank {found.straggler}, the straggler.")
    if frame["waiting_ns"].isna().all():
        notes.append("Lateness, waiting and transfer are unknown: no collective is matched.")
        notes.append("Click a cell to see the rank in the timeline.")
    else:
        notes.append("Click a cell to see the step in which the rank came latest in the timeline.")
        notes.append(answer.correction(found.clocks))
    return " ".join(notes)
