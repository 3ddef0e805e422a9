"""Animations as files: what each ending holds, and what is refused."""

import base64
import dataclasses
import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections import namedtuple
from functools import partial
from io import BytesIO

import equinox as eqx
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image, ImageSequence

from diffmicro._device import Alias
from diffmicro.command import words
from diffmicro.command.app import run
from diffmicro.devices import gripper, legs, wrmma
from diffmicro.devices.legs.walker import WALKER
from diffmicro.plot import gripper as gripper_plot
from diffmicro.plot import legs as legs_plot
from diffmicro.plot import walker as walker_plot
from diffmicro.plot.film import animate, titled
from diffmicro.plot.states import animation, moving
from diffmicro.results import RESULTS
from tests.sweep.toy import TOY

POINT = (TOY.published_design(), TOY.published_setting())


@pytest.fixture
def toy():
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

    return dataclasses.replace(TOY, animation=animation)


def test_a_gif_has_its_frames(toy, tmp_path):
    path = animate(toy, *POINT, tmp_path / "toy.gif", frames=5)
    with Image.open(path) as image:
        assert len(list(ImageSequence.Iterator(image))) == 5
        assert image.size == (100, 50)


def test_a_strip_shows_eight_frames(toy, tmp_path):
    with Image.open(animate(toy, *POINT, tmp_path / "toy.png", frames=30)) as image:
        assert image.size == (400, 100)


def test_a_page_holds_its_frames_and_a_slider(toy, tmp_path):
    text = animate(toy, *POINT, tmp_path / "toy.html", frames=5).read_text()
    frames = re.findall(r'^(?:const frames = \[)?"([\w+/=]+)"', text, re.M)
    images = [Image.open(BytesIO(base64.b64decode(frame))).convert("RGB") for frame in frames]
    assert len({image.tobytes() for image in images}) == 5 and images[0].size == (100, 50)
    assert 'max="4"' in text and "http" not in text


def test_what_is_refused(toy, tmp_path):
    with pytest.raises(ValueError, match="one of .gif, .mp4, .html, .png"):
        animate(toy, *POINT, tmp_path / "toy.avi")
    with pytest.raises(ValueError, match="from 2 to 2000"):
        animate(toy, *POINT, tmp_path / "toy.gif", frames=1)


@pytest.mark.parametrize("ending", ["gif", "png"])
def test_a_full_disk_leaves_the_file_that_was_there(toy, tmp_path, monkeypatch, ending):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / f"toy.{ending}"
    path.write_bytes(b"before")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        animate(toy, *POINT, path, frames=3)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs the program ffmpeg")
@pytest.mark.filterwarnings("error")
def test_an_mp4_has_the_size_of_its_frames_and_no_warning(toy, tmp_path, monkeypatch):
    class Package:
        get_ffmpeg_exe = staticmethod(lambda: shutil.which("ffmpeg"))

    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", Package)
    path = animate(toy, *POINT, tmp_path / "toy.mp4", frames=5)
    assert list(tmp_path.iterdir()) == [path]
    command = [
        "ffmpeg",
        "-i",
        str(path),
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-loglevel",
        "error",
        "-",
    ]
    frames = subprocess.run(command, capture_output=True, check=True).stdout
    assert len(frames) == 5 * 100 * 50 * 3
    monkeypatch.setattr(Package, "get_ffmpeg_exe", staticmethod(lambda: "false"))
    with pytest.raises(ValueError, match="ffmpeg wrote no film"):
        animate(toy, *POINT, tmp_path / "other.mp4", frames=5)
    assert list(tmp_path.iterdir()) == [path]


def test_mp4_without_its_package_names_it(toy, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ValueError, match=r"diffmicro\[animate\]"):
        animate(toy, *POINT, tmp_path / "toy.mp4")


def test_a_motion_without_values_is_no_film(toy, tmp_path, monkeypatch, capsys):
    """Of drive 6 the toy knows no motion; its path is NaN there."""
    path = namedtuple("Path", ["time", "place"])(np.linspace(0, 1, 5), np.full(5, np.nan))

    def animated(design, setting, frames):
        moving(lost, path, design, setting)
        raise AssertionError("drawn")

    hooks = {"simulate": lambda design, setting: path, "carries": False, "quick": {}, "lone": {}}
    lost = dataclasses.replace(TOY, **hooks, respond=partial(TOY.respond, window=0))
    for shown in (dataclasses.replace(lost, animation=animated), lost):
        monkeypatch.setattr(words, "device", lambda name, shown=shown: shown)
        for drive, why in ((6, "no_orbit. No periodic motion"), (1, "cannot be followed")):
            out = tmp_path / "toy.gif"
            assert run(["animate", "toy", f"drive={drive}", "--out", str(out)]) == 3
            assert f"toy: {why}" in (said := capsys.readouterr().err) or why in said
            assert "There is nothing to draw" in said and not out.exists()


def test_the_result_of_an_optimization_moves(toy, tmp_path, monkeypatch):
    """Its values, and words in their place: also another name of one of them."""
    shown = []

    def animated(design, setting, frames):
        shown.append((design.length, setting.drive))
        return toy.animation(design, setting, frames)

    aliases = {"pace": Alias("drive", "length", "of the drive")}
    found = dataclasses.replace(TOY, animation=animated, aliases=aliases)
    monkeypatch.setattr(words, "device", lambda name: found)
    best = {"design": {"length": 2.0}, "setting": {"drive": 0.7}}
    config = {"about": {"points": [{"device": "toy"}]}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    result = {"optimized": best, "constraints": {}}
    (tmp_path / "result.json").write_text(json.dumps(result))
    for pairs, point in (([], (2.0, 0.7)), (["pace=1"], (2.0, 0.5))):
        assert run(["animate", str(tmp_path), *pairs, "--out", str(tmp_path / "a.gif")]) == 0
        assert shown[-1] == point


@pytest.mark.parametrize("own", ["", "3 ms (slower than life)"])
def test_a_film_says_the_device_and_its_first_response(own, toy, tmp_path):
    figure, painted, count = toy.animation(*POINT, 3)

    def paint(i):
        painted(i)
        if own:
            figure.suptitle(own)

    shown = dataclasses.replace(
        toy, animation=lambda design, setting, frames: (figure, paint, count)
    )
    animate(shown, *POINT, tmp_path / "toy.gif", frames=3)
    assert figure.get_suptitle() == f"toy: velocity 500 mm/s\n{own}".rstrip()
    lost = toy.respond(*POINT)
    lost = eqx.tree_at(
        lambda r: (r.velocity, r.seen, r.result), lost, (np.nan, np.nan, RESULTS.erratic)
    )
    assert titled(toy, lost) == "toy (erratic)"


Path = namedtuple("Path", ["time", "gap", "closed", "pair", "table"])


def test_a_device_without_a_picture_shows_its_states(tmp_path):
    time = np.linspace(0, 1e-3, 50)
    path = Path(time, 1e-6 * np.sin(6e3 * time), time > 5e-4, np.zeros((50, 2)), np.zeros((50, 9)))
    plain = dataclasses.replace(
        TOY,
        animation=None,
        carries=False,
        simulate=lambda design, setting: path,
    )
    with Image.open(animate(plain, *POINT, tmp_path / "plain.gif", frames=4)) as image:
        frames = [frame.convert("RGB").tobytes() for frame in ImageSequence.Iterator(image)]
    assert len(set(frames)) == 4
    figure, draw, count = animation(plain, None, None, 3)
    # Each of a pair is a curve; a table has no place beside numbers over time.
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert count == 3 and labels == ["gap", "closed", "pair[0]", "pair[1]"]
    draw(2)
    np.testing.assert_allclose(np.asarray(figure.axes[0].lines[-1].get_xdata(), float), 1e-3)
    blind = dataclasses.replace(plain, simulate=None)
    with pytest.raises(ValueError, match="has no `simulate`"):
        animate(blind, None, None, tmp_path / "blind.gif")


@pytest.mark.slow
def test_the_wrmma_moves(tmp_path):
    design, setting = wrmma.published_design(), wrmma.published_setting(load_factor=32.0)
    path = animate("wrmma", design, setting, tmp_path / "wrmma.gif", frames=6)
    with Image.open(path) as image:
        frames = [frame.convert("RGB").tobytes() for frame in ImageSequence.Iterator(image)]
    assert len(set(frames)) == len(frames)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "device", "panel", "line"),
    [(legs_plot, legs, 1, 0), (gripper_plot, gripper, 0, -1)],
    ids=["legs", "gripper"],
)
def test_a_curve_does_not_depend_on_the_number_of_frames(module, device, panel, line):
    """It is drawn from the motion; of two frames the curve would be a chord."""
    curves = []
    for frames in (2, 9):
        figure, draw, count = module.animation(
            device.published_design(), device.published_setting(), frames
        )
        draw(count - 1)
        curves.append(figure.axes[panel].lines[line].get_xydata())
    assert len(curves[0]) > 80
    np.testing.assert_allclose(*curves, atol=1e-6 * np.ptp(curves[0], axis=0).max())


@pytest.mark.slow
def test_the_walkers_feet_stay_above_the_ground_and_it_walks():
    # Six frames a period: a foot is off the ground for a quarter of it.
    figure, draw, count = walker_plot.animation(WALKER.Design(), WALKER.Setting(), 25)
    stage, _, places = figure.axes
    carried = set()
    for frame in range(count):
        draw(frame)
        pads = [p for p in stage.patches if isinstance(p, Rectangle) and p.get_zorder() > 0]
        assert len(pads) == 2
        assert all(pad.get_y() >= 0 and pad.get_height() > 0 for pad in pads)
        carried |= {(i, pad.get_y() == 0) for i, pad in enumerate(pads)}
    # Each foot is seen on the ground and off it.
    assert carried == {(0, True), (0, False), (1, True), (1, False)}
    body = np.asarray(places.lines[-2].get_ydata(), float)
    assert body[-1] == pytest.approx(4 * 2.3777e-3 / 200 * 1e6, rel=1e-3)
