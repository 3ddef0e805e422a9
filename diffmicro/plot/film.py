"""Animations of devices: GIF, MP4, a page with a slider, or a strip of frames as one PNG.

A `Device` names its `animation(design, setting, frames)`, which calculates the motion and gives a figure, a
function that draws frame i into it, and the number of frames; without one its states are drawn over time
(`states`). MP4 needs the package `imageio-ffmpeg` (the extra `animate`).
"""

import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import NamedTuple

import numpy as np
from jaxtyping import PyTree
from matplotlib.figure import Figure
from PIL import Image

from diffmicro._device import Device, hooked
from diffmicro._files import replace
from diffmicro.devices import as_device
from diffmicro.parameters import Value, whole_number
from diffmicro.plot import states
from diffmicro.plot.player import player
from diffmicro.plot.stage import RATE
from diffmicro.results import word
from diffmicro.units import readable

ENDINGS = (".gif", ".mp4", ".html", ".png")

STRIP = (2, 4)
"""Rows and columns of a strip."""


class Animation(NamedTuple):
    """A figure, a function that draws frame i into it, and the number of frames. title: above each frame."""

    figure: Figure
    draw: Callable[[int], object]
    frames: int
    title: str = ""


def animate(
    device: Device | str, design: PyTree, setting: PyTree, path: Path, frames: int = 80
) -> Path:
    """Write the device's motion to a file, in the format of its ending."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{path}: the ending has to be one of {', '.join(ENDINGS)}.")
    frames = whole_number("frames", frames, 80, 2, 2000)
    if ending == ".mp4":
        _ffmpeg()
    device = as_device(device)
    if device.animation is None:
        made = Animation(*states.animation(device, design, setting, frames))
    else:
        made = Animation(*hooked(device.animation)(design, setting, frames))
    made = made._replace(title=titled(device, states.settled(device, design, setting)))
    if ending == ".png":
        count = STRIP[0] * STRIP[1]
        shown = np.unique(np.linspace(0, made.frames - 1, count).round().astype(int))
        _keep(_strip([_frame(made, int(i)) for i in shown]), path, format="png")
        return path
    images = [_frame(made, i) for i in range(made.frames)]
    if ending == ".html":
        replace(path, player(images, f"{device.name}: {device.title}").encode())
        return path
    if ending == ".gif":
        first, *rest = [image.quantize(128) for image in images]
        options = dict(save_all=True, append_images=rest, duration=1000 // RATE, loop=0)
        _keep(first, path, format="gif", **options)
        return path
    _film(images, path)
    return path


def titled(device: Device, response: PyTree) -> str:
    """The device with its velocity, or first response that is one number, and the status where it is not ok."""
    status = word(response.result)
    ended = "" if status == "ok" else f" ({status})"
    for name in sorted(
        device.usual_responses, key=lambda name: device.responses[name].unit != "m/s"
    ):
        value = np.asarray(getattr(response, name))
        if value.ndim == 0 and np.isfinite(value):
            shown = readable(float(value), device.responses[name].unit, 4)
            return f"{device.name}: {name.replace('_', ' ')} {shown}{ended}"
    return f"{device.name}{ended}"


def _keep(image: Image.Image, path: Path, **options: Value) -> None:
    """Write the image whole or not at all."""
    content = BytesIO()
    image.save(content, **options)
    replace(path, content.getvalue())


def _film(images: list[Image.Image], path: Path) -> None:
    """Write an MP4 whole or not at all.

    The program is started here, not by the package's own writer: that one forks this process, of which JAX warns.
    """
    width, height = (n - n % 2 for n in images[0].size)  # the codec wants even sizes
    with TemporaryDirectory(dir=path.parent) as folder:
        film = Path(folder) / path.name
        source = [
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgb24",
            "-s",
            f"{width}x{height}",
            "-r",
            f"{RATE}",
            "-i",
            "-",
        ]
        target = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", str(film)]
        command = [_ffmpeg().get_ffmpeg_exe(), "-y", "-loglevel", "error", *source, *target]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as program:
            assert program.stdin is not None
            with suppress(BrokenPipeError):  # the program says below why it ended
                for image in images:
                    program.stdin.write(image.crop((0, 0, width, height)).tobytes())
            _, said = program.communicate()
        if program.returncode:
            raise ValueError(
                f"{path}: ffmpeg wrote no film: {said.decode(errors='replace').strip()}"
            )
        os.replace(film, path)


def _frame(made: Animation, i: int) -> Image.Image:
    made.draw(i)
    above = made.figure.get_suptitle()
    if not above.startswith(made.title):  # some write their time there
        made.figure.suptitle(f"{made.title}\n{above}".rstrip(), fontsize=9)
    if (
        made.figure.get_layout_engine() is not None
    ):  # places are those of the first frame: nothing shakes
        made.figure.draw_without_rendering()
        made.figure.set_layout_engine("none")
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


def _ffmpeg() -> ModuleType:
    try:
        return import_module("imageio_ffmpeg")
    except ImportError:
        raise ValueError(
            "MP4 needs the package imageio-ffmpeg: pip install 'diffmicro[animate]'. GIF, HTML and PNG do not."
        ) from None
