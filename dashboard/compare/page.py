"""Page Compare: what changed from one run, or group of runs, to the other, and why."""

from dashboard.compare import answer, compilations, medians, operators, picker, timeline, waterfall
from dashboard.widgets import incomplete_runs, recompiled
from dashboard.widgets.view import View


def page(view: View) -> None:
    """The page."""
    pair = picker.pick(view.runs)
    if pair is None:
        return
    incomplete_runs.warn(pair.all_runs)
    recompiled.warn(pair.all_runs)
    metrics = answer.show(pair)
    if metrics is None:
        return
    waterfall.show(pair, metrics)
    medians.introduce(pair)
    operators.show(pair)
    timeline.show(pair)
    compilations.show(pair)
