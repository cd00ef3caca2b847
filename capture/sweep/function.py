"""Measures or profiles a user's function for a sweep: `--script FILE:FUNCTION`."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from capture.device import default_device, timed
from capture.errors import CaptureError, UsageError, capture_extra
from capture.pipelines.compiling import DENOISER, Compile, check_compiler
from capture.pipelines.record import TIMED_CALLS
from capture.recording.arguments import create_profiler_from_args
from capture.recording.measure import Subject, measure

SIZES = ("height", "width")  # set by --sizes; a function may accept only one of them


def profile_function(args: Namespace, compiled: Compile | None) -> None:
    """Measure or profile the function of the command line."""
    with capture_extra():
        import torch
    torch.manual_seed(args.seed)  # the file can create random weights
    function = load_function(args.function)
    _, name = file_and_name(args.function)  # not every callable has a name
    arguments = arguments_of(function, _values(args.argument))
    device = default_device()
    if compiled:
        if compiled.regional or compiled.parts != (DENOISER,):
            raise UsageError(
                f"{args.function}: functions do not support --regional and --compile-parts"
            )
        check_compiler(device.type)
    run = torch.compile(function, **compiled.options) if compiled else function

    def call() -> Any:
        torch.manual_seed(args.seed)
        return run(**arguments)

    if args.measure:
        subject = Subject(device, call, call, call)
        measure(subject, args.measure, args.warmup, args.measured_calls)
        return
    args.profile_dir = args.out
    profiler = create_profiler_from_args(args, args.profile_name or name)
    profiler.describe(
        model=name,
        mode="compiled" if compiled else "eager",
        seed=args.seed,
        warmup=args.warmup,
        arguments={"function": args.function, **arguments},
    )
    for _ in range(args.warmup):
        call()
    times_ns: list[int] = []
    for _ in range(TIMED_CALLS):
        with timed(device, times_ns):
            call()
    profiler.describe(wall_times_ns=times_ns, wall_time_ns=round(median(times_ns)))
    with profiler:
        call()


def load_function(text: str) -> Callable[..., Any]:
    """Return the function of `FILE:FUNCTION`. Raise CaptureError if there is no such function.

    The file is imported as a module, with its directory on `sys.path`.
    """
    path, name = file_and_name(text)
    sys.path.insert(0, os.fspath(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    function: Callable[..., Any] | None = getattr(module, name, None)
    if not callable(function):
        raise CaptureError(f"{path}: has no function {name}")
    return function


def file_and_name(text: str) -> tuple[Path, str]:
    """Return the two parts of `FILE:FUNCTION`. Raise UsageError if there is no such file."""
    file, _, name = text.rpartition(":")
    if not file or not name:
        raise UsageError(f"{text}: must be FILE:FUNCTION")
    path = Path(file).absolute()
    if not path.is_file() or path.suffix != ".py":
        raise UsageError(f"{file}: no such Python file")
    return path, name


def arguments_of(function: Callable[..., Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call.

    Raises CaptureError if the function does not accept an argument, or if a parameter has no value.
    Height and width are an exception: the function may accept only one of them.
    """
    parameters = inspect.signature(function).parameters
    takes_all = any(each.kind == each.VAR_KEYWORD for each in parameters.values())
    taken = {name: value for name, value in wanted.items() if takes_all or name in parameters}
    for name in wanted:
        if name not in taken and not (name in SIZES and taken.keys() & SIZES):
            raise CaptureError(f"the function has no parameter {name}")
    for name, parameter in parameters.items():
        is_variable = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        if parameter.default is parameter.empty and not is_variable and name not in taken:
            raise CaptureError(f"the function needs a value for {name}: --axis {name}=VALUE")
    return taken


def _values(given: Sequence[str]) -> dict[str, Any]:
    """Parse `NAME=VALUE` arguments. A value that is not a Python literal is text."""
    values: dict[str, Any] = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            values[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            values[name] = value
    return values
