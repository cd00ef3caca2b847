"""Single allocations on a memory curve: a band with a tooltip over the life of each."""

from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from dashboard.drawing import charts, colours

POINTED = "pointed_allocation"
SEAM = 0.6  # pixels by which cells overlap; without it, lines show between them


@dataclass(frozen=True)
class Singles:
    """Allocations at each moment of their lives.

    `rows` are rows of `memory_by_allocation_over_time`. `about` has a row for each allocation:
    `allocation_id`, `colour`, and a column for each line of the tooltip, named by its title.
    """

    rows: pd.DataFrame
    about: pd.DataFrame


def layer(singles: Singles, moments: pd.DataFrame, factor: float, size: float, x: alt.X) -> Any:
    """Return a layer with a cell for each allocation at each moment.

    Pointing at a cell highlights the allocation's band and shows its tooltip. A click picks the
    moment. `moments` has the columns `ordinal`, `position` and `next`, in the units of the rows.
    """
    at = singles.rows[["ordinal", "allocation_id", "bytes", "below_bytes"]]
    at = at.merge(moments, on="ordinal")
    cells = pd.DataFrame(
        {
            "position": at["position"] / factor,
            "next": at["next"] / factor,
            "bottom": at["below_bytes"] / size,
            "top": (at["below_bytes"] + at["bytes"]) / size,
            "ordinal": at["ordinal"],
            "allocation_id": at["allocation_id"],
        }
    )
    titles = singles.about.columns.drop(["allocation_id", "colour"])
    fields = {title: f"line{index}" for index, title in enumerate(titles)}
    over = alt.selection_point(
        name=POINTED, on="pointerover", clear="pointerout", fields=["allocation_id"], empty=False
    )
    about = alt.LookupData(
        data=singles.about.rename(columns=fields),
        key="allocation_id",
        fields=["colour", *fields.values()],
    )
    return (
        alt.Chart(cells)
        # The lookup sends these once per allocation, not once per cell.
        .transform_lookup(lookup="allocation_id", from_=about)
        .mark_rect(x2Offset=SEAM)
        .encode(
            x=x,
            x2=alt.X2("next:Q"),
            y=alt.Y("bottom:Q", title=None),
            y2=alt.Y2("top:Q"),
            color=alt.condition(
                over, alt.value(colours.ink()), alt.Color("colour:N", scale=None, legend=None)
            ),
            tooltip=charts.tooltips(*((f"{field}:N", title) for title, field in fields.items())),
        )
        .add_params(over)
    )
