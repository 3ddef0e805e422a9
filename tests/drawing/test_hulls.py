"""The tumbler's outline from a file: the hull is fitted, the error is true, bad files get messages."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from diffmicro.command import words
from diffmicro.command.app import run
from diffmicro.devices import device
from diffmicro.drawing import draw
from diffmicro.drawing.hulls import fit_hull, hull_of_file

EDGES = {".dxf": "ezdxf", ".gds": "gdstk"}


def write(file, points):
    rows = "".join(f"{x!r},{y!r}\n" for x, y in np.asarray(points).tolist())
    file.write_text("x [um], y [um]\n" + rows)
    return file


def rounded(count, a, b, power):
    """Points of a superellipse, moved and not centered [um]."""
    t = np.linspace(0, 2 * np.pi, count, endpoint=False)
    x, y = (np.sign(c) * np.abs(c) ** (2 / power) for c in (np.cos(t), np.sin(t)))
    return np.stack([a * x + 30.0, b * y - 20.0], axis=1)


def test_a_box_is_a_box_wherever_it_lies(tmp_path):
    file = write(tmp_path / "box.csv", [[5, 5], [705, 5], [705, 125], [5, 125]])
    found = hull_of_file(file)
    assert found.values["outline"] == "box" and found.error < 1e-15 and found.filled < 1e-12
    assert found.values["length"] == pytest.approx(700e-6, rel=1e-9)
    assert found.values["thickness"] == pytest.approx(120e-6, rel=1e-9)


@pytest.mark.parametrize("ending", [pytest.param(".dxf", marks=pytest.mark.slow), ".gds"])
def test_an_export_is_read_back(ending, tmp_path):
    pytest.importorskip(EDGES[ending])
    tumbler, file = device("tumbler"), tmp_path / f"body{ending}"
    draw(tumbler, file, tumbler.published_design(outline="superellipse", length=0.7e-3))
    found = hull_of_file(file)
    assert found.values["outline"] == "superellipse"
    assert found.values["exponent"] == pytest.approx(2, abs=0.01)
    assert found.values["length"] == pytest.approx(0.7e-3, rel=1e-3)
    assert found.error < 0.1e-6  # the chain of arcs is that far from an ellipse


@pytest.mark.slow
def test_the_error_is_the_distance_of_the_shapes():
    """By points along both: a drop, whose front and back differ, and the superellipse that it is taken as."""
    t = np.linspace(0, 2 * np.pi, 4000, endpoint=False)
    points = 1e-6 * np.stack([300 * np.cos(t) + 12 * np.cos(2 * t), 80 * np.sin(t)], axis=1)
    hull = fit_hull(points, 1e-8)
    a, b = (1e6 * hull.values[name] / 2 for name in ("length", "thickness"))
    mine = 1e-6 * (rounded(4000, a, b, hull.values["exponent"]) - [30.0, -20.0])
    # Outlines are symmetric, so none is nearer than the part of the reach that half a turn reverses, wherever its
    # center is. To first order that part is the 12 um in the direction of the normal, less the center's.
    angles = np.arange(360) * np.deg2rad(1)
    reach = (points @ np.stack([np.cos(angles), np.sin(angles)])).max(0)
    odd = (reach - np.roll(reach, 180)) / 2
    centers = np.linspace(0, 12e-6, 1201)
    least = min(np.abs(odd - dx * np.cos(angles)).max() for dx in centers)
    at = np.arctan2(80 * np.sin(angles), 300 * np.cos(angles))
    first = 12e-6 * np.cos(2 * at)
    assert least == pytest.approx(
        min(np.abs((first - dx) * np.cos(angles)).max() for dx in centers), rel=12 / 300
    )
    assert least <= hull.error + (centers[1] - centers[0]) / 2
    # About the center that leaves least asymmetry the distance of the points is the error: points lie apart by
    # `gap`, so none is farther from its neighbor than the hypotenuse of distance and half a gap.
    center = [odd @ np.cos(angles) / np.sum(np.cos(angles) ** 2), 0]
    distances = cdist(points - center, mine)
    apart = max(distances.min(0).max(), distances.min(1).max())
    gap = max(np.linalg.norm(np.roll(p, 1, 0) - p, axis=1).max() for p in (mine, points))
    assert hull.error * (1 - 1e-3) <= apart <= np.hypot(hull.error * (1 + 1e-3), gap / 2)


def test_hollows_are_filled_and_said(tmp_path):
    notch = [[0, 0], [800, 0], [800, 100], [500, 100], [400, 50], [300, 100], [0, 100]]
    found = hull_of_file(write(tmp_path / "notch.csv", notch))
    assert found.values["outline"] == "box"
    assert found.filled == pytest.approx(200 * 50 / 2 / 8e4, rel=1e-6)
    assert "6.2 % of the hull is hollow" in found.text("notch.csv")


def test_a_file_stands_for_the_outline_wherever_a_value_is_given(tmp_path, capsys):
    file = write(tmp_path / "box.csv", [[5, 5], [705, 5], [705, 125], [5, 125]])
    point = words.point(device("tumbler"), {"outline": str(file), "field": "20mT"})
    assert point.design.outline == "box" and point.design.length == pytest.approx(7e-4)
    assert "700 um long and 120 um thick" in point.notes[0]
    assert run(["draw", "tumbler", f"outline={file}", "--out", str(tmp_path / "t.svg")]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "its hull is the same" in said and "length 700 um" in said
    with pytest.raises(words.BadInput, match="gives length too; leave length=1mm out"):
        words.point(device("tumbler"), {"outline": str(file), "length": "1mm"})


@pytest.mark.slow
def test_it_rolls(tmp_path, capsys):
    file = write(tmp_path / "round.csv", rounded(200, 400.0, 60.0, 2.5))
    assert run(["evaluate", "tumbler", f"outline={file}", "--response", "speed", "--json"]) == 0
    said = capsys.readouterr()
    assert '"status": "ok"' in said.out and "800 um long and 120 um thick" in said.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0,0\n800,0\n800,100\n", "its outline is 800 m long; bodies are from 1 um to 100 mm"),
        (
            "x [um], y [um]\n0,0\n800,100\n800,0\n0,100\n",
            "crosses itself near x = 400 um, y = 50 um",
        ),
        ("x [um], y [um]\n0,0\n400,0\n800,0\n", "surrounds no area"),
        ("x [um], y [um]\n0,0\n400\n", "line 3: 1 columns"),
        ("x [um], y [um]\n0,0\n", "an outline needs three"),
        ("x [ug], y [um]\n0,0\n1,1\n", "no pair of lengths"),
    ],
)
def test_bad_files_are_said(text, said, tmp_path, capsys):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    assert run(["draw", "tumbler", f"outline={file}", "--out", str(tmp_path / "t.svg")]) == 2
    found = " ".join(capsys.readouterr().err.split())
    assert said in found and str(file) in found


def test_a_file_that_is_not_there_is_said(capsys, tmp_path):
    assert run(["draw", "tumbler", "outline=none.dxf", "--out", str(tmp_path / "t.svg")]) == 2
    assert "outline: There is no file none.dxf" in capsys.readouterr().err
