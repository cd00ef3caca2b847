"""The command `capture sweep`: each variant in processes of its own, then a table of all."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from shlex import quote

from capture.errors import CaptureError, say
from capture.output.run_directory import default_parent
from capture.pipelines.load import KINDS
from capture.sigterm import SIGNALS
from capture.sweep.function import file_and_name
from capture.sweep.lock import locked
from capture.sweep.plan import Plan, finish, is_finished, open_directory
from capture.sweep.sweep import Sweep
from capture.sweep.variants import DTYPE, INPUTS, SIZE, Axis
from capture.units import counted

Parse = Callable[[Sequence[str]], argparse.Namespace]


def sweep(asked: argparse.Namespace, given: Sequence[str], parse: Parse) -> None:
    """Runs a sweep, adds its runs to a store, and prints their table.

    `given` are the pipeline and its options; `parse` exits where a command line of `capture` is
    wrong. What an earlier run of the same command has done is not done again. Raises CaptureError.
    """
    plan = _plan(asked, given)
    for variant in plan.variants:
        _check(parse(plan.command(variant)))
    tag = asked.tag or f"{plan.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    directory, tag = open_directory(plan, asked.out, default_parent() / f"sweep-{plan.name}", tag)
    if asked.tag and asked.tag != tag:
        raise CaptureError(
            f"{directory} holds this sweep as `{tag}`; name another --out, or no tag"
        )
    _be_interrupted()
    store = asked.store or directory / "store"
    with locked(directory) as lock:
        variants = counted(len(plan.variants), "variant")
        say(f"{directory}: {variants}, each timed {counted(plan.repeat, 'time')}, then profiled")
        if is_finished(plan, directory):
            say("all of that is done already; to do it again, name another directory with --out")
        at_work = Sweep(plan, directory, tag, asked.time_limit, [lock])
        try:
            at_work.measure()
            at_work.profile()
        except KeyboardInterrupt:
            say(f"what is done stays in {directory}: the same command goes on from there")
            raise
        at_work.clean()
        runs = [str(at_work.run_of(variant)) for variant in plan.variants]
        _ingest("add", *runs, "--store", str(store), output=sys.stderr.fileno())
        _ingest("sweep", tag, "--store", str(store))
        finish(directory)
        if at_work.has_failed():
            raise CaptureError(f"every variant failed; what their processes said is in {directory}")
    say(f"to see this table again: ingest sweep {quote(tag)} --store {quote(str(store))}")


def _plan(asked: argparse.Namespace, given: Sequence[str]) -> Plan:
    pipeline = given[0] if given and not given[0].startswith("-") else None
    if bool(pipeline) == bool(asked.script):
        raise CaptureError("name a pipeline, or a function with --script FILE:function")
    if pipeline and pipeline not in KINDS:
        raise CaptureError(f"{pipeline}: no such pipeline; there are {', '.join(KINDS)}")
    subject = () if pipeline else ("function", "{}:{}".format(*file_and_name(asked.script)))
    axes = [Axis(SIZE, asked.sizes, is_input=True)] if asked.sizes else []
    for text in asked.axis:
        name, _, values = text.partition("=")
        listed = tuple(filter(None, map(str.strip, values.split(","))))
        if not name or not listed:
            raise CaptureError(f"{text}: an axis is written as option=value,value")
        name = name.lstrip("-")
        is_input = name in INPUTS if pipeline else name != DTYPE
        axes.append(Axis(name, listed, is_input))
    return Plan((*subject, *given), tuple(asked.tries), tuple(axes), asked.repeat, asked.calls)


def _check(asked: argparse.Namespace) -> None:
    """Raises CaptureError for options of a pipeline that a sweep has no use for."""
    if not asked.profile:
        raise CaptureError("--no-profile: a sweep ends with a profile of each variant")


def _be_interrupted() -> None:
    """Has SIGTERM and SIGHUP, which nohup ignores, end a sweep and its processes as Ctrl-C does."""
    for number in SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _ingest(*words: str, output: int | None = None) -> None:
    """Runs a command of `ingest`, which knows of stores. Raises CaptureError where it fails."""
    sys.stdout.flush()
    done = subprocess.run([sys.executable, "-m", "ingest", *words], stdout=output, check=False)
    if done.returncode:
        raise CaptureError(f"ingest {words[0]} failed; the runs are in the directory of the sweep")
