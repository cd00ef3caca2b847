"""Table rows for the stages of a pipeline call and their block classes."""

import pandas as pd

from dashboard.drawing import formatting

INDENT = "\u2003"
TITLE = "Stages of the pipeline"


def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `stage_summary` or `stage_diff` with their names, indented, in `stage`."""
    names = [_name(row.level, row.stage, row.block_class) for row in frame.itertuples()]
    return frame.assign(stage=names).drop(columns=["level", "block_class"])


def _name(level: object, stage: object, block: object) -> str:
    if level == "call":
        return "call"
    if level == "stage":
        return INDENT + str(stage)
    return 2 * INDENT + ("outside of blocks" if formatting.missing(block) else str(block))
