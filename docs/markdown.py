"""Markdown, as the generated docs write it."""


def cell(text: str) -> str:
    """`text` as a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def anchor(title: str) -> str:
    """Where a link to a heading leads to."""
    return title.lower().replace(" ", "-")


def link(name: str) -> str:
    """A link to the heading of that name."""
    return f"[{name}](#{anchor(name)})"
