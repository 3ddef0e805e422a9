"""The tumbler in a fluid: independent motions, terminal velocity, identities of scale."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro import value_and_gradient, verdict_word
from diffmicro.devices import tumbler
from diffmicro.devices.tumbler.body import body_of as body
from diffmicro.devices.tumbler.body import drag_of, outline_of, weight_of
from diffmicro.devices.tumbler.drift import drift_of
from diffmicro.parameters import as_arrays
from diffmicro.results import word
from tests.oracles import tumbler as oracle

OIL = dict(fluid_viscosity=5e-3, fluid_density=950.0)
WATER = dict(fluid_viscosity=1e-3, fluid_density=1000.0)


def _drag(design, setting):
    found = drag_of(design, setting, outline_of(design))
    assert found is not None
    return found


def _robot(design, setting):
    """The oracle's robot with the fluid's forces in its units: mN, mg/ms, mg mm^2/ms."""
    outline = outline_of(design)
    dry = oracle.cuboid(design, setting)
    force, moment = _drag(design, setting)
    lost = 1e3 * (
        design.mass * 9.81 - float(weight_of(design, setting, outline, body(design, outline)))
    )
    return dataclasses.replace(
        dry,
        press=dry.press - lost * np.cos(setting.incline),
        slope=dry.slope - lost * np.sin(setting.incline),
        drag=1e3 * float(force[1]),
        brake=1e9 * float(moment[0]),
    )


def _expected(design, setting):
    distance, end = oracle.half_turn(_robot(design, setting), phase=0.1)
    assert np.all(end[3:] == 0)  # at rest on the long face: the half turn is the periodic motion
    return 2e-3 * distance * setting.field_frequency


@pytest.mark.parametrize(
    "setting",
    [
        dict(field_frequency=10.0, **WATER),
        pytest.param(
            dict(field_frequency=2.0, incline=0.3, fluid_viscosity=5e-2, fluid_density=1000.0),
            marks=pytest.mark.slow,
        ),
        pytest.param(dict(field_frequency=15.0, fluid_viscosity=1e-2), marks=pytest.mark.slow),
    ],
)
def test_equals_an_independent_event_driven_solution(setting):
    design, setting = tumbler.published_design(), tumbler.published_setting(**setting)
    found = tumbler.respond(design, setting)
    np.testing.assert_allclose(float(found.speed), _expected(design, setting), rtol=1e-8)


@pytest.mark.slow
def test_gradient_is_that_of_the_independent_solution():
    """Differences of SciPy's motion, far above its tolerance, by both properties of the fluid; certified."""
    design = tumbler.published_design()
    setting = tumbler.published_setting(field_frequency=15.0, **OIL)
    names = ("fluid_viscosity", "fluid_density", "length")
    gradient_of = value_and_gradient(tumbler.DEVICE, names, "speed")
    _, gradient, certificate, _ = gradient_of(*as_arrays((design, setting)))
    assert verdict_word(certificate) == "certified"
    for name, value in OIL.items():
        ends = [
            _expected(design, dataclasses.replace(setting, **{name: value * (1 + h)}))
            for h in (1e-4, -1e-4)
        ]
        slope = (ends[0] - ends[1]) / (2e-4 * value)
        assert abs(slope) * value > 1e-4 * abs(float(gradient["length"])) * design.length
        assert float(gradient[name]) == pytest.approx(slope, rel=1e-5), name


@pytest.mark.slow
def test_without_friction_it_slides_at_its_terminal_velocity():
    """Weight along the slope over the drag, and its derivatives; `respond` calls what slides down a runaway."""
    setting = dict(friction=0.0, field=0.0, incline=0.2, fluid_viscosity=5e-2, fluid_density=1200.0)
    design, setting = as_arrays((tumbler.published_design(), tumbler.published_setting(**setting)))
    outline = outline_of(design)
    weight = weight_of(design, setting, outline, body(design, outline))
    force, _ = _drag(design, setting)
    expected = -float(weight * np.sin(0.2) / force[1])

    def speed(setting):
        return drift_of(design, setting, None, jnp.asarray(1e-10), 8, 96).speed

    value, slope = jax.value_and_grad(speed)(setting)
    assert word(tumbler.respond(design, setting, throw=False).result) == "runaway"
    assert float(value) == pytest.approx(expected, rel=1e-9)
    assert float(slope.fluid_viscosity) == pytest.approx(-expected / 5e-2, rel=1e-8)
    lighter = -expected * 0.8e-3 * 0.4e-3 * 0.1e-3 * 9.81 / float(weight)
    assert float(slope.fluid_density) == pytest.approx(lighter, rel=1e-8)


def test_all_forces_ten_times_larger_change_nothing():
    design = tumbler.published_design()
    setting = tumbler.published_setting(field_frequency=10.0, **OIL)
    heavier = dataclasses.replace(
        design, mass=10 * design.mass, magnetic_volume=10 * design.magnetic_volume
    )
    names = ("adhesion", "electrostatic_force", "fluid_viscosity", "fluid_density")
    stronger = dataclasses.replace(setting, **{n: 10 * getattr(setting, n) for n in names})
    both = [float(tumbler.respond(d, s).speed) for d, s in ((design, setting), (heavier, stronger))]
    assert both[0] == pytest.approx(both[1], rel=1e-9)


@pytest.mark.slow
def test_the_implicit_method_tends_to_the_same_motion():
    design = tumbler.published_design()
    setting = tumbler.published_setting(field_frequency=10.0, **OIL)
    event = float(tumbler.respond(design, setting).speed)
    off = [
        abs(float(tumbler.respond(design, setting, method="implicit", steps=n).speed) / event - 1)
        for n in (2000, 16000)
    ]
    assert off[1] < 1e-3
    assert off[1] < off[0] / 2


def test_a_robot_that_floats_is_refused():
    with pytest.raises(ValueError, match="or it floats"):
        tumbler.respond(tumbler.published_design(), tumbler.published_setting(fluid_density=6000.0))
    setting = as_arrays(tumbler.published_setting(fluid_density=1000.0))

    def status(density):
        return tumbler.respond(
            tumbler.published_design(),
            dataclasses.replace(setting, fluid_density=density),
            throw=False,
        ).result

    assert word(jax.jit(status)(6000.0)) == "out_of_range"
