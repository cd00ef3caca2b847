"""Runs `capture` again and again, each time in a copy of a process that has imported torch.

Each line of stdin has the files for stdout and stderr and the arguments, as JSON. The answer is a
line with the exit code.
"""

import json
import os
import sys

import diffusers

import capture.cli.main

PIPELINES = ("FluxPipeline", "StableDiffusion3Pipeline", "StableDiffusionPipeline")


def copies() -> list[str]:
    """Returns in each copy, with what it is asked for; ends the process as stdin ends."""
    for line in sys.stdin:
        if not (copy := os.fork()):
            return [str(word) for word in json.loads(line)]
        print(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]), flush=True)
    sys.exit()


for pipeline in PIPELINES:
    getattr(diffusers, pipeline)  # imports it
out, err, *sys.argv[1:] = copies()
for number, file in enumerate((os.devnull, out, err)):
    os.dup2(os.open(file, os.O_RDWR | os.O_CREAT), number)
capture.cli.main.main()
