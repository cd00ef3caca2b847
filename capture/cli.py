"""The command line `capture`: options in, the path of a run directory out."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from capture import run_directory
from capture.denoising import Inputs
from capture.device import default_device
from capture.errors import CaptureError
from capture.pipelines.flux import tiny_flux
from capture.profile import ProfilerOptions
from capture.record import record

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line; exits with 1 after a failure, 2 after a wrong usage."""
    try:
        app()
    except CaptureError as error:
        print(f"capture: {error}", file=sys.stderr)
        sys.exit(1)


@app.callback()
def capture() -> None:
    """Record profiles of models into run directories, for `ingest add`."""


@app.command()
def flux(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Run directory to make; must not hold files.")],
    tiny: Annotated[bool, typer.Option("--tiny", help="Small random model, no download.")] = False,
    steps: Annotated[int, typer.Option(min=1, help="Denoising steps to profile.")] = 3,
    warmup: Annotated[int, typer.Option(min=0, help="Calls before the measured ones.")] = 1,
    batch: Annotated[int, typer.Option(min=1, help="Images in a call.")] = 1,
    height: Annotated[int, typer.Option(min=1, help="Of the image, pixels.")] = 64,
    width: Annotated[int, typer.Option(min=1, help="Of the image, pixels.")] = 64,
    seed: Annotated[int, typer.Option(min=0, help="Of weights and latents.")] = 0,
    with_stack: Annotated[bool, typer.Option(help="Record Python frames.")] = True,
    record_shapes: Annotated[bool, typer.Option(help="Record the operators' inputs.")] = True,
) -> None:
    """Profile one call of a FLUX pipeline; prints the run directory."""
    if not tiny:
        raise CaptureError("only the tiny random model is supported for now: add --tiny")
    run_directory.create(out)  # record does it too, but only after seconds of imports
    # Keeps transformers from remarking on image processors that are imported but not used here.
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    run = record(
        tiny_flux(seed).to(default_device()),
        out,
        model="flux-tiny",
        inputs=Inputs(batch=batch, height=height, width=width, steps=steps, seed=seed),
        warmup=warmup,
        options=ProfilerOptions(record_shapes=record_shapes, with_stack=with_stack),
        arguments={"command": "flux", **context.params, "out": str(out)},
    )
    print(f"{run.steps} steps profiled on {run.device_name}", file=sys.stderr)
    print(out)
