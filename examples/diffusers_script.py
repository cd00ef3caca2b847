"""Profiles one call of a diffusers pipeline. Its denoising steps become the profiler's steps."""

import argparse

import torch

import capture
from capture.pipelines.flux import tiny_flux

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=5)
capture.add_profiler_arguments(parser)
args = parser.parse_args()

# Any pipeline works: FluxPipeline.from_pretrained("black-forest-labs/FLUX.1-dev", ...).to("cuda")
pipeline = tiny_flux()
prompt = "a house of traces"


def generate() -> None:
    pipeline(
        prompt,
        height=64,
        width=64,
        num_inference_steps=args.steps,
        max_sequence_length=64,
        generator=torch.Generator().manual_seed(0),
    )


generate()  # warm up with the shapes of the measured call
with (
    capture.MemoryTracker() as memory,
    capture.create_profiler_from_args(args, profile_name="flux") as profiler,
):
    profiler.describe(model="flux-tiny", prompt=prompt, steps=args.steps)
    generate()
memory.report()

if profiler.enabled:
    print(profiler.output_dir)
