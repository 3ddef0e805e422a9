"""Contours, strokes and springs against polygons, closed forms and an independent frame program."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.mechanics.springs import folded_path, guided_stiffness, length_for, width_for
from diffmicro.shapes import Contour, circle, hemisphere, point, rectangle, stroke
from diffmicro.shapes.bodies import Layer


def shoelace(points):
    x, y = points.T
    after_x, after_y = np.roll(x, -1), np.roll(y, -1)
    cross = x * after_y - after_x * y
    return cross.sum() / 2, (cross * (x + after_x)).sum() / 6


@pytest.mark.parametrize("bulge", [0.3, -0.2, 7.6, 0.00999, 0.01001, -0.00999, -0.01001])
def test_area_and_moment_are_those_of_a_fine_polygon(bulge):
    contour = Contour(jnp.array([[1.0, 0.0], [2.0, 0.1], [1.5, 1.0]]), jnp.array([bulge, 0.0, 0.1]))
    area, moment = shoelace(contour.polygon(1e-7))
    assert float(contour.area()) == pytest.approx(area, rel=1e-12)
    assert float(contour.moment()) == pytest.approx(moment, rel=1e-6)


def test_polygons_have_the_area_and_stay_within_the_tolerance():
    points = circle(jnp.array([3.0, 1.0]), 2.0).polygon(1e-3)
    assert shoelace(points)[0] == pytest.approx(4 * np.pi, rel=1e-14)
    middles = (points + np.roll(points, -1, axis=0)) / 2
    away = np.concatenate([np.linalg.norm(p - [3.0, 1.0], axis=1) for p in (points, middles)]) - 2
    assert away.max() < 1e-3 and away.min() > -1e-3
    assert away.max() > 3e-4  # and no finer than it has to be


def test_a_derivative_of_an_area():
    slope = jax.grad(lambda r: circle(jnp.zeros(2), r).area())(2.0)
    assert float(slope) == pytest.approx(4 * np.pi, rel=1e-14)


def test_mirror_images_keep_area_and_sense():
    contour = Contour(jnp.array([[1.0, 0.0], [2.0, 0.1], [1.5, 1.0]]), jnp.array([0.3, -0.2, 0.0]))
    for axis in (0, 1):
        image = contour.mirrored(axis)
        assert float(image.area()) == pytest.approx(float(contour.area()), rel=1e-14)
        assert np.allclose(image.mirrored(axis).points, contour.points)


@pytest.mark.parametrize("tip", [0.0, 0.3])
def test_a_hemisphere_has_its_volume(tip):
    body = hemisphere("h", Layer(1, "l"), 2.0, point(1.0, 2.0, 3.0), tip_radius=tip, down=True)
    height = np.sqrt(4 - tip**2)
    assert float(body.volume()) == pytest.approx(np.pi * (4 * height - height**3 / 3), rel=1e-13)


def test_a_stroke_is_as_wide_as_it_says():
    band = stroke([[0, 0], [0, 5], [2, 5], [2, 0]], 0.1)
    outer, inner = 2.1 * 5.05, 1.9 * 4.95  # a U of three beams is one rectangle less another
    assert float(band.area()) == pytest.approx(outer - inner, rel=1e-12)
    assert float(rectangle(0, 0, 2, 3).area()) == pytest.approx(6)


GOLD = dict(young=79e9, thickness=5e-6, width=2e-6)


def frame_stiffness(path, young, thickness, width):
    """Direct stiffness method: frame elements, one end clamped, the other guided along x."""
    n, area, inertia = len(path), thickness * width, thickness * width**3 / 12
    whole = np.zeros((3 * n, 3 * n))
    for i, way in enumerate(np.diff(path, axis=0)):
        length = np.hypot(*way)
        c, s = way / length
        a, b = young * area / length, 12 * young * inertia / length**3
        e, f, g = (k * young * inertia / length ** (1 + (k == 6)) for k in (6, 4, 2))
        own = np.array(
            [[a, 0, 0, -a, 0, 0], [0, b, e, 0, -b, e], [0, e, f, 0, -e, g],
             [-a, 0, 0, a, 0, 0], [0, -b, -e, 0, b, -e], [0, e, g, 0, -e, f]]
        )  # fmt: skip
        turn = np.kron(np.eye(2), [[c, s, 0], [-s, c, 0], [0, 0, 1]])
        at = slice(3 * i, 3 * i + 6)
        whole[at, at] += turn.T @ own @ turn
    free = [*range(3, 3 * n - 3), 3 * n - 3]
    return 1 / np.linalg.inv(whole[np.ix_(free, free)])[-1, -1]


SLOW = pytest.mark.slow


@pytest.mark.parametrize("folds", [4, *(pytest.param(n, marks=SLOW) for n in (2, 10))])
def test_springs_against_a_frame_program(folds):
    path = folded_path(folds, 90e-6, 7e-6, 4e-6)
    assert float(guided_stiffness(path, **GOLD)) == pytest.approx(
        frame_stiffness(np.asarray(path), **GOLD), rel=1e-9
    )


def test_long_springs_are_folds_in_series():
    path = folded_path(4, 9e-3, 7e-6, 4e-6)
    ideal = 79e9 * 5e-6 * 2e-6**3 / (4 * 9e-3**3)
    assert float(guided_stiffness(path, **GOLD)) == pytest.approx(ideal, rel=5e-3)


def test_lengths_and_widths_for_a_stiffness():
    given = (1.0, 4, 7e-6, 4e-6, 79e9, 5e-6)
    length = length_for(*given, 2e-6)
    path = folded_path(4, length, 7e-6, 4e-6)
    assert float(guided_stiffness(path, **GOLD)) == pytest.approx(1.0, rel=1e-12)
    assert float(width_for(*given, length)) == pytest.approx(2e-6, rel=1e-12)
    # Twice as thick a layer is as stiff as twice the wanted stiffness is: both in the ratio alone.
    slopes = jax.grad(lambda k, t: length_for(k, *given[1:5], t, 2e-6), (0, 1))(1.0, 5e-6)
    assert float(slopes[0]) == pytest.approx(-5e-6 * float(slopes[1]), rel=1e-10)
    step = 1e-2
    up, down = (length_for(1 + s * step, *given[1:], 2e-6) for s in (1, -1))
    assert float(slopes[0]) == pytest.approx(float(up - down) / (2 * step), rel=1e-3)
