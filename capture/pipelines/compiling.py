"""Compiles parts of a diffusers pipeline with torch.compile."""

from __future__ import annotations

import importlib.util
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from capture.errors import CaptureError
from capture.recording import compilation
from capture.recording.denoisers import block_classes, denoisers

if TYPE_CHECKING:
    import torch
    from diffusers import DiffusionPipeline

DENOISER, VAE, TEXT_ENCODERS = "denoiser", "vae", "text-encoders"
MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
PARTS = (DENOISER, VAE, TEXT_ENCODERS)


@dataclass(frozen=True)
class Compile:
    """The parts of a pipeline to compile, and the options of torch.compile.

    mode       a mode of torch.compile, one of `MODES`; None is torch's default
    fullgraph  fail at a graph break
    dynamic    compile for all sizes at once; if None, torch decides
    regional   compile each class of the denoiser's repeated blocks once, not the whole denoiser
    parts      the parts to compile, each one of `PARTS`
    """

    mode: str | None = None
    fullgraph: bool = False
    dynamic: bool | None = None
    regional: bool = False
    parts: tuple[str, ...] = (DENOISER,)

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of torch.compile."""
        return {"mode": self.mode, "fullgraph": self.fullgraph, "dynamic": self.dynamic}


def compile_parts(
    pipeline: DiffusionPipeline, compiled: Compile, device_type: str, names_kernels: bool = True
) -> dict[str, Any]:
    """Compile the parts of the pipeline. Return the value of `compile` in run.json.

    With `names_kernels`, kernels on the CPU appear in traces, which costs some time per kernel.
    Raises CaptureError if the pipeline lacks a part, or if no compiler is installed.
    """
    found = {DENOISER: denoisers(pipeline), VAE: _decoders(pipeline)}
    found[TEXT_ENCODERS] = _text_encoders(pipeline)
    for part in compiled.parts:
        if not found[part]:
            raise CaptureError(f"{type(pipeline).__name__}: has no {part} to compile")
    check_compiler(device_type)
    if device_type == "cpu" and names_kernels:
        compilation.name_cpu_kernels()
    blocks: set[str] = set()
    names = []
    for part in compiled.parts:
        for name, module in found[part].items():
            names.append(name)
            if compiled.regional and part == DENOISER:
                blocks |= _compile_blocks(module, compiled)
            else:
                module.compile(**compiled.options)
    compilation.remember_all()
    description = asdict(compiled) | {"part": ", ".join(names), "blocks": sorted(blocks) or None}
    del description["parts"]
    return description


def _compile_blocks(module: torch.nn.Module, compiled: Compile) -> set[str]:
    """Compile each repeated block. Return the names of their classes."""
    classes = block_classes(module)
    if not classes:
        raise CaptureError(
            f"{type(module).__name__}: has no repeated blocks; compile it without --regional"
        )
    for block in module.modules():
        if type(block).__name__ in classes:
            block.compile(**compiled.options)
    return classes


def _decoders(pipeline: DiffusionPipeline) -> dict[str, torch.nn.Module]:
    """Return the VAE's decoder: the VAE runs in `decode`, but torch.compile needs `forward`."""
    decoder = getattr(getattr(pipeline, "vae", None), "decoder", None)
    return {"vae.decoder": decoder} if decoder is not None else {}


def _text_encoders(pipeline: DiffusionPipeline) -> dict[str, torch.nn.Module]:
    named = {name: getattr(pipeline, name) for name in pipeline.components}
    return {
        name: part
        for name, part in named.items()
        if name.startswith("text_encoder") and part is not None
    }


def check_compiler(device_type: str) -> None:
    """Raise CaptureError if the compiler that Inductor needs is not installed."""
    if device_type != "cpu":
        if importlib.util.find_spec("triton") is None:
            raise CaptureError(
                f"torch.compile needs Triton on {device_type}; install it with: pip install triton"
            )
        return
    from torch._inductor.cpp_builder import get_cpp_compiler
    from torch._inductor.exc import InvalidCxxCompiler

    try:
        get_cpp_compiler()
    except InvalidCxxCompiler as error:
        raise CaptureError(
            "torch.compile needs a C++ compiler on the CPU: install g++, or set CXX"
        ) from error
