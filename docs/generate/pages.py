"""The pages of the docs, as files."""

from pathlib import Path

REPOSITORY = Path(__file__).parent.parent.parent
DOCS = REPOSITORY / "docs"


def read(page: str) -> str:
    """Return the text of a page, named relative to `docs`."""
    return (DOCS / page).read_text(encoding="utf-8")


def write(page: str, text: str) -> None:
    """Replace the text of a page."""
    (DOCS / page).write_text(text, encoding="utf-8")
