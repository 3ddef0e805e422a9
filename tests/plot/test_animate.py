"""Animations as files: what each ending holds, and what is refused."""

import sys
from types import ModuleType

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image, ImageSequence

from diffmicro.devices import wrmma
from diffmicro.plot.animate import animate


@pytest.fixture
def toy(monkeypatch):
    """A device whose frames are bars of growing height."""

    def animation(design, setting, frames):
        figure = Figure(figsize=(2, 1), dpi=50)
        FigureCanvasAgg(figure)
        axes = figure.subplots()

        def draw(i):
            axes.clear()
            axes.bar([0], [i + 1])
            axes.set_ylim(0, frames)

        return figure, draw, frames

    module = ModuleType("diffmicro.plot.toy")
    module.__dict__["animation"] = animation
    monkeypatch.setitem(sys.modules, "diffmicro.plot.toy", module)
    return "toy"


def test_a_gif_has_its_frames(toy, tmp_path):
    path = animate(toy, None, None, tmp_path / "toy.gif", frames=5)
    with Image.open(path) as image:
        assert len(list(ImageSequence.Iterator(image))) == 5
        assert image.size == (100, 50)


def test_a_strip_shows_eight_frames(toy, tmp_path):
    with Image.open(animate(toy, None, None, tmp_path / "toy.png", frames=30)) as image:
        assert image.size == (400, 100)


def test_what_is_refused(toy, tmp_path):
    with pytest.raises(ValueError, match="one of .gif, .mp4, .png"):
        animate(toy, None, None, tmp_path / "toy.avi")
    with pytest.raises(ValueError, match="from 2 to 2000"):
        animate(toy, None, None, tmp_path / "toy.gif", frames=1)


def test_mp4_without_its_package_names_it(toy, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ValueError, match=r"diffmicro\[animate\]"):
        animate(toy, None, None, tmp_path / "toy.mp4")


@pytest.mark.slow
def test_the_wrmma_moves(tmp_path):
    design, setting = wrmma.published_design(), wrmma.published_setting(load_factor=32.0)
    path = animate("wrmma", design, setting, tmp_path / "wrmma.gif", frames=6)
    with Image.open(path) as image:
        frames = [frame.convert("RGB").tobytes() for frame in ImageSequence.Iterator(image)]
    assert len(set(frames)) == len(frames)
