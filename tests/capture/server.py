"""Runs `capture` repeatedly, each time in a fork of a process that has imported torch.

Each line of stdin is a JSON list: the files for stdout and stderr, and the arguments. The reply is
a line with the exit code.
"""

import json
import os
import sys

import diffusers

import capture.cli.main

PIPELINES = ("FluxPipeline", "StableDiffusion3Pipeline", "StableDiffusionPipeline")


def forks() -> list[str]:
    """Fork for each line of stdin. Return its words in the fork, and exit at the end of stdin."""
    for line in sys.stdin:
        if not (fork := os.fork()):
            return [str(word) for word in json.loads(line)]
        print(os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]), flush=True)
    sys.exit()


for pipeline in PIPELINES:
    getattr(diffusers, pipeline)  # imports it
out, err, *sys.argv[1:] = forks()
for number, file in enumerate((os.devnull, out, err)):
    os.dup2(os.open(file, os.O_RDWR | os.O_CREAT), number)
capture.cli.main.main()
