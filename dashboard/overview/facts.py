"""A line of labels that describe a run: its versions, configuration and tags."""

import json
from collections.abc import Iterator
from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from ingest.server import select

# Keys of run.json, and the format of their values.
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
MAX_CHARACTERS = 60


def show(run: str) -> None:
    """Show the run's labels and its note."""
    (row,) = data.rows(select("*", "runs", {"run_id": run})).itertuples()
    if facts := list(_facts(row)):
        st.markdown(" ".join(f":gray-badge[{formatting.literal(fact)}]" for fact in facts))
    if not formatting.missing(row.note):
        st.caption(formatting.literal(row.note))


def _facts(row: Any) -> Iterator[str]:
    recorded = json.loads(row.run_json) if not formatting.missing(row.run_json) else {}
    facts = []
    if not formatting.missing(row.framework_version):
        name = "torch" if row.framework == "pytorch" else row.framework
        facts.append(f"{name} {row.framework_version}")
    facts += [
        pattern.format(recorded[key])
        for key, pattern in CONFIGURATION.items()
        if isinstance(recorded.get(key), str | int | float)
    ]
    if not formatting.missing(row.world_size) and row.world_size > 1:
        facts.append(f"job of {row.world_size:,} ranks")
    facts += [f"{key}={value}" for key, value in (row.tags or {}).items()]
    for fact in facts:
        if not formatting.missing(fact):
            yield formatting.clipped(str(fact), MAX_CHARACTERS)
