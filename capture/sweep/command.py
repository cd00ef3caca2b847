"""The command `capture sweep`: runs variants in separate processes and prints a table."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from shlex import quote

from capture.errors import CaptureError, UsageError, say
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


def sweep(args: argparse.Namespace, remaining: Sequence[str], parse: Parse) -> None:
    """Run a sweep, add its runs to a store, and print their table.

    `remaining` has the pipeline and its options. `parse` exits if a command line of `capture` is
    wrong. Results of an earlier run of the same command are kept and not repeated. Raises
    CaptureError if the command line is wrong or every variant fails.
    """
    plan = _plan(args, remaining)
    for variant in plan.variants:
        _check(parse(plan.command(variant)))
    tag = args.tag or f"{plan.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    directory, tag = open_directory(plan, args.out, default_parent() / f"sweep-{plan.name}", tag)
    if args.tag and args.tag != tag:
        raise CaptureError(
            f"{directory} contains this sweep with the tag `{tag}`; omit --tag, or name another "
            "directory with --out"
        )
    _handle_signals_as_interrupts()
    store = args.store or directory / "store"
    with locked(directory) as lock:
        variants = counted(len(plan.variants), "variant")
        processes = f"{plan.repeat:,} process" + ("es" if plan.repeat > 1 else "")
        say(f"{directory}: {variants}, each timed in {processes}, then profiled")
        if is_finished(plan, directory):
            say("this sweep is already complete; to repeat it, name another directory with --out")
        running = Sweep(plan, directory, tag, args.time_limit, [lock])
        try:
            running.measure()
            running.profile()
        except KeyboardInterrupt:
            say(f"the results so far are in {directory}; run the same command to continue")
            raise
        running.clean()
        runs = [str(running.run_of(variant)) for variant in plan.variants]
        _ingest("add", *runs, "--store", str(store), output=sys.stderr.fileno())
        _ingest("sweep", tag, "--store", str(store))
        finish(directory)
        if running.has_failed():
            raise CaptureError(f"every variant failed; the logs are in {directory}")
    say(f"to see this table again: ingest sweep {quote(tag)} --store {quote(str(store))}")


def _plan(args: argparse.Namespace, remaining: Sequence[str]) -> Plan:
    pipeline = remaining[0] if remaining and not remaining[0].startswith("-") else None
    if bool(pipeline) == bool(args.script):
        raise UsageError("name either a pipeline or a function (--script FILE:FUNCTION)")
    if pipeline and pipeline not in KINDS:
        raise UsageError(f"{pipeline}: unknown pipeline; choose from {', '.join(KINDS)}")
    subject = () if pipeline else ("function", "{}:{}".format(*file_and_name(args.script)))
    axes = [Axis(SIZE, args.sizes, is_input=True)] if args.sizes else []
    for text in args.axis:
        name, _, values = text.partition("=")
        listed = tuple(filter(None, map(str.strip, values.split(","))))
        if not name or not listed:
            raise UsageError(f"--axis {text}: must be OPTION=VALUE,VALUE")
        name = name.lstrip("-")
        is_input = name in INPUTS if pipeline else name != DTYPE
        axes.append(Axis(name, listed, is_input))
    return Plan((*subject, *remaining), tuple(args.tries), tuple(axes), args.repeat, args.calls)


def _check(args: argparse.Namespace) -> None:
    """Raise UsageError for options of a pipeline that a sweep does not support."""
    if not args.profile:
        raise UsageError("--no-profile: not supported, because a sweep profiles each variant")


def _handle_signals_as_interrupts() -> None:
    """Make SIGTERM and SIGHUP end the sweep and its processes as Ctrl-C does.

    Under nohup, SIGHUP stays ignored.
    """
    for number in SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _ingest(*words: str, output: int | None = None) -> None:
    """Run a command of `ingest`. Raise CaptureError if it fails."""
    sys.stdout.flush()
    done = subprocess.run([sys.executable, "-m", "ingest", *words], stdout=output, check=False)
    if done.returncode:
        raise CaptureError(f"ingest {words[0]} failed; the runs are in the directory of the sweep")
