"""Profiles a model with five added lines: `python examples/plain_script.py --profile`."""

import argparse

import torch

import capture

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batch", type=int, default=8)
capture.add_profiler_arguments(parser)
args = parser.parse_args()

model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64))
inputs = torch.randn(args.batch, 64)

with capture.create_profiler_from_args(args, profile_name="plain") as profiler, torch.no_grad():
    profiler.describe(model="mlp", batch=args.batch)
    for _ in range(5):
        model(inputs)
        profiler.step()

if profiler.enabled:
    print(profiler.output_dir)
