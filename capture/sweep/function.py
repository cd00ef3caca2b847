"""A function of the user's own as what a sweep measures: `--script FILE:function`."""

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
from capture.errors import CaptureError, capture_extra
from capture.pipelines.compiling import DENOISER, Compile, check_compiler
from capture.pipelines.record import TIMED_CALLS
from capture.recording.arguments import create_profiler_from_args
from capture.recording.measure import Subject, measure

SIZES = ("height", "width")  # of --sizes: a function need not take them both


def profile_function(asked: Namespace, compiled: Compile | None) -> None:
    """Measures or profiles the function that was asked for."""
    with capture_extra():
        import torch
    torch.manual_seed(asked.seed)  # for weights that the file makes
    function = load_function(asked.function)
    _, name = file_and_name(asked.function)  # not every callable knows its own
    arguments = arguments_of(function, _values(asked.argument))
    device = default_device()
    if compiled:
        if compiled.regional or compiled.parts != (DENOISER,):
            raise CaptureError(f"{asked.function}: a function has no blocks or parts to compile")
        check_compiler(device.type)
    run = torch.compile(function, **compiled.options) if compiled else function

    def call() -> Any:
        torch.manual_seed(asked.seed)
        return run(**arguments)

    if asked.measure:
        subject = Subject(device, call, call, call)
        measure(subject, asked.measure, asked.warmup, asked.measured_calls)
        return
    asked.profile_dir = asked.out
    profiler = create_profiler_from_args(asked, asked.profile_name or name)
    profiler.describe(
        model=name,
        mode="compiled" if compiled else "eager",
        seed=asked.seed,
        warmup=asked.warmup,
        arguments={"function": asked.function, **arguments},
    )
    for _ in range(asked.warmup):
        call()
    times_ns: list[int] = []
    for _ in range(TIMED_CALLS):
        with timed(device, times_ns):
            call()
    profiler.describe(wall_times_ns=times_ns, wall_time_ns=round(median(times_ns)))
    with profiler:
        call()


def load_function(text: str) -> Callable[..., Any]:
    """The function of `FILE:function`. Raises CaptureError where there is none.

    The file is imported as a module, with its directory among the places of modules.
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
        raise CaptureError(f"{path}: no function {name} in it")
    return function


def file_and_name(text: str) -> tuple[Path, str]:
    """The two parts of `FILE:function`. Raises CaptureError where there is no such file."""
    file, _, name = text.rpartition(":")
    if not file or not name:
        raise CaptureError(f"{text}: is not written as FILE:function")
    path = Path(file).absolute()
    if not path.is_file() or path.suffix != ".py":
        raise CaptureError(f"{file}: no such Python file")
    return path, name


def arguments_of(function: Callable[..., Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call. Raises CaptureError for one that the function does not take.

    So does a parameter without a value. Of height and width, it may take one.
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
    """`NAME=VALUE` as arguments: a value is a Python literal, else a text."""
    values: dict[str, Any] = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            values[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            values[name] = value
    return values
