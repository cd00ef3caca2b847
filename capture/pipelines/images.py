"""The input image of a pipeline, and its output images as files."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture.errors import CaptureError, first_line, warn
from capture.output.run_directory import atomic_write

if TYPE_CHECKING:
    from PIL.Image import Image

RANDOM = "random"


@lru_cache(maxsize=2)  # one size for warm-up calls, one for measured calls
def read_image(wanted: str, height: int, width: int, seed: int) -> Image:
    """Read an image file and scale it to `height` x `width` pixels.

    `random` makes an image of random pixels from the seed. Raises CaptureError if the file is not
    an image.
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
    """Save the images, or the frames of videos, as PNG files. Return their paths.

    `made` is the result of the pipeline's call: images, or videos as lists of images or as arrays
    of shape (frames, height, width, colours) with values from 0 to 1. Warns if it has no images.
    """
    import numpy as np
    from diffusers.video_processor import VideoProcessor

    named = {f"image-{index}": image for index, image in enumerate(getattr(made, "images", ()))}
    for index, video in enumerate(getattr(made, "frames", ())):
        frames = VideoProcessor.numpy_to_pil(video) if isinstance(video, np.ndarray) else video
        named |= {f"video-{index}-frame-{number:03}": each for number, each in enumerate(frames)}
    paths = []
    for name, image in named.items():
        if not hasattr(image, "save"):
            break
        path = directory / f"{name}.png"
        with atomic_write(path) as temporary:
            image.save(temporary)
        paths.append(path)
    if not paths:
        warn(f"{type(made).__name__}: has no images to save")
    return paths
