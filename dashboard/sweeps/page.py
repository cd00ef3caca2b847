"""Page Sweeps: the variants of a sweep, by time, memory, and difference from eager."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.sweeps import scatter, variant
from dashboard.widgets import menu, url
from dashboard.widgets.view import View
from ingest.server import reports

AT = "at"  # URL parameter: the run of the clicked variant
COLUMNS = {  # the columns of the table, and their headings
    "variant": "variant",
    "image_ns": "per image",
    "spread_ns": "±",
    "speed": "speed",
    "p": "p",
    "mean_distance": "mean difference",
    "max_distance": "max difference",
    "psnr": "PSNR",
    "compile_cold_ns": "compile, cold",
    "compile_warm_ns": "compile, warm",
    "break_even_images": "pays after",
    "peak_bytes": "peak memory",
    "recompiles": "recompiled",
    "graph_breaks": "breaks",
    "failure": "failed",
}
DIFFERENCES = ("p", "max_distance", "mean_distance")


def page(view: View) -> None:
    """Draw the page."""
    tags = list(data.rows(reports.sweep.tags())["sweep"])
    if not tags:
        st.info("This store has no sweep. This command records one:", icon=":material/tune:")
        st.code(
            "capture sweep flux --tiny --try eager,default,regional --sizes 64,128 "
            f"--store {data.place()}",
            language="bash",
        )
        return
    tag = str(st.selectbox("Sweep", tags, key="sweep", bind="query-params", width=420))
    frame = data.sweep(tag)
    _summary(frame)
    at = st.query_params.get(AT)

    def pick(run: str) -> None:
        url.remember(AT, run)

    scatter.show(frame, at, pick)
    section = reports.sweep.variants(tag)
    menu.heading(section.title, {"variants": section.query}, f"sweep-{tag}", help=section.note)
    _table(frame, at, pick)
    if at in set(frame["run_id"]):
        variant.show(frame[frame["run_id"] == at].iloc[0], lambda: url.remember(AT, None))
    else:
        st.caption("Click a point or a row to see the details of a variant.")


def _summary(frame: pd.DataFrame) -> None:
    """Show the number of variants, and the fastest one."""
    tried = frame[~frame["is_base"] & frame["speedup"].notna()]
    with st.container(horizontal=True):
        st.metric("Variants", formatting.count(len(frame)))
        if failed := int(frame["failure"].notna().sum()):
            st.metric("Failed", formatting.count(failed))
        faster = tried[tried["speedup"] > 1]
        if faster.empty:
            st.metric(
                "Fastest",
                "eager",
                "no other variant is faster",
                delta_color="off",
                delta_arrow="off",
            )
        else:
            best = faster.loc[faster["speedup"].idxmax()]
            st.metric(
                f"Fastest: {formatting.literal(best['variant'])}",
                formatting.times(best["speedup"]),
                f"{variant.distance(best)}; p {formatting.difference(best['p'])}",
                delta_color="off",
                delta_arrow="off",
                help="Speed relative to "
                f"{formatting.literal(best['base_variant'])}, and the difference of the output.",
            )


def _table(frame: pd.DataFrame, at: str | None, pick: scatter.Pick) -> None:
    runs = list(frame["run_id"])
    shown = frame.assign(
        speed=frame["speedup"].map(formatting.times),
        psnr=[variant.psnr(row) for _, row in frame.iterrows()],
        **{name: frame[name].map(formatting.difference) for name in DIFFERENCES},
    )

    def ticked(rows: list[int]) -> None:
        if rows:
            pick(runs[rows[0]])

    tables.show(
        shown[list(COLUMNS)],
        "sweep_results",
        key="sweep-variants",
        ids=runs,
        select="single-row",
        selected=[runs.index(at)] if at in runs else [],
        on_select=ticked,
        labels=COLUMNS,
        numbers=["speed", "psnr", *DIFFERENCES],
    )
