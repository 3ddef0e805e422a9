"""What an etch changes: the mask drawn for it, the design in a mask, and the etch as a common tolerance."""

import dataclasses
import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.command.app import run
from diffmicro.devices import device
from diffmicro.drawing import draw, fit_design, geometry, read_shapes
from diffmicro.process import (
    LayerRules,
    Process,
    etch_tolerances,
    read_process,
)
from diffmicro.shapes import circle, polygon, rectangle
from diffmicro.shapes.contour import Contour
from diffmicro.shapes.offset import grown


def test_a_grown_contour_is_the_parallel_one():
    square = grown(rectangle(0, 0, 1e-5, 5e-6), 1e-6)
    assert float(square.area()) == pytest.approx(12e-6 * 7e-6, rel=1e-12)
    assert float(grown(circle([0, 0], 5e-6), 1e-6).area()) == pytest.approx(
        math.pi * 36e-12, rel=1e-12
    )
    # A half disc: its corners stay where the line and the wider circle meet.
    half = Contour(jnp.array([[-5e-6, 0.0], [5e-6, 0.0]]), jnp.array([0.0, 1.0]))
    wider = grown(half, 1e-6)
    assert np.allclose(
        wider.points, [[-(35**0.5) * 1e-6, -1e-6], [35**0.5 * 1e-6, -1e-6]], rtol=1e-9, atol=0
    )
    assert wider.arcs()[0][1] == pytest.approx(6e-6, rel=1e-9)
    back = grown(wider, -1e-6)
    assert np.allclose(back.points, half.points, rtol=0, atol=1e-17)
    slope = jax.grad(lambda by: grown(half, by).area())(0.0)
    assert slope == pytest.approx(1e-5 + math.pi * 5e-6, rel=1e-9)  # its perimeter


def test_an_edge_that_vanishes_is_said():
    with pytest.raises(ValueError, match="an edge that begins at x = 0 um, y = 0 um vanishes"):
        grown(rectangle(0, 0, 1e-6, 5e-6), -0.6e-6)
    notch = polygon(
        [
            [0, 0],
            [1e-5, 0],
            [1e-5, 1e-5],
            [6e-6, 1e-5],
            [6e-6, 5e-6],
            [5e-6, 5e-6],
            [5e-6, 1e-5],
            [0, 1e-5],
        ]
    )
    with pytest.raises(ValueError, match="vanishes"):
        grown(notch, 0.6e-6)


@pytest.mark.parametrize("name", ["wrmma", pytest.param("gripper", marks=pytest.mark.slow)])
def test_klayout_etches_the_mask_to_the_design(name, tmp_path):
    """An independent etch: KLayout takes the bias from the merged mask, and the part's own area is left."""
    db = pytest.importorskip("klayout.db")
    pytest.importorskip("gdstk")
    own, bias = device(name), 0.3e-6
    process = Process(
        tuple((layer.name, LayerRules(etch_bias=bias)) for layer in geometry(own).layers)
    )
    regions = {}
    for kind, by in (("etched", None), ("drawn", process)):
        file = tmp_path / f"{kind}.gds"
        shown = draw(own, file, process=by, grid=1e-11, tolerance=0.1e-9)
        layout = db.Layout()
        layout.read(str(file))
        for layer in shown.layers:
            region = db.Region(layout.top_cell().begin_shapes_rec(layout.layer(layer.number, 0)))
            regions[kind, layer.name] = region.merge()
    for layer in shown.layers:
        part, mask = regions["etched", layer.name], regions["drawn", layer.name]
        back = mask.sized(-round(bias / (layout.dbu * 1e-6)), 5)
        assert mask.area() > 1.002 * part.area()
        assert (back ^ part).area() <= 1e-4 * part.area()  # arcs are polygons
        assert back.area() == pytest.approx(part.area(), rel=1e-6 if name == "wrmma" else 1e-4)


@pytest.mark.parametrize("ending", ["dxf", pytest.param("gds", marks=pytest.mark.slow)])
def test_a_mask_read_again_is_the_design(ending, rules, tmp_path):
    pytest.importorskip("ezdxf" if ending == "dxf" else "gdstk")
    own, process = device("wrmma"), read_process(rules)
    true = own.published_design(rest_gap=26e-6, mass_ratio=1.3, width=117e-6)
    file = tmp_path / f"mask.{ending}"
    draw(own, file, true, process=process)
    keys = ["rest_gap", "mass_ratio", "width"]
    found = fit_design(own, file, keys, process=process)
    assert found.largest < 1e-9
    for key in keys:
        assert getattr(found.design, key) == pytest.approx(getattr(true, key), abs=1e-9, rel=1e-6)
    # The file itself has a narrower gap and wider parts.
    shapes = {shape.name: np.asarray(shape.contour.points) for shape in read_shapes(file)}
    gap = shapes["hammer"][:, 0].min() - shapes["body"][:, 0].max()
    assert gap == pytest.approx(25e-6, abs=1e-9)
    assert np.ptp(shapes["body"][:, 1]) == pytest.approx(118e-6, abs=1e-9)


def test_the_etch_moves_all_widths_of_its_layer(rules):
    """Against the drawn mask: a part that lost d more is the design that the mask shows for a bias larger by d."""
    own, process = device("wrmma"), read_process(rules)
    causes = {t.variable: t for t in etch_tolerances(own, process)}
    assert causes.keys() == {"etch of nickel", "etch of gold"}
    assert causes["etch of gold"].kind == "interval" and causes[
        "etch of nickel"
    ].size == pytest.approx(1e-7)
    nickel = dict(causes["etch of nickel"].moves)
    assert (nickel["rest_gap"], nickel["width"], nickel["device_length"]) == (2, -2, -2)
    more = 1e-8
    wider = dataclasses.replace(process.layers[0][1], etch_bias=-more)
    shown = geometry(own, process=Process((("nickel", wider),)))
    plates = {plate.name: np.asarray(plate.outline.points) for plate in shown.plates}
    lengths = [float(np.ptp(plates[part][:, 0])) for part in ("body", "hammer")]
    assert nickel["mass_ratio"] == pytest.approx((lengths[1] / lengths[0] - 1.5) / more, rel=1e-3)


def test_a_thinner_spring_is_softer(rules):
    """About 1.5 times the share of the width: the stiffness of long folds goes with its cube."""
    (gold,) = (t for t in etch_tolerances("wrmma", read_process(rules)) if "gold" in t.variable)
    ((key, slope),) = gold.moves
    assert key == "tethered_frequency"
    assert slope == pytest.approx(-1.5 * 2300.0 * 2 / 2e-6, rel=0.02)


@pytest.mark.slow
def test_the_yield_is_by_the_etch(rules, capsys):
    words = ["tolerances", "wrmma", "load_factor=32", "frequency_ratio=1.4", "--rules", str(rules)]
    words += ["--parts", "400", "--no-gradients", "--json", "--subject"]
    shares = {}
    for limit in ("velocity>20mm/s", "velocity>54.8mm/s"):  # the published one has 54.85 mm/s
        assert run([*words, limit]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [t["variable"] for t in found["tolerances"]] == ["etch of nickel", "etch of gold"]
        shares[limit] = found["yield"]
    assert shares["velocity>20mm/s"] > 0.95
    assert 0.1 < shares["velocity>54.8mm/s"] < 0.9


def test_a_plate_that_the_etch_would_close_is_said(tmp_path):
    own = device("wrmma")
    layer = LayerRules(etch_bias=3.5e-6)
    with pytest.raises(
        ValueError,
        match=r"wrmma.geometry: upper spring cannot be drawn for an etch that takes 3.5 um",
    ):
        geometry(own, process=Process((("gold", layer),)))
    assert geometry(own).plates
