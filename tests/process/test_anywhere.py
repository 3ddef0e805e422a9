"""Widths and gaps anywhere: a check by polygons against shapes that are known and against KLayout's own check."""

import dataclasses

import equinox as eqx
import numpy as np
import pytest

from diffmicro import parameter
from diffmicro.command.app import run
from diffmicro.devices import device
from diffmicro.drawing import draw, narrow_places
from diffmicro.process import features, process_from
from diffmicro.shapes import Geometry, Plate, circle, polygon, rectangle
from tests.process.comb import COMB, SILICON

UM = 1e-6

GRIDS = 5
"""Steps of the grid (0.1 nm): edges up to so long point anywhere, as rounding their ends turns them."""


def places(*contours, width="1nm", gap="1nm", joints=(), holes=(), **more):
    """What is narrow in plates of these contours."""

    class Layout(eqx.Module):
        unused: float = parameter(1.0, "nothing", "-")

    def geometry(design, layout):
        plates = [Plate(str(n), SILICON, c, 0.0, UM, holes) for n, c in enumerate(contours)]
        return Geometry(tuple(plates), joints=joints)

    own = dataclasses.replace(COMB, geometry=geometry, Layout=Layout, features=None, etched=None)
    rules = {"minimum_width": width, "minimum_gap": gap, **more}
    return narrow_places(own, process_from({"layers": {"silicon": rules}}))


U = polygon(UM * np.array([[0, 0], [10, 0], [10, 9], [6, 9], [6, 3], [4, 3], [4, 9], [0, 9]]))
"""4 um wide, 3 um at its ground, with a notch of 2 um."""


def test_a_notch_and_a_strip_of_one_part():
    assert places(U, width="2.99um", gap="1.99um") == ()
    wide, deep = sorted(places(U, width="3.01um", gap="2.01um"), key=lambda p: p.kind)
    assert (wide.kind, deep.kind) == ("gap", "width") and wide.parts == ("0", "0")
    assert wide.value == pytest.approx(2 * UM) and deep.value == pytest.approx(3 * UM)
    assert wide.at[0] == pytest.approx(5 * UM) and 3 * UM < wide.at[1] < 9 * UM
    assert "gap of 0: 2 um near x = 5 um" in str(wide)
    assert "minimum_gap of silicon is 2.01 um" in str(wide)


def test_what_two_parts_of_one_piece_leave_between_them():
    """An arm that leaves a wall, and comes back to 3 um in front of it; the joint itself is none."""
    wall = rectangle(0, 0, 5 * UM, 30 * UM)
    arm = UM * np.array([[4, 2], [20, 2], [20, 20], [8, 20], [8, 17], [17, 17], [17, 5], [4, 5]])
    pair = (("0", "1"),)
    assert places(wall, polygon(arm), width="2.9um", gap="2.9um", joints=pair) == ()
    (found,) = places(wall, polygon(arm), gap="3.1um", joints=pair)
    assert found.parts == ("0", "1") and found.value == pytest.approx(3 * UM)
    assert found.at == pytest.approx((6.5 * UM, 18.5 * UM), abs=1.6 * UM)


def test_sharp_corners_are_said_and_right_angles_are_none():
    assert places(rectangle(0, 0, 9 * UM, 9 * UM), width="8.9um") == ()
    wedge = polygon(UM * np.array([[0, 0], [20, 0], [20, 20], [10, 4], [0, 20]]))
    (inner,) = [p for p in places(wedge, gap="0.5um") if p.kind == "gap"]
    assert inner.value == 0 and inner.at == pytest.approx((10 * UM, 4 * UM))
    assert "two edges meet in a corner below 80 degrees, near x = 10 um, y = 4 um" in str(inner)
    (tip,) = [p for p in places(wedge, width="0.5um") if p.kind == "width"]
    assert tip.value == 0 and tip.at[1] == pytest.approx(20 * UM)


def test_a_disc_is_as_wide_as_its_diameter_and_a_ring_as_its_wall():
    disc, hole = circle([0, 0], 5 * UM), circle([0, 0], 4 * UM)
    assert places(disc, width="9.95um") == ()
    assert places(disc, width="10.1um")[0].value == pytest.approx(10 * UM, rel=6e-3)
    assert places(disc, width="0.99um", gap="5um", holes=(hole,)) == ()
    assert places(disc, width="1.01um", holes=(hole,))[0].value == pytest.approx(UM, rel=3e-3)


@pytest.mark.slow
def test_the_mask_is_judged_by_its_resolution():
    """An etch that takes 0.5 um from every edge leaves 1 um less of the notch on the mask."""
    (found,) = places(U, resolution="1.5um", etch_bias="0.5um")
    assert found.mask and found.rule == "resolution"
    assert found.value == pytest.approx(UM) and "on the mask" in str(found)
    assert places(U, resolution="0.9um", etch_bias="0.5um") == ()


@pytest.mark.slow
def test_draw_says_where_a_rule_is_broken(rules, tmp_path, capsys):
    words = ["draw", "wrmma", "--rules", str(rules), "--out", str(tmp_path / "a.svg")]
    assert run(words) == 0
    assert "break" not in capsys.readouterr().err
    assert run([*words, "spring_width=1.4um", "rest_gap=14um"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "3 places break the rules" in said
    assert "gap between body and hammer: 14 um near x = " in said
    assert "width of upper spring: 1.4 um near x = " in said


def drawn_by_chance(own, rng):
    """A design that can be drawn, and its layout."""
    while True:
        if own.name == "wrmma":
            shift = rng.uniform(0.8, 1.2, 3)
            design = own.published_design(
                rest_gap=20e-6 * shift[0], width=130e-6 * shift[1], mass_ratio=1.5 * shift[2]
            )
            layout = own.Layout(
                spring_width=float(rng.uniform(1.7e-6, 2.4e-6)),
                spring_space=float(rng.uniform(3e-6, 9e-6)),
                pad=float(rng.uniform(8e-6, 12e-6)),
            )
        else:
            design = own.published_design(
                beam_radius=2e-4 * rng.uniform(0.96, 1.03, 4),
                section_height=float(rng.uniform(3e-6, 7e-6)),
            )
            layout = own.Layout(
                plate_width=float(rng.uniform(25e-6, 34e-6)),
                clearance=float(rng.uniform(15e-6, 24e-6)),
            )
        try:
            return design, layout, features(own, design, layout)
        except ValueError:
            continue


def marks(db, mask, layer, kind, distance):
    """What KLayout's check of a layer finds below a distance: corners [m], and pairs of edges that are apart."""
    region = db.Region(mask.top_cell().begin_shapes_rec(mask.layer(layer.number, 0))).merge()
    metric = db.Region.Projection if kind == "width" else db.Region.Euclidian
    check = region.width_check if kind == "width" else region.space_check
    found = check(round(distance / (mask.dbu * UM)), False, metric, 80, None, None, False)
    corners, apart = [], []
    for pair in found.each():
        if min(pair.first.length(), pair.second.length()) <= GRIDS:
            continue
        ends = [{(p.x, p.y) for p in (edge.p1, edge.p2)} for edge in (pair.first, pair.second)]
        shared = ends[0] & ends[1]
        corners += [np.array(place) * mask.dbu * UM for place in shared]
        apart += [pair] if not shared else []
    return corners, apart


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wrmma", "gripper"])
def test_klayout_finds_nothing_in_twenty_designs_that_keep_the_rules(name, tmp_path):
    """Rules 1 % below the smallest named width and gap of each layer: neither KLayout nor the check by polygons
    finds anything but corners, and KLayout none that the check does not name. Rules 1 % above: both find it."""
    db = pytest.importorskip("klayout.db")
    pytest.importorskip("gdstk")
    own, rng = device(name), np.random.default_rng(20)
    for number in range(20):
        design, layout, known = drawn_by_chance(own, rng)
        file = tmp_path / f"{number}.gds"
        try:
            shown = draw(own, file, design, layout, tolerance=2e-9)
        except ValueError as complaint:
            assert "geometry" in str(complaint)
            continue
        mask = db.Layout()
        mask.read(str(file))
        least = {
            (layer, kind): min(
                (float(f.value) for f in known if (f.layer, f.kind) == (layer, kind)),
                default=np.inf,
            )
            for layer in shown.layers
            for kind in ("width", "gap")
        }
        for share in (0.99, 1.01):
            layers = {
                layer.name: {
                    f"minimum_{kind}": f"{share * least[layer, kind]!r}m"
                    for kind in ("width", "gap")
                    if np.isfinite(least[layer, kind])
                }
                for layer in shown.layers
            }
            found = narrow_places(own, process_from({"layers": layers}), design, layout)
            for (layer, kind), value in least.items():
                if not np.isfinite(value):
                    continue
                own_places = [p for p in found if (p.layer, p.kind) == (layer.name, kind)]
                sharp = [np.array(p.at) for p in own_places if p.value == 0]
                corners, apart = marks(db, mask, layer, kind, share * value)
                for corner in corners:
                    assert min(np.hypot(*(corner - place)) for place in sharp) < 1e-8
                blunt = [p for p in own_places if p.value]
                assert bool(apart) == bool(blunt) == (share > 1), (number, layer, kind, share)
