"""Measures a pipeline for a sweep: times its calls and saves its output as an array."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture.pipelines.calls import Inputs, explain_missing_image, generate
from capture.pipelines.compiling import Compile, compile_parts
from capture.pipelines.record import check_inputs
from capture.recording.measure import Subject, measure

if TYPE_CHECKING:
    from diffusers import DiffusionPipeline


def measure_pipeline(
    pipeline: DiffusionPipeline,
    file: Path,
    *,
    inputs: Inputs,
    warm_inputs: Inputs,
    warmup: int,
    calls: int,
    compiled: Compile | None,
) -> None:
    """Write measurements to `file`, and the images or frames of a call to a `.npy` next to it.

    See `capture.recording.measure.measure`. Raises CaptureError for inputs that the pipeline does
    not accept, as `check_inputs` does.
    """
    check_inputs(pipeline, inputs)
    device = pipeline._execution_device
    if compiled:
        compile_parts(pipeline, compiled, device.type, names_kernels=False)

    def warm() -> Any:
        with explain_missing_image(pipeline, warm_inputs):
            return generate(pipeline, warm_inputs)

    subject = Subject(
        device,
        warm=warm,
        call=lambda: generate(pipeline, inputs),
        output=lambda: generate(pipeline, inputs, output_type="np"),
        images=inputs.batch,
        warms_with_same_inputs=warm_inputs == inputs,
    )
    measure(subject, file, warmup, calls)
