"""The images that a pipeline made, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from capture.errors import warn
from capture.output.run_directory import appearing


def save_images(made: Any, directory: Path) -> list[Path]:
    """Saves the images, or the frames of videos, as PNG; returns their paths.

    `made` is what a call of the pipeline returned: images, or arrays of frames by height by width
    by colours, from 0 to 1. Warns where it holds no images.
    """
    import numpy as np
    from diffusers.video_processor import VideoProcessor

    named = {f"image-{place}": image for place, image in enumerate(getattr(made, "images", ()))}
    for place, video in enumerate(getattr(made, "frames", ())):
        frames = VideoProcessor.numpy_to_pil(video) if isinstance(video, np.ndarray) else video
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
