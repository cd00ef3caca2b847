"""How a run was made: its versions, configuration and tags, in a line of labels."""

import json
from collections.abc import Iterator
from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.query import select

# Keys of run.json, and how their values are written.
CONFIGURATION = {
    "pipeline": "{}",
    "dtype": "{}",
    "batch": "batch {}",
    "height": "height {}",
    "width": "width {}",
    "steps": "{} denoising steps",
    "diffusers_version": "diffusers {}",
    "driver": "{}",
}
LONGEST = 60


def show(run: str) -> None:
    """The line of the run, and its note."""
    (row,) = data.rows(select("*", "runs", {"run_id": run})).itertuples()
    if facts := list(_facts(row)):
        st.markdown(" ".join(f":gray-badge[{formatting.literal(fact)}]" for fact in facts))
    if not formatting.missing(row.note):
        st.caption(formatting.literal(row.note))


def _facts(row: Any) -> Iterator[str]:
    said = json.loads(row.run_json) if not formatting.missing(row.run_json) else {}
    known = []
    if not formatting.missing(row.framework_version):
        name = "torch" if row.framework == "pytorch" else row.framework
        known.append(f"{name} {row.framework_version}")
    known += [
        written.format(said[key])
        for key, written in CONFIGURATION.items()
        if isinstance(said.get(key), str | int | float)
    ]
    if not formatting.missing(row.world_size) and row.world_size > 1:
        known.append(f"job of {row.world_size:,} ranks")
    known += [f"{key}={value}" for key, value in (row.tags or {}).items()]
    for fact in known:
        if not formatting.missing(fact):
            yield formatting.clipped(str(fact), LONGEST)
