"""Runs of ranks that compute for known times before each collective."""

from collections.abc import Callable, Iterable

from tests.builders.collectives import computing, loop, recorded, shifted
from tests.builders.relations import Run


def stepping(ranks: Iterable[int], compute_us: Callable[[int], float]) -> Run:
    """Return a run of 11 steps, each with a kernel and a collective of 100 µs.

    Recorded are `ranks` of the job, whose clocks differ. `compute_us` is a rank's time before the
    collective; its kernel takes 4 µs less.
    """
    kept = sorted(ranks)
    world = kept[-1] + 1
    return computing(
        recorded(
            loop(world, 12, lambda rank, _: compute_us(rank)),
            {rank: shifted(30 * (rank % 8)) for rank in range(world)},
            missing=[rank for rank in range(world) if rank not in kept],
        )
    )


def late(rank: int, us: float = 800) -> Callable[[int], float]:
    """Return the times of ranks that compute 4.8 ms, of which one computes longer."""
    return lambda each: 4800 + us * (each == rank)


def without_collectives(run: Run) -> Run:
    """Drop the collectives of a run. Return the run."""
    for content in run.files.values():
        events = content["traceEvents"]
        content["traceEvents"] = [each for each in events if not each["name"].startswith("nccl")]
    return run
