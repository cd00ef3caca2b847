"""Calls of operators with shapes and types, whose work is known, and tags with round peaks."""

from typing import Any

from tests.builders.events import Event, kernel, op

# 100 TFLOPS in bfloat16, 50 in TF32, 10 in float32; 1 TB/s.
TAGS: dict[str, str | None] = {
    "peak_bfloat16": "100",
    "peak_tf32": "50",
    "peak_float32": "10",
    "peak_bandwidth": "1",
}
BFLOAT16 = "c10::BFloat16"


def call(
    name: str, start_us: float, shapes: list[Any], types: list[str], *kernels_us: float, **more: Any
) -> list[Event]:
    """Return an operator whose kernels run one after the other, 50 µs after its start.

    `more` may have `kernel` (its name), `category`, `launch_us`, and `inputs` and `args`, which
    are added to the arguments of the operator and of its kernels.
    """
    inputs = {"Input Dims": shapes, "Input type": types, **more.get("inputs", {})}
    events = [op(name, start_us, 20, args=inputs)]
    at_us = start_us + 50
    for number, dur_us in enumerate(kernels_us):
        correlation = int(start_us * 10) + number
        launch_us = more.get("launch_us", 2)
        events += [
            op(
                "cudaLaunchKernel",
                start_us + 1 + number * 3,
                launch_us,
                cat="cuda_runtime",
                args={"correlation": correlation},
            ),
            kernel(
                more.get("kernel", f"gemm_{number}"),
                at_us,
                dur_us,
                category=more.get("category", "kernel"),
                correlation=correlation,
                **more.get("args", {}),
            ),
        ]
        at_us += dur_us
    return events
