"""Marks the stages of diffusers pipelines in traces.

| label              | around                                                                      |
| ------------------ | --------------------------------------------------------------------------- |
| `pipeline: <class>` | a call of a pipeline                                                       |
| `stage: encode`    | the pipeline's methods `encode_…`, and `encode` of its parts: texts, images |
| `stage: denoise`   | its loop, from the progress bar on                                          |
| `stage: decode`    | the pipeline's methods `decode_…`, and `decode` of its parts                |
| `block: <class>`   | a call of a repeated block of its denoisers                                 |
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
OF_PIPELINE = re.compile(r"_?(encode|decode)_")  # methods that are a stage
OF_PART = ("encode", "decode")  # of a VAE, and whatever else has them


class Stages:
    """Labels what pipelines do while `is_recorded()`; calls `before_call()` before each call.

    A call that began before the recording has no marks. Nothing is replaced on a denoiser that is
    compiled as a whole, and of a compiled block only the call is marked, from outside.
    """

    def __init__(
        self, is_recorded: Callable[[], bool], before_call: Callable[[], None] | None = None
    ) -> None:
        self._is_recorded = is_recorded
        self._before_call = before_call
        self._calls: list[object] = []  # the pipelines whose calls are under way
        self._loops: list[ExitStack] = []  # the loop of each

    @contextmanager
    def of_all_pipelines(self) -> Iterator[None]:
        """In the body, the calls of all pipelines are marked. diffusers must have been imported."""
        module = sys.modules.get(PIPELINE_MODULE)
        if not module:
            yield
            return
        base = module.DiffusionPipeline
        with ExitStack() as replaced:
            marked = set()

            def mark(kind: type) -> None:
                for owner in kind.__mro__:
                    if issubclass(owner, base) and "__call__" in vars(owner):
                        if owner not in marked:
                            replaced.enter_context(_method(owner, "__call__", self._marked_call))
                        marked.add(owner)

            def registering(register: Function) -> Function:
                # Each pipeline calls this as it is made: classes that come later are seen, too.
                @functools.wraps(register)
                def register_modules(pipeline: object, *args: Any, **kwargs: Any) -> Any:
                    mark(type(pipeline))
                    return register(pipeline, *args, **kwargs)

                return register_modules

            replaced.enter_context(_method(base, "register_modules", registering))
            for kind in _subclasses(base):
                mark(kind)
            yield

    def begin_loop(self) -> ExitStack:
        """Begins the denoising loop of the innermost call. What the result holds ends with it."""
        loop = ExitStack()
        if self._calls and self._is_recorded():
            self._loops[-1].close()  # one that was left
            self._loops[-1] = loop
            loop.enter_context(self._label("stage: denoise"))
        return loop

    def _marked_call(self, call: Function) -> Function:
        @functools.wraps(call)
        def __call__(pipeline: DiffusionPipeline, *args: Any, **kwargs: Any) -> Any:
            if self._before_call:
                self._before_call()
            is_inner = any(pipeline is other for other in self._calls)  # of a base class
            if is_inner or not self._is_recorded():
                return call(pipeline, *args, **kwargs)
            with self._call_of(pipeline):
                return call(pipeline, *args, **kwargs)

        return __call__

    @contextmanager
    def _call_of(self, pipeline: DiffusionPipeline) -> Iterator[None]:
        with ExitStack() as marks:
            for owner, name, label in _places(pipeline):
                marks.enter_context(_method(owner, name, self._labels(label)))
            for block in _eager_blocks(pipeline):
                # Dynamo neither traces nor guards on this attribute, which the call of a module
                # asks for before its hooks and its `forward`.
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
        """What makes a function one whose calls are labelled."""

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


def _places(pipeline: DiffusionPipeline) -> Iterator[tuple[object, str, str]]:
    """The methods of a pipeline and its parts that are stages: owner, name and label."""
    for name in dir(type(pipeline)):
        if (found := OF_PIPELINE.match(name)) and callable(getattr(type(pipeline), name)):
            yield pipeline, name, f"stage: {found[1]}"
    from torch.nn import Module

    for part in {part for part in vars(pipeline).values() if isinstance(part, Module)}:
        for name in OF_PART:
            if callable(getattr(part, name, None)):
                yield part, name, f"stage: {name}"


def _eager_blocks(pipeline: DiffusionPipeline) -> Iterator[torch.nn.Module]:
    """The repeated blocks of the denoisers that are called, and not traced, in each step."""
    for denoiser in denoisers(pipeline).values():
        if not hasattr(denoiser, "modules") or _is_compiled(denoiser):
            continue
        classes = block_classes(denoiser)
        wrapped = set()
        for module in denoiser.modules():
            if _kind(module).__name__ in classes and module not in wrapped:
                yield module
            wrapped.add(getattr(module, "_orig_mod", None))  # which the wrapper compiles


def _kind(module: torch.nn.Module) -> type:
    """Its class; of one that torch.compile wrapped, the class of that."""
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
    """In the body, a method of a class or object is what `replacement` makes of it."""
    return _attribute(owner, name, replacement(getattr(owner, name)))


@contextmanager
def _attribute(owner: Any, name: str, value: object) -> Iterator[None]:
    """In the body, `owner` itself has this attribute, unless the body gives it another one."""
    # Modules and pipelines set attributes in their own ways.
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
