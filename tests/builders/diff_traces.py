"""A pair of traces whose difference is known: three ops fused, one bubble gone, one op slower.

Times are microseconds. Each call of `trace` writes the same step again and again on one thread and
one device; what a step does is a list of `Call`.
"""

from dataclasses import dataclass, field

from tests.builders.events import Event, host, kernel

DEVICE = {"deviceProperties": [{"id": 0, "name": "Test Device"}]}


@dataclass
class Call:
    """An op, the launch in it, and its kernel: (start, length) each, from the step's start."""

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
        """Its middle half."""
        start, length = self.host
        return start + length // 4, length // 2


EAGER = [
    Call("aten::mm", (10, 20), "gemm", (50, 100)),
    Call("aten::mul", (40, 20), "mul_kernel", (150, 10)),
    Call("aten::add", (70, 20), "add_kernel", (160, 10)),
    Call("aten::relu", (100, 20), "relu_kernel", (170, 10)),
    Call("aten::softmax", (400, 20), "softmax_kernel", (430, 50)),  # after a bubble of 250
    Call("aten::sum", (430, 20), "sum_kernel", (480, 20)),
]
EAGER_STEP = 1000

FUSED = "triton_poi_fused_add_mul_relu_0"
COMPILED = [
    Call("aten::mm", (10, 20), "gemm", (50, 100)),
    Call(FUSED, (40, 20), FUSED, (150, 14), launch_name="cuLaunchKernel"),
    Call("aten::softmax", (70, 20), "softmax_kernel", (164, 50)),  # no bubble before
    Call("aten::sum", (100, 20), "sum_kernel", (214, 30)),  # slower by 10
]
COMPILED_STEP = 800

# By hand, for the first of two steps that take the same time, in ns. Eager: kernels of 200 µs; 50
# before the first of them, a bubble of 250 between two, and of that between the steps, 550, the 500
# up to the second step's start. Compiled: kernels of 194, 50 before the first, and of a bubble of
# 606 between the steps 556.
PARTS = {
    "lead": (50_000, 50_000),
    "bubble_host": (750_000, 556_000),
    "compute": (200_000, 194_000),
}
WALL = (1_000_000, 800_000)
COUNTS = {
    "steps": (2, 2),
    "kernels": (6, 4),
    "activities": (6, 4),
    "launches": (6, 4),
    "launch_call": (60_000, 40_000),
    "bubbles": (1, 0),
    "short_kernels": (0, 0),
}


def eager(steps: int = 2) -> list[Event]:
    """The first trace of the pair."""
    return trace(EAGER, EAGER_STEP, steps)


def compiled(steps: int = 2) -> list[Event]:
    """The second."""
    return trace(COMPILED, COMPILED_STEP, steps)


def trace(
    calls: list[Call], step_us: int, steps: int, step_name: str = "ProfilerStep#"
) -> list[Event]:
    """`steps` times these calls, in a range `step_name` with the number of the step."""
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
    """The op, its launch and its kernel, in a step that begins at `begin`."""
    link = {"correlation": correlation}
    (op_start, op_length), (launch_start, launch_length) = call.host, call.launch
    start, length = call.device
    return [
        host(call.op, "cpu_op", begin + op_start, op_length, {"Input Dims": call.dims}),
        host(call.launch_name, "cuda_runtime", begin + launch_start, launch_length, link),
        kernel(call.kernel, begin + start, length, call.category, stream=call.stream, **link),
    ]
