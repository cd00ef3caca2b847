"""Custom Streamlit components, which may have any text as their key."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

SHARED = Path(__file__).parent / "element"  # the .js and .css of all components


@dataclass(frozen=True)
class Component:
    """A component. `mount` is Streamlit's function that draws it."""

    mount: Any

    def draw(self, key: str, **options: Any) -> None:
        """Draw the component. `key` identifies it on the page."""
        self.mount(key=_streamlit_key(key), **options)


def define(name: str, html: str, js: str, css: str | None = None) -> Component:
    """Return the component of an HTML text, a script and a style sheet."""
    return Component(st.components.v2.component(f"tracehouse_{name}", html=html, css=css, js=js))


@cache
def load(directory: Path, name: str, root: str) -> Component:
    """Return the component of `name`.css and `name`.js.

    It draws into an element of the class `root`. The script can call the functions of `element.js`.
    """

    def text(suffix: str) -> str:
        files = ((directory / name).with_suffix(suffix), SHARED.with_suffix(suffix))
        return "\n".join(file.read_text(encoding="utf-8") for file in files)

    return define(name, f'<div class="{root}"></div>', text(".js"), text(".css"))


def state(key: str) -> Any:
    """Return what the component with this key has sent, or None."""
    return st.session_state.get(_streamlit_key(key))


def _streamlit_key(key: str) -> str:
    """Return a hash of a key. Streamlit refuses keys with `__`, which names of runs may have."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
