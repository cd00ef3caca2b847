"""The denoisers of a diffusers pipeline and their repeated blocks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from diffusers import DiffusionPipeline

DENOISERS = ("transformer", "unet", "prior")


def denoisers(pipeline: DiffusionPipeline) -> dict[str, torch.nn.Module]:
    """Return the parts that run in denoising steps, by name.

    There can be two, which share the steps, such as `transformer` and `transformer_2`.
    """
    names = [name for name in DENOISERS if getattr(pipeline, name, None) is not None]
    second = [f"{name}_2" for name in names if getattr(pipeline, f"{name}_2", None) is not None]
    return {name: getattr(pipeline, name) for name in names[:1] + second}


def block_classes(denoiser: torch.nn.Module) -> set[str]:
    """Return the class names of the denoiser's repeated blocks."""
    return set(getattr(denoiser, "_repeated_blocks", None) or ()) or _repeated(denoiser)


def _repeated(module: torch.nn.Module) -> set[str]:
    """Return the classes that occur more than once in lists of modules.

    This is for denoisers whose repeated blocks diffusers does not list.
    """
    from torch.nn import ModuleList

    lists = (child for child in module.children() if isinstance(child, ModuleList))
    counts = Counter(type(block).__name__ for blocks in lists for block in blocks)
    return {name for name, count in counts.items() if count > 1}
