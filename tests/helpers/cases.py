"""A loop over the cases of a test, which reports each case that fails."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Case = TypeVar("Case")


def check_each(cases: Iterable[Case], check: Callable[[Case], None]) -> None:
    """Call `check` for each case. Raise the failures of all cases together, with their names."""
    failures: list[AssertionError] = []
    count = 0
    for case in cases:
        count += 1
        try:
            check(case)
        except AssertionError as failure:
            failure.add_note(f"case: {case}")
            failures.append(failure)
    assert count, "there are no cases"
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {count} cases failed", failures)
