"""Page Trends: the metrics of the runs over time."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.trends import chart, run_detail, scope, small_multiples
from dashboard.trends.chart import formatted, label
from dashboard.widgets import median_step, menu, run_picker, url
from dashboard.widgets.view import View
from ingest.server import select

FIRST_METRICS = ["wall", "busy", "idle"]
MAX_METRICS = 6
MAX_POINTS = 4_000  # in all charts together; a browser draws this number without delay
AT = "at"  # URL parameter: the run of the clicked point


def page(view: View) -> None:
    """Draw the page."""
    at = st.query_params.get(AT)
    shown = scope.choose(at, view)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        metrics = _pick_metrics(shown.runs)
        axes = small_multiples.controls()
    if not metrics:
        st.info("Pick a metric above.", icon=":material/arrow_upward:")
        return
    query = select(
        "run_id, series, run_number, name, model, mode, device_name, started_at, metric, unit, "
        "value, before_median, from_median, change_percent, is_change_point",
        "trend",
        {**shown.where, "metric": metrics},
        order_by="coalesce(started_at, ingested_at), run_id, metric",
    )
    frame = data.rows(query)
    if frame.empty:
        _nothing(bool(shown.where))
        return
    _versions(frame)
    _summary(frame, metrics)
    scope.explain(shown, set(frame["series"]))
    _charts(frame, metrics, axes, at, shown.picked)
    # Draw the card below the charts, so that the clicked point does not move.
    if at in set(frame["run_id"]):
        median_step.warn(str(at))
        run_detail.show(frame, str(at), close=lambda: url.remember(AT, None))
    elif at and data.rows(select("run_id", "runs", {"run_id": at})).empty:
        run_picker.warn_about(at)
    _unsteady(frame)
    menu.show({"trend": query}, "trend")
    _changes(frame[frame["is_change_point"]])


def _versions(frame: pd.DataFrame) -> None:
    """Warn if different versions of tracehouse computed the metrics."""
    runs = data.rows(select("run_id, logic_version", "runs"))
    shown = runs[runs["run_id"].isin(frame["run_id"])]
    if (versions := shown["logic_version"].nunique(dropna=False)) > 1:
        st.warning(
            f"{versions} versions of tracehouse added these runs. A change may come from the way a "
            "metric is computed. `ingest upgrade` rebuilds runs of other versions.",
            icon=":material/history:",
        )


def _unsteady(frame: pd.DataFrame) -> None:
    """Show how many runs have steps that vary, or few steps."""
    runs = list(dict.fromkeys(frame["run_id"]))
    if found := len(median_step.unsteady(runs)):
        st.caption(
            f"Each point is the median step of a run. It may not be typical in {found:,} of "
            f"{len(runs):,} runs: their steps vary by more than 10%, or fewer than three can be "
            "compared."
        )


def _pick_metrics(runs: pd.DataFrame) -> list[str]:
    """Return the metrics that the user chose. The metrics of the first run can be chosen."""
    any_run = list(runs["run_id"].head(1))
    listed = select(
        "DISTINCT metric, ordinal", "run_metrics_long", {"run_id": any_run}, order_by="ordinal"
    )
    known = list(data.rows(listed)["metric"]) if any_run else FIRST_METRICS
    return st.multiselect(
        "Metrics",
        known,
        default=FIRST_METRICS,
        key="metric",
        bind="query-params",
        max_selections=MAX_METRICS,
        help="Metrics of the median step on the device of each run's straggler or, without one, "
        "of its median rank. In a run without a device, metrics of the host.",
    )


def _nothing(filtered: bool) -> None:
    if filtered:
        st.info(
            "No run with these metrics matches. Remove a filter, or pick other runs or metrics.",
            icon=":material/search_off:",
        )
    else:
        st.info("No run has these metrics. They need a trace.", icon=":material/info:")


def _summary(frame: pd.DataFrame, metrics: list[str]) -> None:
    """Show the number of runs, series and changes, the latest change, and the last run."""
    runs, series = frame["run_id"].nunique(), frame["series"].nunique()
    changes = frame[frame["is_change_point"]]
    with st.container(horizontal=True):
        st.metric("Runs", formatting.count(runs))
        st.metric("Series", formatting.count(series), help=chart.SERIES)
        st.metric("Change points", formatting.count(len(changes)), help=chart.CHANGE)
        if not changes.empty:
            latest = _of_last_run(changes, metrics)
            _metric(
                f"Latest change: {label(latest['metric'])}",
                latest,
                f"{formatting.literal(latest['series'])}, since {_when(latest)}",
            )
        last = _of_last_run(frame, metrics)
        _metric(
            f"Last run: {label(last['metric'])}",
            last,
            f"{formatting.literal(last['run_id'])}, compared with the median of up to five earlier "
            "runs of its series",
        )


def _when(row: pd.Series) -> str:
    """Return when a run began, or its number in its series if that is unknown."""
    if formatting.missing(row["started_at"]):
        return f"run {row['run_number']:,}"
    return formatting.moment(row["started_at"])


def _of_last_run(frame: pd.DataFrame, metrics: list[str]) -> pd.Series:
    """Return the last run's row for the metric that the user chose first."""
    rows = frame[frame["run_id"] == frame["run_id"].iloc[-1]]
    return rows.iloc[rows["metric"].map(metrics.index).argmin()]


def _metric(name: str, row: pd.Series, text: str) -> None:
    """Show the median of this run and later ones, and its change."""
    st.metric(
        name,
        formatted(row["from_median"], row["unit"]),
        chart.change(row["change_percent"]) if pd.notna(row["change_percent"]) else None,
        delta_color="off",
        delta_arrow="off",
        help=text,
    )


def _latest(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the latest rows, as many as a browser can draw."""
    if len(frame) <= MAX_POINTS:
        return frame
    st.caption(f"The latest {MAX_POINTS:,} of {len(frame):,} points. Downloads have all of them.")
    return frame.tail(MAX_POINTS)


def _charts(
    frame: pd.DataFrame,
    metrics: list[str],
    axes: tuple[bool, bool],
    at: str | None,
    picked: list[str],
) -> None:
    """Draw a row of charts for each metric, with a chart for each series."""
    series = small_multiples.drawn_series(frame, picked)
    marked = " Diamonds are the picked runs." if {*picked} & {*frame["run_id"]} else ""
    st.caption(f"Click near a point to open its run below the charts.{marked}")
    small_multiples.show(
        _latest(frame[frame["series"].isin(series)]),
        metrics,
        series,
        *axes,
        at,
        picked,
        lambda run: url.remember(AT, run),
    )


def _changes(changes: pd.DataFrame) -> None:
    """Show the change points, the latest first."""
    st.subheader("Change points", anchor=False)
    if changes.empty:
        st.caption(f"There are no change points. {chart.CHANGE}")
        return
    changes = changes.iloc[::-1]
    shown = pd.DataFrame(
        {
            "started_at": changes["started_at"],
            "metric": changes["metric"].map(label),
            "medians_from_to": [
                f"{formatted(before, unit)} → {formatted(after, unit)}"
                for before, after, unit in zip(
                    changes["before_median"], changes["from_median"], changes["unit"], strict=True
                )
            ],
            "change_percent": changes["change_percent"],
            "run_id": changes["run_id"],
            "series": changes["series"],
        }
    )
    runs = list(changes["run_id"])

    def open_run(rows: list[int]) -> None:
        if rows:
            url.remember(AT, runs[rows[0]])

    tables.show(
        shown,
        "trend",
        key="changes",
        select="single-row",
        on_select=open_run,
        labels={
            "run_id": "first run",
            "started_at": "since",
            "medians_from_to": "medians",
            "change_percent": "change",
        },
    )
    st.caption(
        f"Click a row to open its run above. {chart.CHANGE} A change to ten times the value or "
        "more is shown as a factor. A change from 0 has no percentage."
    )
