"""The tumbler's other outlines and its limits: gradients against exact values and against differences."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.certificate import VERDICTS, value_and_gradient
from diffmicro.devices import tumbler
from diffmicro.mechanics import outlines
from diffmicro.parameters import as_arrays
from diffmicro.results import word

IMPROVED = dict(mass=6.94e-8, offset_angle=0.0, magnetic_volume=3.2e-11, magnetization=51835.0)
ALUMINUM = dict(friction=0.5359, adhesion=26.1771, electrostatic_force=0.0)


def case(design, setting):
    """Design and setting as arrays."""
    return as_arrays((tumbler.published_design(**design), tumbler.published_setting(**setting)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "outline",
    [
        dict(outline="superellipse", length=1.15e-3, thickness=0.2e-3),
        dict(
            outline="support",
            length=1.0e-3,
            thickness=0.3e-3,
            outline_radii=(1.0, 1.2, 0.9, 1.1, 1.0),
        ),
    ],
)
def test_a_curve_that_rolls_has_the_speed_and_gradient_of_its_perimeter(outline):
    wrt = ("length", "thickness", "field_frequency", "friction", "outline_radii")
    wrt = wrt if outline["outline"] == "support" else wrt[:4]
    design, setting = case({**IMPROVED, **outline}, dict(ALUMINUM, field_frequency=10.0))
    judge = jax.jit(value_and_gradient(tumbler.respond, wrt, "speed"))
    value, gradient, certificate, response = judge(design, setting)

    def perimeter(length, thickness, radii):
        if outline["outline"] == "support":
            return outlines.from_radii(length, thickness, radii).perimeter()
        return outlines.superellipse(length, thickness, 2.0).perimeter()

    arguments = (design.length, design.thickness, design.outline_radii)
    exact, slopes = jax.value_and_grad(perimeter, (0, 1, 2))(*arguments)
    assert word(response.result) == "ok"
    assert float(response.slip) == 0.0
    assert VERDICTS[int(certificate.verdict)] == "certified"
    np.testing.assert_allclose(value, 10.0 * exact, rtol=1e-12)
    np.testing.assert_allclose(gradient["length"], 10.0 * slopes[0], rtol=1e-8)
    np.testing.assert_allclose(gradient["thickness"], 10.0 * slopes[1], rtol=1e-8)
    np.testing.assert_allclose(gradient["field_frequency"], exact, rtol=1e-12)
    assert float(gradient["friction"]) == 0.0
    if "outline_radii" in gradient:
        np.testing.assert_allclose(gradient["outline_radii"], 10.0 * slopes[2], rtol=1e-6)


def test_a_swing_across_the_place_where_laps_are_counted_still_rolls():
    """Laps of this lens come as -1, 3, 1, ... per half turn; its mean speed is the perimeter's all the same."""
    outline = dict(outline="support", outline_radii=(1.89, 3.96, 1.3, 13.6), length=1.11e-3)
    shape = dict(**outline, thickness=0.101e-3, density=5022.1875, magnetic_share=0.90625)
    response = tumbler.respond(*case(shape, {}))
    assert word(response.result) == "ok"
    assert float(response.slip) == 0.0
    np.testing.assert_allclose(response.speed, response.no_slip_speed, rtol=1e-12)


@pytest.mark.slow
def test_shape_gradients_equal_differences_of_the_event_solution():
    """Spiked ends on paper, every parameter of the outline; steps far above the resolution."""
    names = ("length", "thickness", "width", "spike_base", "spike_height")
    design, setting = case(dict(outline="spiked_ends", thickness=400e-6), dict(field_frequency=4.0))
    start = jnp.stack([getattr(design, name) for name in names])

    def speed(x):
        values = dict(zip(names, x, strict=True))
        changed = tumbler.Design(
            **{**vars(design), **values, "outline_radii": design.outline_radii}
        )
        return tumbler.respond(changed, setting, throw=False).speed

    value, slopes = jax.jit(jax.value_and_grad(speed))(start)
    compiled, h = jax.jit(speed), 1e-5
    for i, name in enumerate(names):
        step = start[i] * h
        up, down = (compiled(start.at[i].add(sign * step)) for sign in (1, -1))
        difference = (up - down) / (2 * step)
        floor = 1e-3 * value / start[i]
        assert abs(slopes[i] - difference) < 1e-4 * jnp.maximum(jnp.abs(difference), floor), name


@pytest.mark.slow
def test_climb_margin_and_its_derivative():
    design, setting = case({}, {})

    def margin(friction):
        changed = tumbler.Setting(**{**vars(setting), "friction": friction})
        return tumbler.respond(design, changed, extra=("climb_margin",), throw=False).climb_margin

    value, slope = jax.jit(jax.value_and_grad(margin))(setting.friction)
    assert math.degrees(float(value)) == pytest.approx(51.52, abs=0.02)
    # At the margin the mean speed is zero: just below it climbs, just above it does not.
    for offset, climbs in ((-1e-4, 1), (1e-4, 0)):
        tilted = tumbler.Setting(**{**vars(setting), "incline": value + offset})
        assert int(tumbler.respond(design, tilted, throw=False).climbs) == climbs
    compiled, h = jax.jit(margin), 1e-4
    difference = (compiled(setting.friction + h) - compiled(setting.friction - h)) / (2 * h)
    np.testing.assert_allclose(slope, difference, rtol=1e-5)


@pytest.mark.slow
def test_batched_equals_single_and_a_bad_lane_is_alone():
    frequencies = jnp.array([1.0, 10.0, -1.0, 15.0])
    design = as_arrays(tumbler.published_design())

    def speed(frequency):
        setting = as_arrays(tumbler.published_setting(field_frequency=frequency))
        return tumbler.respond(design, setting, throw=False)

    batch = jax.jit(jax.vmap(speed))(frequencies)
    alone = [float(speed(f).speed) for f in (1.0, 10.0, 15.0)]
    np.testing.assert_allclose(batch.speed[jnp.array([0, 1, 3])], alone, rtol=1e-9)
    assert np.isnan(batch.speed[2])
