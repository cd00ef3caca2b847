"""The image that a pipeline begins with, and those that it made, as files."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture.errors import CaptureError, first_line, warn
from capture.output.run_directory import appearing

if TYPE_CHECKING:
    from PIL.Image import Image

RANDOM = "random"


@lru_cache(maxsize=2)  # of the warm-up, and of the measured calls
def read_image(wanted: str, height: int, width: int, seed: int) -> Image:
    """The image of a file, scaled to `height` by `width` pixels; or `random` pixels from the seed.

    Raises CaptureError for a file that is no image.
    """
    import numpy as np
    from PIL import Image, UnidentifiedImageError

    if wanted == RANDOM:
        pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
        return Image.fromarray(pixels)
    try:
        with Image.open(wanted) as image:
            return image.convert("RGB").resize((width, height))
    except UnidentifiedImageError as error:
        raise CaptureError(f"{wanted}: not an image") from error
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        reason = getattr(error, "strerror", None) or first_line(error)
        raise CaptureError(f"{wanted}: cannot be read as an image: {reason}") from error


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
