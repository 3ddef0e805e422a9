"""The stick-slip drive: reference points, identities, history, statuses, bad input."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.devices import stickslip
from diffmicro.parameters import as_arrays
from diffmicro.reference import cattaneo
from diffmicro.results import word, words

# Exact contact memory and springs by separate programs: force [N] at 2 ms, tolerance.
FORCES = [
    (dict(radius=1e-3), dict(preload=0.1, amplitude=60e-9), 0.05219471593280599),
    (dict(radius=1e-3), dict(preload=1.0, amplitude=150e-9), 0.32097977998369304),
    (dict(radius=0.25e-3), dict(preload=0.1, amplitude=90e-9), 0.05207474487406501),
    # the same springs by Verlet's method, brought to the periodic state by brute force, finest of five steps
    (dict(radius=0.5e-3, damping_ratio=0.03), dict(preload=0.25, amplitude=80e-9), 0.0987182),
]


@eqx.filter_jit
def batch(design, setting):
    """Value and forward derivatives by radius, preload, friction and amplitude of lanes."""

    def one(design, setting):
        def force(x):
            put = eqx.tree_at(lambda d: d.radius, design, x[0])
            drive = eqx.tree_at(
                lambda s: (s.preload, s.friction, s.amplitude), setting, tuple(x[1:])
            )
            response = stickslip.respond(put, drive, throw=False)
            return response.force, response

        x = jnp.stack([design.radius, setting.preload, setting.friction, setting.amplitude])
        slopes, response = jax.jacfwd(force, has_aux=True)(x)
        return response, slopes * x / response.force

    return jax.vmap(one)(design, setting)


def lanes(cases):
    """Pairs of overrides as one batch of 8 lanes, so that everything is compiled once."""
    padded = [*cases, *[cases[-1]] * (8 - len(cases))]
    pairs = [
        as_arrays((stickslip.published_design(**d), stickslip.published_setting(**s)))
        for d, s in padded
    ]
    return batch(*jax.tree.map(lambda *x: jnp.stack(x), *pairs))


@pytest.fixture(scope="module")
def points():
    return lanes([(d, s | dict(period=2e-3)) for d, s, _ in FORCES])


def test_forces_agree_with_independent_programs(points):
    response, _ = points
    forces = np.asarray(response.force)[: len(FORCES)]
    np.testing.assert_allclose(forces, [force for *_, force in FORCES], rtol=3e-4)
    assert set(words(response.result)) == {"ok"}


def test_presliding_and_contact_radius(points):
    response, _ = points
    np.testing.assert_allclose(
        response.presliding[0], [1.8443297095435825e-08, 1.1618549120002283e-08], rtol=1e-9
    )
    np.testing.assert_allclose(
        response.contact_radius[0], [7.115381837494968e-06, 5.647482306997466e-06], rtol=1e-9
    )
    np.testing.assert_allclose(response.normal_force[0], [0.1 / 2**0.5, 0.1 / 8**0.5], rtol=1e-14)
    pressure = 3 * response.normal_force[0, 0] / (2 * jnp.pi * response.contact_radius[0, 0] ** 2)
    np.testing.assert_allclose(response.peak_pressure[0], pressure, rtol=1e-9)


@pytest.fixture(scope="module")
def damped():
    """A long period and damping: (stroke, friction) in the same ratio, a low stroke, a dead one, a stiff one."""
    case = dict(period=0.01, preload=0.5)
    strokes = [
        (60e-9, 0.3),
        (90e-9, 0.45),
        (107.857e-9, 0.3),
        (20e-9, 0.3),
        (1e-6, 0.3),
        (60e-9, 0.3),
        (-60e-9, 0.3),
    ]
    cases = [(dict(damping_ratio=0.03), case | dict(amplitude=a, friction=m)) for a, m in strokes]
    cases[5] = (dict(damping_ratio=0.0), cases[5][1])
    return lanes(cases)


@pytest.mark.slow
def test_force_scales_with_stroke_and_friction(damped):
    """F(c A, c mu) = c F(A, mu), so that dlnF/dlnA + dlnF/dln mu = 1."""
    response, slopes = damped
    np.testing.assert_allclose(response.force[1], 1.5 * response.force[0], rtol=1e-9)
    live = np.array([0, 1, 2, 4, 5])
    np.testing.assert_allclose(slopes[live, 2] + slopes[live, 3], 1.0, rtol=1e-9)


def test_gradient_of_a_low_stroke(damped):
    """Elasticities of an independent program, inside the band of stationary forces (A = 1.1 u_1)."""
    response, slopes = damped
    assert 1.1 < float(60e-9 / response.presliding[0, 0]) < 1.2
    radius, preload, friction, amplitude = (
        71.38382549592288,
        -0.10476502652709274,
        -0.41255308394050344,
        3564614.0631298563,
    )
    expected = (
        np.array([radius * 1e-3, preload * 0.5, friction * 0.3, amplitude * 60e-9])
        / 0.09011086657428824
    )
    np.testing.assert_allclose(slopes[0], expected, rtol=1e-2)


def test_damped_force_follows_radius_through_presliding_alone(damped):
    """dlnF/dlnR = dlnF/dlnA / 3 within 1 % with damping and a long period; undamped it follows the phase."""
    _, slopes = damped
    np.testing.assert_allclose(slopes[2, 0], slopes[2, 3] / 3, rtol=1e-2)
    assert abs(slopes[5, 0] / (slopes[5, 3] / 3) - 1) > 0.05


def test_large_strokes_saturate_at_all_friction(damped):
    response, _ = damped
    limit = 2 * 0.3 * 2**0.5 * 0.5
    assert 0.95 * limit < response.force[4] < limit


def test_dead_zone_is_a_status_and_bad_lanes_are_alone(damped):
    response, slopes = damped
    status = words(response.result)
    assert list(status[:7]) == ["ok", "ok", "ok", "stalled", "ok", "ok", "out_of_range"]
    assert abs(response.net_step[3]) < 1e-20
    assert np.isnan(response.force[6]) and np.isfinite(slopes[0]).all()
    assert np.isnan(slopes[3]).all()


def test_objection_names_dead_zone_and_vibration(damped):
    from diffmicro.reasons import REASONS

    response, _ = damped

    def reason(lane):
        one = jax.tree.map(lambda x: x[lane], response)
        return REASONS[
            int(
                stickslip.objection(
                    one, stickslip.Design(), stickslip.Setting(), "force", "periodic"
                )
            )
        ].name

    assert (reason(3), reason(5), reason(0)) == ("dead_zone", "vibration", "agree")


@pytest.mark.slow
def test_from_rest_and_not_elsewhere_in_the_band():
    """Below 1.6 u_1 a band of forces is stationary; simulation period by period settles at the one found.

    A solver that skips past it finds steps that vanish there too, and would report a larger force.
    """
    from diffmicro.devices.stickslip.lumped import lump, motion, statics

    design, setting = as_arrays(
        (
            stickslip.published_design(damping_ratio=0.05),
            stickslip.published_setting(amplitude=60e-9, period=2e-3),
        )
    )
    contacts = statics(design, setting)
    lumped = lump(design, setting, contacts)
    system = motion(lumped, setting, 500)

    @jax.jit
    def on(place, slope):
        def period(at, _):
            state, place = at
            state, seen = system.period(state, place)
            return (state, place + slope * seen.step), (seen.step, seen.mean)

        (_, place), (steps, means) = jax.lax.scan(period, (system.rest(), place), None, length=1500)
        return place, steps[-1], means[-1]

    place, step, mean = on(jnp.asarray(0.0), jnp.asarray(1.0))
    assert abs(step) < 1e-4
    force = design.sensor_stiffness * contacts.presliding[0] * (place + mean)
    found = stickslip.respond(design, setting, steps=500)
    np.testing.assert_allclose(found.force, force, rtol=2e-3)
    beyond, elsewhere, _ = on(1.05 * place, jnp.asarray(1.0))
    assert abs(elsewhere) < 1e-6 and beyond > 1.02 * place


@pytest.mark.parametrize(
    ("design", "setting", "message"),
    [
        (dict(tip_radius=50e-6), {}, "tip_radius = 5e-05 m is not allowed"),
        ({}, dict(back_step=0.02), "shorter than period"),
        ({}, dict(springs=0), "springs = 0"),
        ({}, dict(preload=-0.5), "preload = -0.5 N"),
        ({}, dict(amplitude=0.1), "in meters: 100 nm is 100e-9"),
        ({}, dict(runner_weight=2.0), "upper contacts open"),
        ({}, dict(dynamic_friction=0.4), "at most friction"),
        ({}, dict(law="masing", dynamic_friction=0.2), "one friction coefficient"),
        ({}, dict(waveform="samples"), "samples goes with waveform"),
        ({}, dict(corner_time=5e-6), "at most back_step"),
    ],
)
def test_bad_input_is_named(design, setting, message):
    with pytest.raises(ValueError, match=message):
        stickslip.respond(
            stickslip.published_design(**design), stickslip.published_setting(**setting)
        )


def test_unknown_request():
    with pytest.raises(ValueError, match="zero_amplitude"):
        stickslip.respond(stickslip.Design(), stickslip.Setting(), extra=("speed",))


def test_full_memory_is_a_status():
    response = stickslip.respond(
        stickslip.Design(),
        stickslip.Setting(law="masing", memory=4, period=2e-3),
        steps=300,
        throw=False,
    )
    assert word(response.result) == "memory_limit" and np.isnan(response.force)


def test_analytic_force_and_zero_amplitude():
    """Eq. 3.26's elasticities: -1/3 in radius, 1 in friction, 2/3 in preload; limits of eq. 3.25."""
    design, setting = as_arrays((stickslip.Design(), stickslip.Setting()))
    from diffmicro.devices.stickslip.lumped import statics

    def log_zero(x):
        radius, friction, preload = jnp.exp(x)
        put = eqx.tree_at(lambda d: d.radius, design, radius)
        drive = eqx.tree_at(lambda s: (s.friction, s.preload), setting, (friction, preload))
        return jnp.log(cattaneo.zero_amplitude(*statics(put, drive).presliding))

    slopes = jax.jit(jax.grad(log_zero))(jnp.log(jnp.array([1e-3, 0.3, 0.5])))
    np.testing.assert_allclose(slopes, [-1 / 3, 1, 2 / 3], rtol=1e-9)
    force = cattaneo.three_phase_force(jnp.array([0.5, 1.0, 1e6]), 1.0, 2.0)
    np.testing.assert_allclose(force, [0.0, 0.0, 2.0], atol=1e-5)
    upper, lower = cattaneo.group_stiffness(1.0)
    np.testing.assert_allclose(2 * upper + 4 * lower, 1.0, rtol=1e-14)
    np.testing.assert_allclose(upper / lower, 2 ** (1 / 3), rtol=1e-14)
