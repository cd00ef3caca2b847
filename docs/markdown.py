"""Markdown of the generated docs."""


def cell(text: str) -> str:
    """Return `text` as a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def anchor(title: str) -> str:
    """Return the anchor of a heading."""
    return title.lower().replace(" ", "-")


def link(name: str) -> str:
    """Return a link to the heading of this name."""
    return f"[{name}](#{anchor(name)})"
