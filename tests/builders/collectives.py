"""Traces of several ranks whose clocks, waits and transfers are known."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.builders.events import Event, host, kernel, op
from tests.builders.relations import Run

Clock = Callable[[float], float]  # recorded time of a true time, µs


def shifted(offset_us: float, drift_ppm: float = 0) -> Clock:
    """Return a clock that is ahead by an offset, and faster."""
    return lambda at_us: at_us + offset_us + drift_ppm * 1e-6 * at_us


@dataclass
class Call:
    """A collective: the time at which each rank comes, by rank, and what the trace says about it.

    All ranks end at the same time, `transfer_us` after the last one came, apart from `jitter_us`.
    """

    starts_us: Mapping[int, float]
    transfer_us: float = 100
    kind: str = "allreduce"
    elements: int = 1000
    group: str = "0"
    members: Sequence[int] | None = None
    seq: int | None = None
    jitter_us: float = 0
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def end_us(self) -> float:
        return max(self.starts_us.values()) + self.transfer_us


def loop(
    ranks: int,
    calls: int,
    compute_us: Callable[[int, int], float],
    *,
    start_us: float = 1000,
    **each: Any,
) -> list[Call]:
    """Return a loop of collectives; `compute_us` is a rank's time before the n-th one."""
    found: list[Call] = []
    for number in range(calls):
        start_us = found[-1].end_us if found else start_us
        starts = {rank: start_us + compute_us(rank, number) for rank in range(ranks)}
        found.append(Call(starts, **each))
    return found


def recorded(
    calls: Iterable[Call],
    clocks: Mapping[int, Clock],
    *,
    hosts: Mapping[int, str] | None = None,
    skipped: Mapping[int, int] | None = None,
    missing: Sequence[int] = (),
    seed: int = 0,
) -> Run:
    """Return a run with a trace for each rank.

    `hosts`: names of the ranks' hosts. `skipped`: number of first calls that a rank did not record.
    `missing`: ranks without a trace.
    """
    noise = random.Random(seed)
    events: dict[int, list[Event]] = {rank: [] for rank in clocks}
    for call in calls:
        members = sorted(call.members or call.starts_us)
        for rank, start_us in call.starts_us.items():
            end_us = call.end_us + noise.uniform(-call.jitter_us, call.jitter_us)
            begin, end = (clocks[rank](at_us) for at_us in (start_us, end_us))
            args = {
                "device": rank,
                "stream": 7,
                "Collective name": call.kind,
                "Process Group Name": call.group,
                "Process Group Ranks": str(members),
                "Group size": len(members),
                "dtype": "Float",
                "In msg nelems": call.elements,
                "Out msg nelems": call.elements,
                **({} if call.seq is None else {"Seq": call.seq}),
                **call.more,
            }
            name = f"ncclDevKernel_{call.kind}(ncclDevKernelArgsStorage<4096ul>)"
            events[rank].append(
                {
                    "ph": "X",
                    "cat": "kernel",
                    "name": name,
                    "pid": rank,
                    "tid": 7,
                    "ts": round(begin, 3),
                    "dur": round(end - begin, 3),
                    "args": args,
                }
            )
    files = {}
    for rank, found in events.items():
        if rank not in missing:
            host = {"host_name": hosts[rank]} if hosts else {}
            files[f"rank{rank}.json"] = {
                "distributedInfo": {"rank": rank, "world_size": len(events)},
                **host,
                "traceEvents": found[(skipped or {}).get(rank, 0) :],
            }
    return Run(files)


def computing(
    run: Run,
    kernels: Callable[[int], int] = lambda _: 1,
    loading_us: Callable[[int], float] = lambda _: 0,
    per_step: int = 1,
) -> Run:
    """Fill the time before each collective with kernels of `aten::mm`. Return the run.

    The first collective is before the first step, and then each `per_step` of them end a step of
    the profiler. `kernels`: how many of the same length a rank has before a collective.
    `loading_us`: how long its data loader takes before that.
    """
    for name, content in run.files.items():
        rank = content["distributedInfo"]["rank"]
        before_us, step_us, events = 0.0, 0.0, []
        for number, call in enumerate(content["traceEvents"]):
            first_us = before_us + loading_us(rank)
            each_us = (call["ts"] - first_us) / kernels(rank)
            if number:  # the first one only shows when the second step begins
                end_us = call["ts"] + call["dur"]
                if number % per_step == 0:
                    step = op(f"ProfilerStep#{number // per_step}", step_us, end_us - step_us)
                    events.append({**step, "cat": "user_annotation"})
                    step_us = end_us
                if loading_us(rank):
                    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
                    events.append(
                        host(loader, "user_annotation", before_us + 1, loading_us(rank) - 1)
                    )
                for place in range(kernels(rank)):
                    at_us = first_us + place * each_us
                    correlation = {"correlation": 100 * number + place}
                    events += [
                        op("aten::mm", at_us, 4),
                        host("cudaLaunchKernel", "cuda_runtime", at_us + 1, 2, args=correlation),
                        kernel("gemm", at_us + 3, each_us - 4, device=rank, **correlation),
                    ]
            before_us = call["ts"] + call["dur"]
            step_us = step_us or before_us
        content["traceEvents"] += events
        run.files[name].update(content)
    return run


def awaited(run: Run) -> Run:
    """Make the host launch the collectives of `computing`, and wait for them. Return the run."""
    for content in run.files.values():
        events = content["traceEvents"]
        calls = [event for event in events if event["name"].startswith("nccl")]
        launches = [event for event in events if event["name"] == "cudaLaunchKernel"]
        for number, (before, call) in enumerate(pairwise(calls)):
            start_us, end_us = (each["ts"] + each["dur"] for each in (before, call))
            launched_us = max(each["ts"] for each in launches if each["ts"] < end_us)
            assert launched_us > start_us
            args = {"correlation": 100_000 + number}
            call["args"] |= args
            wait_us = launched_us + 8
            events += [
                host("cudaLaunchKernel", "cuda_runtime", launched_us + 5, 2, args=args),
                host("cudaDeviceSynchronize", "cuda_runtime", wait_us, end_us - wait_us),
            ]
    return run
