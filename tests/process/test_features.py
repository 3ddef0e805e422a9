"""Widths, gaps and radii by formulas: those of the drawn geometry, with derivatives."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.devices import device
from diffmicro.drawing import draw, geometry
from diffmicro.process import (
    LayerRules,
    Process,
    etch_tolerances,
    features,
)
from diffmicro.shapes.contour import Contour
from diffmicro.shapes.distances import distances, edges


def test_distances_of_edges_are_those_of_their_points():
    rng = np.random.default_rng(3)
    shortest = jax.jit(lambda a, b: jnp.min(distances(edges([a]), edges([b]))))
    for _ in range(5):
        contours = []
        for x in (0.0, 3.0):
            corners = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]]) + rng.uniform(-0.2, 0.2, (4, 2))
            contours.append(
                Contour(jnp.asarray(corners + [x, 0]), jnp.asarray(rng.uniform(-0.3, 0.8, 4)))
            )
        one, other = (c.polygon(1e-5) for c in contours)
        true = np.linalg.norm(one[:, None] - other[None], axis=2).min()
        found = float(shortest(*contours))
        assert found == pytest.approx(true, abs=5e-5)


def seen(db, regions, check, distance, dbu):
    """Whether KLayout's own check finds a width or gap below this distance [m]: of a region, or of two."""
    region, *other = regions
    # A width is between edges that face each other, or any chord of a disc would be one; a gap is between any.
    metric = db.Region.Projection if check == "width_check" else db.Region.Euclidian
    # The last: also past other edges. Those are nearer, and to look for them costs the cube of a disc's corners.
    rest = (False, metric, 80, None, None, False)
    return getattr(region, check)(*other, round(distance / (dbu * 1e-6)), *rest).count() > 0


def pairs_of(db, shapes):
    """Pairs of drawn parts: gaps between two count within a piece that they make together too."""
    parts = [db.Region(each.shape().polygon.transformed(each.trans())) for each in shapes]
    return list(itertools.combinations(parts, 2))


@pytest.mark.parametrize("name", ["wrmma", pytest.param("gripper", marks=pytest.mark.slow)])
def test_klayout_measures_the_same_smallest_widths_and_gaps(name, tmp_path):
    db = pytest.importorskip("klayout.db")
    pytest.importorskip("gdstk")
    own, rng = device(name), np.random.default_rng(1)
    assert own.Layout is not None
    for number in range(3):
        if name == "wrmma":
            shift = rng.uniform(0.8, 1.2, 3)
            design = own.published_design(rest_gap=20e-6 * shift[0], width=130e-6 * shift[1])
            layout = own.Layout(
                spring_width=2e-6 * shift[2], spring_space=float(rng.uniform(3e-6, 9e-6))
            )
        else:
            design = own.published_design(
                beam_radius=2e-4 * rng.uniform(0.96, 1.03, 4),
                section_height=float(rng.uniform(3e-6, 7e-6)),
            )
            layout = own.Layout()
        file = tmp_path / f"{number}.gds"
        shown = draw(own, file, design, layout, grid=1e-11, tolerance=0.2e-9)
        mask = db.Layout()
        mask.read(str(file))
        known = features(own, design, layout)
        for layer in shown.layers:
            at = mask.layer(layer.number, 0)
            merged = [(db.Region(mask.top_cell().begin_shapes_rec(at)).merge(),)]
            checks: dict[str, tuple[list[Any], str]]
            checks = {"width": (merged, "width_check"), "gap": (merged, "space_check")}
            if name == "gripper":
                pairs = pairs_of(db, mask.top_cell().begin_shapes_rec(at).each())
                checks["gap"] = pairs, "separation_check"
            for kind, (regions, check) in checks.items():
                values = [float(f.value) for f in known if f.kind == kind and f.layer == layer]
                if min(values) < 200e-6:
                    for by in (-3e-9, 3e-9):
                        distance = min(values) + by
                        found = any(seen(db, each, check, distance, mask.dbu) for each in regions)
                        assert found == (by > 0), (layer, kind, by)


LEG = dict(
    leg_length=5e-3, leg_thickness=0.15e-3, leg_width=1e-3, leg_young=62e9, leg_density=7750.0
)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("tumbler", {}),
        pytest.param("tumbler", dict(outline="superellipse"), marks=pytest.mark.slow),
        ("tumbler", dict(outline="spiked_ends", thickness=0.4e-3)),
        ("legs", LEG),
        ("stickslip", {}),
        ("tribometer", {}),
    ],
)
def test_features_of_whole_parts_are_their_sizes(name, changes):
    """Smallest extents and heights of the plates, smallest radii of arcs, as drawn."""
    own = device(name)
    design = own.published_design(**changes)
    shown = geometry(own, design)
    known = features(own, design)
    for plate in shown.plates:
        values = {f.kind: float(f.value) for f in known if f.layer == plate.layer}
        if "thickness" in values:
            assert float(plate.top - plate.bottom) == pytest.approx(values["thickness"], rel=1e-9)
        radii = [radius for _, radius, _, _ in plate.outline.arcs()]
        if radii:
            assert min(radii) == pytest.approx(values["radius"], rel=1e-9)
        widths = [float(f.value) for f in known if f.layer == plate.layer and f.kind == "width"]
        if len(plate.outline.points) == 4 and widths:
            assert min(np.ptp(np.asarray(plate.outline.points), axis=0)) >= min(widths) * (1 - 1e-9)
    if name in ("tumbler", "legs") and "spiked" not in str(changes):
        layer = known[0].layer.name
        process = Process(((layer, LayerRules(etch_scatter=1e-6)),))
        moves = dict(etch_tolerances(own, process, design)[0].moves)
        key = "leg_width" if name == "legs" else "thickness"
        assert moves[key] == pytest.approx(-2)


def test_features_have_derivatives():
    own = device("wrmma")

    def values(gap):
        return jnp.stack(
            [jnp.asarray(f.value) for f in features(own, own.published_design(rest_gap=gap))]
        )

    slopes = jax.jit(jax.jacfwd(values))(20e-6)
    steps = (values(20.2e-6) - values(19.8e-6)) / 0.4e-6
    assert np.allclose(slopes, steps, rtol=1e-4, atol=1e-9)
    assert slopes[0] == 1
