"""Custom Streamlit components. Each has a style sheet and a script with its name."""

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

SHARED = Path(__file__).parent / "element.js"


@cache
def load(directory: Path, name: str, root: str) -> Any:
    """Return the component of `name`.css and `name`.js.

    It draws into an element of the class `root`. The script can call
    `element(tag, fields, children)`.
    """
    script = (directory / f"{name}.js").read_text(encoding="utf-8")
    return st.components.v2.component(
        f"tracehouse_{name}",
        html=f'<div class="{root}"></div>',
        css=(directory / f"{name}.css").read_text(encoding="utf-8"),
        js=f"{script}\n{SHARED.read_text(encoding='utf-8')}",
    )
