"""Animations of devices: GIF or MP4, or a strip of frames as one PNG.

Each `diffmicro.plot.<device>` has `animation(design, setting, frames)`, which calculates the motion and
gives a figure, a function that draws frame i into it, and the number of frames. MP4 needs the package
`imageio-ffmpeg` (the extra `animate`).
"""

from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

ENDINGS = (".gif", ".mp4", ".png")

RATE = 20
"""Frames a second."""

STRIP = (2, 4)
"""Rows and columns of a strip."""


class Animation(NamedTuple):
    """A figure, a function that draws frame i into it, and the number of frames."""

    figure: Figure
    draw: Callable[[int], Any]
    frames: int


def animate(device: str, design: Any, setting: Any, path: Path, frames: int = 80) -> Path:
    """Write the device's motion to a file; its ending says how."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{path}: the ending has to be one of {', '.join(ENDINGS)}.")
    if not 2 <= frames <= 2000:
        raise ValueError(f"frames = {frames} is not allowed; it has to be from 2 to 2000.")
    if ending == ".mp4":
        _ffmpeg()
    made = Animation(*import_module(f"diffmicro.plot.{device}").animation(design, setting, frames))
    if ending == ".png":
        count = STRIP[0] * STRIP[1]
        shown = np.unique(np.linspace(0, made.frames - 1, count).round().astype(int))
        _strip([_frame(made, int(i)) for i in shown]).save(path)
        return path
    images = [_frame(made, i) for i in range(made.frames)]
    if ending == ".gif":
        first, *rest = [image.quantize(128) for image in images]
        first.save(path, save_all=True, append_images=rest, duration=1000 // RATE, loop=0)
        return path
    width, height = (n - n % 2 for n in images[0].size)  # the codec wants even sizes
    writer = _ffmpeg().write_frames(str(path), (width, height), fps=RATE)
    writer.send(None)
    for image in images:
        writer.send(image.crop((0, 0, width, height)).tobytes())
    writer.close()
    return path


def _frame(made: Animation, i: int) -> Image.Image:
    made.draw(i)
    buffer = BytesIO()
    made.figure.savefig(buffer, format="png")
    return Image.open(buffer).convert("RGB")


def _strip(images: list[Image.Image]) -> Image.Image:
    width, height = images[0].size
    rows = -(-len(images) // STRIP[1])
    sheet = Image.new("RGB", (width * min(len(images), STRIP[1]), height * rows), "white")
    for n, image in enumerate(images):
        sheet.paste(image, (width * (n % STRIP[1]), height * (n // STRIP[1])))
    return sheet


def _ffmpeg() -> Any:
    try:
        return import_module("imageio_ffmpeg")
    except ImportError:
        raise ValueError(
            "MP4 needs the package imageio-ffmpeg: pip install 'diffmicro[animate]'. GIF and PNG do not."
        ) from None
