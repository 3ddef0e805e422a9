"""Outlines: perimeters, areas and inertias in closed form, hulls with their true flats, derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ellipe

from diffmicro.mechanics import outlines

A, B = 1.15e-3, 0.2e-3


def ellipse_perimeter(length, thickness):
    a, b = length / 2, thickness / 2
    return 4 * a * ellipe(1 - (b / a) ** 2)


def test_box():
    outline = outlines.box(0.8, 0.1)
    assert float(outline.perimeter()) == pytest.approx(1.8, rel=1e-15)
    assert float(outline.area) == pytest.approx(0.08)
    along, depth_wise, upward = outline.inertia(0.4)
    np.testing.assert_allclose(
        [along, depth_wise, upward],
        [(0.4**2 + 0.1**2) / 12, (0.8**2 + 0.1**2) / 12, (0.8**2 + 0.4**2) / 12],
    )
    np.testing.assert_allclose(outline.normal, np.arange(4) * np.pi / 2)
    np.testing.assert_allclose(outline.flat, [0.8, 0.1, 0.8, 0.1])


@pytest.mark.slow
def test_arcs_keep_the_perimeter_of_an_ellipse_and_its_derivatives():
    def perimeter(x):
        return outlines.superellipse(x[0], x[1], x[2]).perimeter()

    x = jnp.array([A, B, 2.0])
    np.testing.assert_allclose(perimeter(x), ellipse_perimeter(A, B), rtol=1e-10)
    slopes = jax.jacfwd(perimeter)(x)
    h = 1e-5
    for i, moved in enumerate(((A * h, 0), (0, B * h))):
        up = ellipse_perimeter(A + moved[0], B + moved[1])
        down = ellipse_perimeter(A - moved[0], B - moved[1])
        np.testing.assert_allclose(slopes[i], (up - down) / (2 * (A, B)[i] * h), rtol=1e-7)
    np.testing.assert_allclose(jax.jacrev(perimeter)(x), slopes, rtol=1e-10)


@pytest.mark.parametrize(
    ("exponent", "off"), [(1.3, 0.01), (2.0, 0.007), (4.0, 0.015), (12.0, 0.02)]
)
def test_arcs_are_close_to_the_superellipse(exponent, off):
    outline = outlines.superellipse(A, B, exponent)
    a, b, q = A / 2, B / 2, exponent / (exponent - 1)
    angles = np.linspace(0.01, 6.2, 97)
    exact = ((a * abs(np.sin(angles))) ** q + (b * abs(np.cos(angles))) ** q) ** (1 / q)
    found = [float(outline.support(jnp.asarray(angle))) for angle in angles]
    assert np.max(np.abs(found / exact - 1)) < off
    area = 4 * quad(lambda x: b * (1 - (x / a) ** exponent) ** (1 / exponent), 0, a)[0]
    np.testing.assert_allclose(outline.area, area, rtol=off)
    assert float(jnp.sum(outline.flat)) == 0.0  # no facet of a curve adheres


def test_equal_radii_are_the_ellipse_and_any_number_of_them_is_convex():
    ellipse = outlines.superellipse(A, B, 2.0)
    for n in (3, 8):
        same = outlines.from_radii(A, B, jnp.ones(n))
        np.testing.assert_allclose(same.radius, ellipse.radius, rtol=1e-9)
        np.testing.assert_allclose(same.square_x, ellipse.square_x, rtol=1e-9)
    free = outlines.from_radii(A, B, jnp.array([1.0, 3.0, 0.2, 2.0, 0.7]))
    assert np.all(np.asarray(free.radius) > 0)
    # It touches the sides of the rectangle.
    np.testing.assert_allclose(free.support(jnp.asarray(0.0)), B / 2, rtol=0.02)
    np.testing.assert_allclose(free.support(jnp.asarray(np.pi / 2)), A / 2, rtol=0.02)
    assert float(free.perimeter()) < 2 * (A + B)


def test_arcs_close_smoothly():
    outline = outlines.from_radii(A, B, jnp.array([1.0, 3.0, 0.2, 2.0, 0.7]))
    after = np.roll(outline.normal, -1)
    end = [outline.x + outline.radius * np.sin(after), outline.z - outline.radius * np.cos(after)]
    start = [
        outline.x + outline.radius * np.sin(outline.normal),
        outline.z - outline.radius * np.cos(outline.normal),
    ]
    for last, first in zip(end, start, strict=True):
        np.testing.assert_allclose(last, np.roll(first, -1), atol=1e-12 * A)


def test_hull_of_spiked_ends_and_its_true_flats():
    outline = outlines.spiked(0.8, 0.4, 0.8, 0.15, 0.1, middle=False)
    slope = np.hypot(0.05, 0.125)
    assert int(outline.count) == 8
    np.testing.assert_allclose(outline.perimeter(), 2 * 0.7 + 4 * slope + 2 * 0.15)
    np.testing.assert_allclose(outline.flat[:4], [0.0, slope, 0.15, slope])
    np.testing.assert_allclose(outline.area, 0.8 * 0.15 + 4 * 0.5 * 0.1 * 0.125)


def test_pointed_core_hides_its_corners():
    outline = outlines.spiked(0.65, 0.325, 0.4, 0.075, 0.125, middle=True)
    assert int(outline.count) == 6
    np.testing.assert_allclose(
        outline.perimeter(), 2 * 0.275 + 4 * np.hypot(0.325 - 0.1375, 0.1625)
    )
    assert float(jnp.sum(outline.flat)) == 0.0
    spikes = 6 * 0.5 * 0.125 * 0.125 + 2 * 0.5 * 0.075 * 0.125
    np.testing.assert_allclose(outline.area, 0.4 * 0.075 + spikes)


def test_section_of_a_triangle():
    x, z = jnp.array([0.0, 2.0, 0.0]), jnp.array([0.0, 0.0, 3.0])
    area, square_x, square_z, product = outlines.section(x, z)
    np.testing.assert_allclose(
        [area, square_x, square_z, product], [3.0, 4 / 6, 9 / 6, 6 / 12], rtol=1e-14
    )
