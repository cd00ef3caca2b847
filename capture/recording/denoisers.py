"""The denoisers of a diffusers pipeline, and the blocks that they consist of."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from diffusers import DiffusionPipeline

DENOISERS = ("transformer", "unet", "prior")


def denoisers(pipeline: DiffusionPipeline) -> dict[str, torch.nn.Module]:
    """The parts that run in denoising steps, by name: two where each has half of the steps."""
    names = [name for name in DENOISERS if getattr(pipeline, name, None) is not None]
    second = [f"{name}_2" for name in names if getattr(pipeline, f"{name}_2", None) is not None]
    return {name: getattr(pipeline, name) for name in names[:1] + second}


def block_classes(denoiser: torch.nn.Module) -> set[str]:
    """The names of the classes of its repeated blocks."""
    return set(getattr(denoiser, "_repeated_blocks", None) or ()) or _repeated(denoiser)


def _repeated(module: torch.nn.Module) -> set[str]:
    """Where diffusers does not list them: classes that a list of modules has more than once."""
    from torch.nn import ModuleList

    lists = (child for child in module.children() if isinstance(child, ModuleList))
    counts = Counter(type(block).__name__ for blocks in lists for block in blocks)
    return {name for name, count in counts.items() if count > 1}
