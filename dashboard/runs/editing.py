"""The form that edits the labels of the picked runs, unless the dashboard is read-only."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

import ingest
from dashboard import data, options
from dashboard.drawing import formatting
from ingest.server import select

MODES = ("eager", "compiled")
DIFFERENT = "Different values: left unchanged"
LABEL = "Edit labels"


def button(picked: Sequence[str]) -> None:
    """Draw the button that opens the form, or say that the dashboard is read-only."""
    if options.is_read_only():
        st.badge("read-only", icon=":material/edit_off:", color="gray", help=data.why_read_only())
    elif reason := data.why_read_only():
        st.button(LABEL, icon=":material/edit:", type="tertiary", disabled=True, help=reason)
    elif st.button(LABEL, icon=":material/edit:", type="tertiary"):
        _dialog(picked)


@st.dialog(LABEL)
def _dialog(picked: Sequence[str]) -> None:
    runs = data.rows(select("run_id, model, mode, tags, note", "run_list", {"run_id": picked}))
    st.caption(formatting.literal(picked[0]) if len(picked) == 1 else f"{len(picked):,} runs")
    # Not an st.form: it would report an invalid tag only on saving.
    model = _choice("Model", runs["model"], _known_models(), accept_new_options=True)
    mode = _choice("Mode", runs["mode"], MODES)
    tags = _tags(runs["tags"])
    before = _shared(runs["note"])
    note = st.text_area(
        "Note", before, placeholder=DIFFERENT if before is None else None, height=100
    )
    st.caption("Values that look like a token, key or password are stored as [redacted].")
    if not st.button("Save", type="primary", disabled=tags is None) or tags is None:
        return
    try:
        changes = ingest.AddOptions(
            model=_changed(runs["model"], model),
            mode=_changed(runs["mode"], mode),
            note=_changed(runs["note"], note),
            tags=tags,
        )
        data.edit(picked, changes)
    except ingest.IngestError as error:
        st.error(formatting.literal(str(error)), icon=":material/error:")
    else:
        st.rerun()


def _known_models() -> Sequence[str]:
    models = select("DISTINCT model", "run_list", {"model >": ""}, order_by="model")
    return list(map(str, data.rows(models)["model"]))


def _choice(
    label: str, values: pd.Series, known: Sequence[str], accept_new_options: bool = False
) -> str | None:
    """Draw a select box and return the chosen value, "" for no value.

    Return None if the runs differ and the user chooses nothing.
    """
    before = _shared(values)
    options = list(dict.fromkeys(["", *known, *([before] if before else [])]))
    chosen: str | None = st.selectbox(
        label,
        options,
        index=None if before is None else options.index(before),
        format_func=lambda value: value or "none",
        placeholder=DIFFERENT,
        accept_new_options=accept_new_options,
    )
    return chosen


def _tags(tags: Iterable[Any]) -> dict[str, str | None] | None:
    """Return the tags to store, as `_changed_tags` does, or None if a tag is invalid."""
    pairs = [{f"{key}={value}" for key, value in (each or {}).items()} for each in tags]
    shared = sorted(set.intersection(*pairs))
    known = select("DISTINCT unnest(map_entries(tags)) AS tag", "run_list")
    options = {f"{tag['key']}={tag['value']}" for tag in data.rows(known)["tag"]}
    chosen = st.multiselect(
        "Tags (KEY=VALUE)",
        sorted(options),
        shared,
        accept_new_options=True,
        placeholder="for example branch=main",
        help=None if len(pairs) == 1 else "The tags that all these runs share. Others are kept.",
    )
    try:
        return _changed_tags(shared, chosen)
    except ValueError as error:
        st.error(formatting.literal(str(error)), icon=":material/error:")
        return None


def _shared(values: pd.Series) -> str | None:
    """Return the value that the runs share, "" if they have none, or None if they differ."""
    found = {"" if formatting.missing(value) else str(value) for value in values}
    return found.pop() if len(found) == 1 else None


def _changed(values: pd.Series, chosen: str | None) -> str | None:
    """Return the value to store. None leaves each run's value unchanged."""
    return None if chosen == _shared(values) else chosen


def _changed_tags(before: Sequence[str], chosen: Sequence[str]) -> dict[str, str | None]:
    """Return the tags to store. The value None removes a tag.

    Raise ValueError if a tag is not written KEY=VALUE, or if two tags have the same key.
    """
    tags: dict[str, str | None] = {pair.partition("=")[0]: None for pair in before}
    after: dict[str, str | None] = {}
    for pair in chosen:
        key, sign, value = pair.partition("=")
        key = key.strip()
        if not key or not sign:
            raise ValueError(f"{pair}: write a tag as KEY=VALUE")
        if key in after:
            raise ValueError(f"{key}: a tag has one value per run")
        after[key] = value
    return tags | after
