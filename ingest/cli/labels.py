"""The labels of a run as command-line options."""

from enum import StrEnum

import typer


class Mode(StrEnum):
    """The mode in which a model was run."""

    eager = "eager"
    compiled = "compiled"


def tags_of(pairs: list[str]) -> dict[str, str | None]:
    """Return the tags that `--tag KEY=VALUE` sets. Raise BadParameter for any other form."""
    for pair in pairs:
        if not pair.partition("=")[0].strip() or "=" not in pair:
            raise typer.BadParameter(f"{pair}: a tag must be KEY=VALUE", param_hint="--tag")
    return {key: value for key, _, value in (pair.partition("=") for pair in pairs)}
