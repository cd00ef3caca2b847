"""The labels of a run, as commands take them."""

from enum import StrEnum

import typer


class Mode(StrEnum):
    """How a model was run."""

    eager = "eager"
    compiled = "compiled"


def tags_of(pairs: list[str]) -> dict[str, str | None]:
    """The tags that `--tag K=V` gives. Raises BadParameter for one that is not so written."""
    for pair in pairs:
        if not pair.partition("=")[0].strip() or "=" not in pair:
            raise typer.BadParameter(f"{pair}: a tag is written KEY=VALUE", param_hint="--tag")
    return {key: value for key, _, value in (pair.partition("=") for pair in pairs)}
