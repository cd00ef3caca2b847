"""A small trace of a model on a device, with the events that most relations need."""

from tests.builders.events import Event, host, kernel, op

STEP_US = 1000


def training(steps: int = 3) -> list[Event]:
    """Return steps with a copy to the device, two kernels with a gap between them, and a wait."""
    return [event for number in range(steps) for event in _step(number)]


def _step(number: int) -> list[Event]:
    start = number * STEP_US
    first = 10 * number + 1
    shapes = {"Input Dims": [[8, 16], [16, 32]], "Input type": ["float", "float"]}
    return [
        host(f"ProfilerStep#{number}", "user_annotation", start, STEP_US - 1),
        op("aten::copy_", start + 10, 80),
        _launch("cudaMemcpyAsync", start + 20, first),
        kernel(
            "Memcpy HtoD (Pinned -> Device)",
            start + 60,
            40,
            category="gpu_memcpy",
            correlation=first,
            **{"bytes": 4096, "memory bandwidth (GB/s)": 1.0},
        ),
        op("aten::linear", start + 110, 100),
        op("aten::mm", start + 120, 80, args=shapes),
        _launch("cudaLaunchKernel", start + 130, first + 1),
        kernel("sgemm_128x64", start + 200, 100, correlation=first + 1),
        op("aten::gelu", start + 400, 60),
        _launch("cudaLaunchKernel", start + 410, first + 2),
        kernel("gelu_kernel", start + 500, 2, correlation=first + 2),
        host("cudaDeviceSynchronize", "cuda_runtime", start + 700, 200, {}),
    ]


def _launch(name: str, start: float, correlation: int) -> Event:
    return host(name, "cuda_runtime", start, 5, {"correlation": correlation})
