"""The texts about a run's median step."""

from types import SimpleNamespace

import pandas as pd
import pytest

from dashboard.widgets import median_step


@pytest.mark.parametrize(("compared", "expected"), [(5, 5), (pd.NA, 6), (float("nan"), 6)])
def test_a_run_of_an_older_version_compares_all_its_steps(compared, expected):
    """Older versions did not store how many steps the quartiles compare."""
    row = SimpleNamespace(
        steps_from="ProfilerStep",
        step_name="ProfilerStep",
        steps=6,
        step=7,
        compared_steps=compared,
        q1_wall_ns=1_000_000,
        q3_wall_ns=2_000_000,
    )
    assert median_step.compared(row) == expected
    assert median_step.described(row) == (
        "6 steps from the profiler, median step 7, middle half 1.00 ms to 2.00 ms"
    )
