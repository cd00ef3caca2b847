"""The command `capture sweep`: each variant in processes of its own, then a table of all."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from capture.errors import CaptureError, say
from capture.output.run_directory import default_parent
from capture.sweep.plan import Plan, open_directory
from capture.sweep.sweep import Sweep
from capture.sweep.variants import SIZE, Axis
from capture.units import counted

Check = Callable[[Sequence[str]], object]


def sweep(asked: argparse.Namespace, given: Sequence[str], check: Check) -> None:
    """Runs a sweep, adds its runs to a store, and prints their table.

    `given` are the options of the pipeline; `check` exits where a command line of `capture` is
    wrong. What an earlier run of the same command has done is not done again.
    """
    plan = _plan(asked, given)
    for variant in plan.variants:
        check(plan.command(variant))
    tag = asked.tag or f"{plan.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    directory, tag = open_directory(plan, asked.out, default_parent() / f"sweep-{plan.name}", tag)
    variants = counted(len(plan.variants), "variant")
    say(f"{directory}: {variants}, each timed {counted(plan.repeat, 'time')}, then profiled")
    at_work = Sweep(plan, directory, tag, asked.time_limit)
    try:
        at_work.measure()
        at_work.profile()
    except KeyboardInterrupt:
        say(f"what is done stays in {directory}: the same command goes on from there")
        raise
    at_work.clean()
    store = asked.store or directory / "store"
    runs = [str(at_work.run_of(variant)) for variant in plan.variants]
    _ingest("add", *runs, "--store", str(store), output=sys.stderr.fileno())
    _ingest("sweep", tag, "--store", str(store))


def _plan(asked: argparse.Namespace, given: Sequence[str]) -> Plan:
    if bool(asked.pipeline) == bool(asked.script):
        raise CaptureError("name a pipeline, or a function with --script FILE:function")
    subject = (asked.pipeline,) if asked.pipeline else ("function", _absolute(asked.script))
    axes = [Axis(SIZE, asked.sizes)] if asked.sizes else []
    for text in asked.axis:
        name, _, values = text.partition("=")
        listed = tuple(filter(None, map(str.strip, values.split(","))))
        if not name or not listed:
            raise CaptureError(f"{text}: an axis is written as option=value,value")
        axes.append(Axis(name.lstrip("-"), listed))
    return Plan((*subject, *given), tuple(asked.tries), tuple(axes), asked.repeat, asked.calls)


def _absolute(function: str) -> str:
    file, colon, name = function.rpartition(":")
    return f"{os.path.abspath(file)}{colon}{name}"


def _ingest(*words: str, output: int | None = None) -> None:
    """Runs a command of `ingest`, which knows of stores. Raises CaptureError where it fails."""
    sys.stdout.flush()
    done = subprocess.run([sys.executable, "-m", "ingest", *words], stdout=output, check=False)
    if done.returncode:
        raise CaptureError(f"ingest {words[0]} failed; the runs are in the directory of the sweep")
