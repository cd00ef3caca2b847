"""Events of small traces, from their start to their end. Times are µs."""

from typing import Any

from tests.builders.events import Event, host, kernel

Row = tuple[str, str | None, float]  # kind, name, µs

WHOLE = "ProfilerStep#0"
SYNC = "cudaDeviceSynchronize"
COPY, PAGEABLE = "cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)"
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
BACKWARD = "autograd::engine::evaluate_function: MmBackward0"
LAUNCH = "cudaLaunchKernel"


def step(start: float, end: float, number: int = 0) -> Event:
    return host(f"ProfilerStep#{number}", "user_annotation", start, end - start)


def op(name: str, start: float, end: float, tid: int = 1, category: str = "cpu_op") -> Event:
    return host(name, category, start, end - start, tid=tid)


def call(start: float, end: float, correlation: int, name: str = LAUNCH, tid: int = 1) -> Event:
    arguments = {"correlation": correlation}
    return host(name, "cuda_runtime", start, end - start, arguments, tid)


def on_device(
    name: str, start: float, end: float, correlation: int | None = None, stream: int = 7
) -> Event:
    category = "gpu_memcpy" if name.startswith("Memcpy") else "kernel"
    arguments: dict[str, Any] = {} if correlation is None else {"correlation": correlation}
    return kernel(name, start, end - start, category, stream=stream, **arguments)


def recorded(kind: str, at: float, correlation: int, stream: int, **more: int) -> Event:
    """Return the event that CUDA records for a synchronisation in addition to its call."""
    arguments = {"cuda_sync_kind": kind, "device": 0, "stream": stream, "correlation": correlation}
    return kernel(kind, at, 1, "cuda_sync", **{**arguments, **more})


STEP = step(0, 100)
# Launched at the start of the step. It ends long before the step does.
BEGIN: list[Row] = [("host", WHOLE, 10), ("host", LAUNCH, 2)]
A = [call(10, 12, 1), on_device("A", 20, 80, 1)]
TO_A: list[Row] = [*BEGIN, ("launch", "A", 8), ("compute", "A", 60)]
A_10 = [call(10, 12, 1), on_device("A", 20, 30, 1)]
