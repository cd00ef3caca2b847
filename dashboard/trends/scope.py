"""The series that page Trends shows. The filters, the picked runs or one model determine them."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets.view import View
from ingest.server import Value, select

FILTERS = {"model": "Model", "mode": "Mode", "device_name": "Device", "tagged": "Tag"}
NAMED = "model_or_name"  # the model, or the run's name if it has no model


@dataclass(frozen=True)
class Scope:
    """Conditions on the rows of view `trend`, the runs of all series, and the picked runs."""

    where: dict[str, Value]
    runs: pd.DataFrame
    picked: list[str]


def choose(opened: str | None, view: View) -> Scope:
    """Draw the filters in the header bar, and return the scope.

    The scope is limited to the series of the picked runs. If no runs are picked and no filter is
    set, it is limited to one model: the model of `opened`, which is the run whose card is open, or
    the model with the most runs.
    """
    runs = _runs()
    where = _filters(runs, view)
    picked = [run for run in view.runs if run in set(runs["run_id"])]
    if view.runs and not picked:
        st.info(
            "The picked runs have no metrics, because they have no trace.", icon=":material/info:"
        )
    first = _first_model(runs, opened)
    text, shown = "", runs
    if picked:
        shown = runs[runs["series"].isin(runs[runs["run_id"].isin(picked)]["series"])]
        text = "The page shows the series of the picked runs."
    elif not where and first is not None:
        shown = runs[runs[NAMED] == first]
        why = "of the run below" if opened in set(shown["run_id"]) else "with the most runs"
        name = formatting.literal(formatting.clipped(first, formatting.NAME_WIDTH))
        text = f"Shown: **{name}**, the model {why} ({formatting.counted(len(shown), 'run')})."
    if len(shown) == len(runs):
        return Scope(where, runs, picked)
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.toggle("All models", key="all_models", bind="query-params"):
            text = ""
        else:
            where["series"] = sorted(set(shown["series"]))
        if text:
            st.caption(text, width="content")
    return Scope(where, runs, picked)


def explain(scope: Scope, series: set[str]) -> None:
    """Explain why runs of a model are in several series. `series` are those on the page."""
    runs = scope.runs
    shown = runs[runs["series"].isin(series)]
    devices = shown.groupby([NAMED, "mode"], dropna=False)["device_name"].nunique(dropna=False)
    several = devices[devices > 1]
    if len(several):
        (model, mode), count = several.index[0], several.iloc[0]
        one = ", ".join(part for part in (model, mode) if not formatting.missing(part))
        name = formatting.literal(formatting.clipped(one, formatting.NAME_WIDTH))
        ran = (
            f"**{name}** ran on {count} devices"
            if len(several) == 1
            else f"{len(several):,} models ran on several devices"
        )
        st.caption(
            f"{ran}. Each device has a separate series, and changes between devices are not "
            "detected."
        )
    if len(runs) > 1 and runs["series"].is_unique:
        st.info(
            "Each run is in a separate series. Runs of the same model, mode and device form one "
            "series. Name the model with `ingest add --model` or in `run.json`.",
            icon=":material/timeline:",
        )


def _runs() -> pd.DataFrame:
    """Return all runs, with their series and their model or name."""
    columns = "run_id, series, name, model, mode, device_name, map_entries(tags) AS tags"
    runs = data.rows(select(columns, "run_series", order_by="run_id"))
    return runs.assign(**{NAMED: runs["model"].where(runs["model"].notna(), runs["name"])})


def _first_model(runs: pd.DataFrame, opened: str | None) -> str | None:
    """Return the model of the run whose card is open, or the model with the most runs."""
    own = runs[runs["run_id"] == opened][NAMED]
    by_runs = runs.groupby(NAMED).size().sort_values(ascending=False, kind="stable")
    return next(map(str, [*own, *by_runs.index]), None)


def _filters(runs: pd.DataFrame, view: View) -> dict[str, Value]:
    """Draw filters by model, mode, device and tag, and return their conditions."""
    tags = {f"{tag['key']}={tag['value']}": tag for entries in runs["tags"] for tag in entries}
    choices = {key: sorted(tags if key == "tagged" else {*runs[key].dropna()}) for key in FILTERS}
    offered = {key: values for key, values in choices.items() if values}
    where: dict[str, Value] = {}
    for key, values in offered.items():
        with view.bar:
            chosen: Any = st.selectbox(
                FILTERS[key],
                values,
                index=None,
                key=key,
                bind="query-params",
                placeholder=f"any {FILTERS[key].lower()}",
                width=190,
                label_visibility="collapsed",
            )
        if chosen is not None and key == "tagged":
            where[f"tags[{ingest.literal(tags[chosen]['key'])}]"] = tags[chosen]["value"]
        elif chosen is not None:
            where[key] = chosen
    return where
