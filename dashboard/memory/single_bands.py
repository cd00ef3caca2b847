"""Single allocations on a memory curve: each a band over its life, which says what it is."""

from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from dashboard.drawing import charts, colours

POINTED = "pointed_allocation"
SEAM = 0.6  # pixels by which cells overlap, so that no line shows between them


@dataclass(frozen=True)
class Singles:
    """Allocations at the moments of their lives: rows of `memory_by_allocation_over_time`.

    `about` has a row for each: `allocation_id`, `colour`, and the lines of its tooltip, by title.
    """

    rows: pd.DataFrame
    about: pd.DataFrame


def layer(singles: Singles, moments: pd.DataFrame, factor: float, size: float, x: alt.X) -> Any:
    """A cell for each allocation at each of the moments, which a click picks. Pointing at one shows
    the whole band, and the lines about it.

    `moments` has the columns `ordinal`, `position` and `next`, in the units of the rows.
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
    fields = {title: f"line{place}" for place, title in enumerate(titles)}
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
        # Sent once for an allocation, and not for each of its cells.
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
