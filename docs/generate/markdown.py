"""Markdown, as the generated pages write it."""


def cell(text: str) -> str:
    """Return `text` as a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def anchor(title: str) -> str:
    """Return the anchor of the heading `title`."""
    return title.lower().replace(" ", "-")


def link(name: str) -> str:
    """Return a link to the heading `name`."""
    return f"[{name}](#{anchor(name)})"
