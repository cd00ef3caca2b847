"""Pages and commands show the straggler of a run by default, or else its median rank."""

import pytest

from tests.builders.collectives import computing, loop, recorded, shifted
from tests.builders.events import Event, host, kernel, op
from tests.builders.relations import Run, built, ranks

DEFAULT = "SELECT rank, device, default_reason FROM run_metrics WHERE is_default"
SLOWEST = "SELECT arg_max(rank, wall_ns) FROM run_metrics"


def job(late_us: dict[int, float], drifts_ppm: list[float]) -> Run:
    """Return a run of 11 steps, which a faster clock makes longer on a rank."""
    calls = loop(len(drifts_ppm), 12, lambda rank, _: 5000 + late_us.get(rank, 0))
    clocks = {rank: shifted(0, drift) for rank, drift in enumerate(drifts_ppm)}
    return computing(recorded(calls, clocks))


def test_the_straggler_is_shown_and_not_a_rank_that_waits() -> None:
    found = built(job({2: 800}, [40, 0, 0, 0]))
    assert found.sql("SELECT rank FROM stragglers WHERE is_straggler").fetchall() == [(2,)]
    assert found.sql(SLOWEST).fetchall() == [(0,)]
    assert found.sql(DEFAULT).fetchall() == [(2, 2, "straggler")]


@pytest.mark.parametrize(
    ("drifts_ppm", "slowest", "median"),
    [([40, 0, -40], 0, 1), ([40, 0], 0, 1), ([0, 40], 1, 0), ([40, 0, -40, 80], 3, 1)],
)
def test_the_median_rank_is_shown_without_a_straggler(
    drifts_ppm: list[float], slowest: int, median: int
) -> None:
    """Of the two middle ranks, the shorter one is the median."""
    found = built(job({}, drifts_ppm))
    assert found.sql("SELECT rank FROM stragglers WHERE is_straggler").fetchall() == []
    assert found.sql(SLOWEST).fetchall() == [(slowest,)]
    assert found.sql(DEFAULT).fetchall() == [(median, median, "median")]


def test_of_equal_ranks_the_number_decides() -> None:
    assert built(job({}, [0, 0, 0])).sql(DEFAULT).fetchall() == [(1, 1, "median")]


def test_the_longest_device_of_a_single_rank_is_shown() -> None:
    assert built(step([50, 90])).sql(DEFAULT).fetchall() == [(0, 1, None)]


def test_the_longest_device_of_the_median_rank_is_shown() -> None:
    """Rank 1 is the median by its second device, and would be the shortest by its first one."""
    found = built(ranks(map(step, ([50, 60], [20, 70], [80, 90]))))
    assert found.sql(DEFAULT).fetchall() == [(1, 1, "median")]


def step(durations_us: list[float]) -> list[Event]:
    """Return a step with a kernel of such a length on each device."""
    events = [op("ProfilerStep#0", 0, 20, cat="user_annotation")]
    for device, dur in enumerate(durations_us):
        args = {"correlation": device}
        events.append(host("cudaLaunchKernel", "cuda_runtime", 1 + 3 * device, 2, args=args))
        events.append(kernel("gemm", 10, dur, device=device, **args))
    return events
