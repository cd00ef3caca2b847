"""The kinds of advice: how pages call and colour them, and where their evidence is."""

from dataclasses import dataclass

ORDER = "is_reachable DESC, bound_ns DESC, kind"  # of view `advice`: the best first


@dataclass(frozen=True)
class Kind:
    """How a kind of advice is called and coloured, and the view that holds its evidence.

    `evidence`: the view's columns, its name, whether it has a device, and its order.
    """

    title: str
    short: str
    colour: str
    evidence: tuple[str, str, bool, str] | None = None


KINDS = {
    "host_bound": Kind("Idle: the host launches late", "host", "host"),
    "small_kernels": Kind(
        "Kernels shorter than their launch",
        "small kernels",
        "launch",
        (
            "name, step_device_ns, step_launch_idle_ns, step_host_idle_ns, step_calls, calls",
            "short_kernels",
            True,
            "step_device_ns + step_launch_idle_ns DESC, device_ns DESC, name",
        ),
    ),
    "recompiled": Kind(
        "Compiled while measured",
        "compilation",
        "compile",
        (
            "compile_id, compiled_frame, is_recompile, dur_ns, reason, evidence",
            "compilations",
            False,
            "dur_ns DESC NULLS LAST, compile_id",
        ),
    ),
    "blocking": Kind(
        "Idle: the host waited for the device",
        "waits",
        "sync",
        (
            "step_bubble_ns, step_bubbles, bubble_ns, bubbles, wait, copy, wait_frame",
            "waits",
            True,
            "step_bubble_ns DESC, bubble_ns DESC, wait, wait_frame",
        ),
    ),
    "dataloader": Kind("Idle: loading data", "loading data", "dataloader"),
    "exposed_communication": Kind(
        "Communication that nothing hides", "communication", "exposed_communication"
    ),
    "exposed_copy": Kind("Copies that nothing hides", "copies", "exposed_copy"),
    "float_matmul": Kind(
        "float32 where tensor cores could work",
        "float32",
        "compute",
        (
            "op, step_device_ns, step_calls, device_ns, calls, kernels, kernel",
            "float_matmuls",
            True,
            "step_device_ns DESC, device_ns DESC, op",
        ),
    ),
}


def title(kind: str, on_host: bool) -> str:
    """What a kind of advice is about; of a run without a device, in words that suit it."""
    return "Between operators: Python" if on_host and kind == "host_bound" else KINDS[kind].title
