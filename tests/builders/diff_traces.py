"""A pair of traces with known differences: three ops are fused, a bubble is gone, an op is slower.

Times are microseconds. `trace` repeats the same step on one thread and one device. A step is a list
of `Call`.
"""

from dataclasses import dataclass, field

from tests.builders.events import Event, host, kernel

DEVICE = {"deviceProperties": [{"id": 0, "name": "Test Device"}]}


@dataclass
class Call:
    """An op, its launch and its kernel. Each has (start, length), relative to the step's start."""

    op: str
    host: tuple[int, int]
    kernel: str
    device: tuple[int, int]
    dims: list[list[int]] = field(default_factory=lambda: [[64, 64], [64, 64]])
    launch_name: str = "cudaLaunchKernel"
    stream: int = 7
    category: str = "kernel"

    @property
    def launch(self) -> tuple[int, int]:
        """The start and length of the launch: the middle half of the op."""
        start, length = self.host
        return start + length // 4, length // 2


EAGER = [
    Call("aten::mm", (10, 20), "gemm", (50, 100)),
    Call("aten::mul", (40, 20), "mul_kernel", (150, 10)),
    Call("aten::add", (70, 20), "add_kernel", (160, 10)),
    Call("aten::relu", (100, 20), "relu_kernel", (170, 10)),
    Call("aten::softmax", (400, 20), "softmax_kernel", (430, 50)),  # after a bubble of 250 µs
    Call("aten::sum", (430, 20), "sum_kernel", (480, 20)),
]
EAGER_STEP = 1000

FUSED = "triton_poi_fused_add_mul_relu_0"
COMPILED = [
    Call("aten::mm", (10, 20), "gemm", (50, 100)),
    Call(FUSED, (40, 20), FUSED, (150, 14), launch_name="cuLaunchKernel"),
    Call("aten::softmax", (70, 20), "softmax_kernel", (164, 50)),  # no bubble before
    Call("aten::sum", (100, 20), "sum_kernel", (214, 30)),  # slower by 10 µs
]
COMPILED_STEP = 800

# Computed by hand for the first of two equal steps, in ns. Eager: kernels of 200 µs, a bubble of
# 50 µs before the first one, one of 250 µs between two, and 500 µs of the bubble of 550 µs between
# the steps, up to the start of the second step. Compiled: kernels of 194 µs, a bubble of 50 µs
# before the first one, and 556 µs of the bubble of 606 µs between the steps.
PARTS = {
    "idle_host": (800_000, 606_000),
    "compute": (200_000, 194_000),
}
WALL = (1_000_000, 800_000)
COUNTS = {
    "steps": (2, 2),
    "kernels": (6, 4),
    "activities": (6, 4),
    "launches": (6, 4),
    "launch_call": (60_000, 40_000),
    "bubbles": (2, 1),
    "short_kernels": (0, 0),
}


def eager(steps: int = 2) -> list[Event]:
    """Return the events of the eager trace."""
    return trace(EAGER, EAGER_STEP, steps)


def compiled(steps: int = 2) -> list[Event]:
    """Return the events of the compiled trace."""
    return trace(COMPILED, COMPILED_STEP, steps)


def trace(
    calls: list[Call], step_us: int, steps: int, step_name: str = "ProfilerStep#"
) -> list[Event]:
    """Return `steps` steps of these calls, each in a range `step_name` with its number."""
    events: list[Event] = []
    for step in range(steps):
        begin = step * step_us
        if step_name:
            annotation = host(f"{step_name}{step + 1}", "user_annotation", begin, step_us)
            events.append(annotation)
        for number, call in enumerate(calls):
            events += activity(call, begin, correlation=1 + step * len(calls) + number)
    return events


def activity(call: Call, begin: int, correlation: int) -> list[Event]:
    """Return the events of a call: op, launch and kernel, in a step that begins at `begin`."""
    link = {"correlation": correlation}
    (op_start, op_length), (launch_start, launch_length) = call.host, call.launch
    start, length = call.device
    return [
        host(call.op, "cpu_op", begin + op_start, op_length, {"Input Dims": call.dims}),
        host(call.launch_name, "cuda_runtime", begin + launch_start, launch_length, link),
        kernel(call.kernel, begin + start, length, call.category, stream=call.stream, **link),
    ]
