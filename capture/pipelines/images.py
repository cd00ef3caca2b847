"""The images that a pipeline made, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from capture.errors import warn
from capture.output.run_directory import appearing


def save_images(made: Any, directory: Path) -> list[Path]:
    """Saves the images, or the frames of videos, as PNG; returns their paths.

    `made` is what a call of the pipeline returned. Warns where it holds no images.
    """
    named = {f"image-{place}": image for place, image in enumerate(getattr(made, "images", ()))}
    for place, frames in enumerate(getattr(made, "frames", ())):
        named |= {f"video-{place}-frame-{number:03}": each for number, each in enumerate(frames)}
    paths = []
    for name, image in named.items():
        if not hasattr(image, "save"):
            break
        path = directory / f"{name}.png"
        with appearing(path) as temporary:
            image.save(temporary)
        paths.append(path)
    if not paths:
        warn(f"{type(made).__name__} holds no images to save")
    return paths
