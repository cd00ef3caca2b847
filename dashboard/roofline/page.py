"""Page Roofline: how close operators, kernels and modules come to the limits of the device."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.roofline import chart, detail, pair, summary
from dashboard.widgets import incomplete_runs, menu, stages, url
from dashboard.widgets.stages import Stage
from dashboard.widgets.view import View
from ingest.server import reports

AT = "at"  # URL parameter: the ticked row
MAX_ROWS = 2_000
LABELS = {
    "tflop_per_s": "rate",
    "tb_per_s": "memory",
    "peak_percent": "% of peak",
    "bandwidth_percent": "% of memory",
    "saved_ns": "could save",
    "work_ns": "time",
    "dtype": "type",
    "percent": "% of time",
}
HIDDEN = [
    "at",
    "percent",
    "tflop_per_s",
    "tb_per_s",
    "saved_80_ns",
    "intensity",
    "flops",
    "bytes",
    "kind",
    "precision",
    "warning",
]


def page(view: View) -> None:
    """Draw the page."""
    if view.run and view.device is None:
        incomplete_runs.no_activity(view.run)
        return
    levels = reports.efficiency.LEVELS
    with view.bar:
        level = st.segmented_control(
            "Points",
            list(levels),
            default="op",
            required=True,
            key="points",
            bind="query-params",
            label_visibility="collapsed",
            help="  \n".join(f"**{name}**: {meaning}" for name, meaning in levels.items()),
        )
        stage = stages.pick(view.run) if view.run else None
    if view.run is None:
        pair.page(view.runs, str(level))
        return
    _of_run(view, str(level), stage)


def _of_run(view: View, level: str, stage: Stage | None) -> None:
    limits = summary.limits_of(view)
    summary.show(view, limits, stage)
    left, right = st.container(key="beside-roofline").columns([4, 5], gap="medium")
    with right:
        search = url.search("filter by name")
    section = reports.efficiency.of_device(
        view.run,
        view.of_device(),
        level,
        stage.bounds(view) if stage else view.steps.bounds,
        stage=stage.name if stage else None,
        search=search,
    )
    frame = data.rows(section.query)
    if frame.empty:
        _nothing(bool(search), stage)
        return
    frame = frame.assign(at=[_at(row) for row in frame.itertuples()])
    at = st.query_params.get(AT)
    with left:
        chart.show(view, frame, limits, at, lambda point: url.remember(AT, point))
    with right:
        _table(section, frame, view, level, at, search, stage)
    chosen = frame[frame["at"] == at]
    if not chosen.empty:
        detail.show(view, level, chosen.iloc[0], stage)
    elif at:
        st.info(
            f"**{formatting.literal(at)}** is not among the rows of {view.steps.label}.",
            icon=":material/search_off:",
        )


def _table(
    section: reports.Section,
    frame: pd.DataFrame,
    view: View,
    level: str,
    at: str | None,
    search: str,
    stage: Stage | None,
) -> None:
    """Draw the rows with the most time to save first. A tick changes the address."""
    shown = frame.head(MAX_ROWS)
    menu.heading(
        section.title,
        {"efficiency": section.query},
        "roofline",
        help="Sorted by the time that reaching the roofline would save.",
        files=view.files,
    )
    names = list(shown["at"])
    tables.show(
        shown.assign(input_dims=[formatting.shapes(dims) or None for dims in shown["input_dims"]]),
        section.view,
        key=f"roofline-{view.key}-{level}-{stage}-{search}",
        labels={**section.labels, **LABELS},
        bars=["saved_ns"],
        hidden=HIDDEN,
        select="single-row",
        selected=[names.index(at)] if at in names else [],
        on_select=lambda rows: url.remember(AT, names[rows[0]] if rows else None),
        ids=names,
        rest_px=440,
    )
    if above := frame["warning"].count():
        st.caption(
            f"{formatting.counted(above, 'row')} faster than the peak allows, with more than 100%: "
            f"{reports.efficiency.ABOVE_PEAK}."
        )
    notes = ["Tick a row, or click a point, to see its calls."]
    if stage and not stage.has_steps:
        notes.append(f"Stage {stage.name} is outside of all steps, so all of its calls count.")
    if len(frame) > MAX_ROWS:
        notes.append(f"The first {MAX_ROWS:,} of {len(frame):,} rows. The menu has all of them.")
    st.caption(" ".join(notes))


def _at(row: object) -> str:
    """Return the text that identifies a row of a level."""
    parts = (getattr(row, name) for name in ("name", "input_dims", "dtype"))
    return " ".join("" if formatting.missing(part) else str(part) for part in parts)


def _nothing(is_searched: bool, stage: Stage | None) -> None:
    if is_searched:
        st.info("No name contains this text. Clear the search.", icon=":material/search_off:")
        return
    where = f"stage {stage.name}" if stage else "these steps"
    st.info(
        f"No operator in {where} has known work. {reports.efficiency.HOW_TO_RECORD_WORK}",
        icon=":material/straighten:",
    )
