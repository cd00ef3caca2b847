"""Marks the stages of diffusers pipelines in traces.

| label               | around                                                       |
| ------------------- | ------------------------------------------------------------ |
| `pipeline: <class>` | a call of a pipeline                                         |
| `stage: encode`     | the pipeline's methods `encode_…`, and `encode` of its parts |
| `stage: denoise`    | the denoising loop, from the start of its progress bar       |
| `stage: decode`     | the pipeline's methods `decode_…`, and `decode` of its parts |
| `block: <class>`    | a call of a repeated block of its denoisers                  |
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from capture.recording.denoisers import block_classes, denoisers
from capture.recording.denoising import PIPELINE_MODULE
from capture.recording.labels import labelled
from capture.recording.trace import torch_records

if TYPE_CHECKING:
    import torch
    from diffusers import DiffusionPipeline

Function = Callable[..., Any]
OF_PIPELINE = re.compile(r"_?(encode|decode)_")  # methods of a pipeline that are a stage
OF_PART = ("encode", "decode")  # methods of a VAE or another part that are a stage


class Stages:
    """Labels the stages of pipelines while `is_recorded()` is true.

    `before_call()` is called before each call of a pipeline. A call that began before the recording
    has no labels. A denoiser that is compiled completely is left unchanged. A compiled block is
    labelled from outside, around its call.
    """

    def __init__(
        self, is_recorded: Callable[[], bool], before_call: Callable[[], None] | None = None
    ) -> None:
        self._is_recorded = is_recorded
        self._before_call = before_call
        self._calls: list[object] = []  # pipelines that are being called, outermost first
        self._loops: list[ExitStack] = []  # the denoising loop of each call

    @contextmanager
    def of_all_pipelines(self) -> Iterator[None]:
        """Mark the calls of all pipelines while the body runs.

        This has no effect if diffusers has not been imported.
        """
        module = sys.modules.get(PIPELINE_MODULE)
        if not module:
            yield
            return
        base = module.DiffusionPipeline
        own = vars(base).get("__init_subclass__")
        with ExitStack() as replaced:

            def mark(kind: type[Any]) -> None:
                if "__call__" in vars(kind):
                    replaced.enter_context(_method(kind, "__call__", self._marked_call))

            def init_subclass(kind: type[Any], /, **options: Any) -> None:
                begin = own.__get__(None, kind) if own else super(base, kind).__init_subclass__
                begin(**options)
                mark(kind)

            for kind in {base, *_subclasses(base)}:
                mark(kind)
            hook: Any = classmethod(init_subclass)  # marks classes that are defined later
            replaced.enter_context(_attribute(base, "__init_subclass__", hook))
            yield

    def begin_loop(self) -> ExitStack:
        """Begin the denoising loop of the innermost call. Closing the result ends the loop."""
        loop = ExitStack()
        if self._calls and self._is_recorded():
            self._loops[-1].close()  # end a loop that ended early
            self._loops[-1] = loop
            loop.enter_context(self._label("stage: denoise"))
        return loop

    def _marked_call(self, call: Function) -> Function:
        @functools.wraps(call)
        def __call__(pipeline: DiffusionPipeline, *args: Any, **kwargs: Any) -> Any:
            if self._before_call:
                self._before_call()
            # A class can call the `__call__` of its base class.
            is_inner = any(pipeline is other for other in self._calls)
            if is_inner or not self._is_recorded():
                return call(pipeline, *args, **kwargs)
            with self._call_of(pipeline):
                return call(pipeline, *args, **kwargs)

        return __call__

    @contextmanager
    def _call_of(self, pipeline: DiffusionPipeline) -> Iterator[None]:
        with ExitStack() as marks:
            for owner, name, label in _stage_methods(pipeline):
                marks.enter_context(_method(owner, name, self._labels(label)))
            for block in _eager_blocks(pipeline):
                # Calling a module runs this attribute before its hooks and its `forward`. Dynamo
                # neither traces nor guards on it.
                mark = self._labels(f"block: {_kind(block).__name__}")
                before = block._compiled_call_impl or block._call_impl
                marks.enter_context(_attribute(block, "_compiled_call_impl", mark(before)))
            marks.enter_context(self._label(f"pipeline: {type(pipeline).__name__}"))
            self._calls.append(pipeline)
            self._loops.append(ExitStack())
            try:
                yield
            finally:
                self._calls.pop()
                self._loops.pop().close()

    def _labels(self, label: str) -> Callable[[Function], Function]:
        """Return a decorator that labels the calls of a function."""

        def labelling(function: Function) -> Function:
            def call(*args: Any, **kwargs: Any) -> Any:
                if _is_compiling():
                    return function(*args, **kwargs)
                with self._label(label):
                    return function(*args, **kwargs)

            return call

        return labelling

    def _label(self, label: str) -> AbstractContextManager[object]:
        is_on = torch_records() and self._is_recorded()
        return labelled(label) if is_on else nullcontext()


def _stage_methods(pipeline: DiffusionPipeline) -> Iterator[tuple[object, str, str]]:
    """Yield the owner, name and label of each method of the pipeline that is a stage."""
    for name in dir(type(pipeline)):
        if (found := OF_PIPELINE.match(name)) and callable(getattr(type(pipeline), name)):
            yield pipeline, name, f"stage: {found[1]}"
    from torch.nn import Module

    for part in {part for part in vars(pipeline).values() if isinstance(part, Module)}:
        for name in OF_PART:
            if callable(getattr(part, name, None)):
                yield part, name, f"stage: {name}"


def _eager_blocks(pipeline: DiffusionPipeline) -> Iterator[torch.nn.Module]:
    """Yield the repeated blocks of denoisers that are not compiled."""
    for denoiser in denoisers(pipeline).values():
        if not hasattr(denoiser, "modules") or _is_compiled(denoiser):
            continue
        classes = block_classes(denoiser)
        wrapped = set()
        for module in denoiser.modules():
            if _kind(module).__name__ in classes and module not in wrapped:
                yield module
            wrapped.add(getattr(module, "_orig_mod", None))  # the module that the wrapper compiles


def _kind(module: torch.nn.Module) -> type:
    """Return the module's class, without torch.compile's wrapper."""
    return type(getattr(module, "_orig_mod", module))


def _is_compiled(module: torch.nn.Module) -> bool:
    return (
        hasattr(module, "_orig_mod")
        or module._compiled_call_impl is not None
        or hasattr(module.forward, "_torchdynamo_orig_callable")
    )


def _is_compiling() -> bool:
    import torch

    return torch.compiler.is_compiling()


def _subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for below in kind.__subclasses__():
        yield below
        yield from _subclasses(below)


def _method(
    owner: Any, name: str, replacement: Callable[[Function], Function]
) -> AbstractContextManager[None]:
    """Replace a method of a class or object by `replacement(method)` while the body runs."""
    return _attribute(owner, name, replacement(getattr(owner, name)))


@contextmanager
def _attribute(owner: Any, name: str, value: object) -> Iterator[None]:
    """Set an attribute of `owner` while the body runs. Restore it unless the body changed it."""
    # Modules and pipelines override __setattr__, so bypass it.
    kind = type if isinstance(owner, type) else object
    had_own, own = name in vars(owner), vars(owner).get(name)
    kind.__setattr__(owner, name, value)
    try:
        yield
    finally:
        if vars(owner).get(name) is value:
            if had_own:
                kind.__setattr__(owner, name, own)
            else:
                kind.__delattr__(owner, name)
