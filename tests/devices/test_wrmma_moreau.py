"""The WRMMA by Moreau's stepping: reference points, order, contact, drive, batches, precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.devices import wrmma
from diffmicro.devices.wrmma.motion import State
from diffmicro.devices.wrmma.scheme import contact, drive_at, grid, one_step, periods_after
from diffmicro.devices.wrmma.sweep import paper_sweep
from diffmicro.dynamics.kernel import kernel
from diffmicro.nonsmooth.closed_form import normal_and_friction
from diffmicro.results import word, words

CLAMPED = dict(field=0.0041, load_factor=13.0, clamp_force=1.0, frequency_ratio=1.47)
# Velocities [m/s] of an independent program's exact Moreau scheme, 1000 steps: the points
# "orbit 1, 2, 3, 9 moreau" of the project's reference set.
REFERENCE = [
    (1.23, dict(field=0.0041, load_factor=13.0, frequency_ratio=1.47), 0.032544686009729415),
    (1.23, CLAMPED | dict(clamp_phase=0.9), -0.008312713075930999),
    (0.77, dict(field=0.0026, load_factor=21.0, frequency_ratio=1.09), 0.00031470065043656827),
    (
        1.14,
        dict(field=0.0049, load_factor=9.0, frequency_ratio=0.71, clamp_force=1.0, clamp_phase=2.2),
        -0.008091776549771348,
    ),
]

# Velocities [m/s] of event-driven programs, from the same set.
EVENT_DRIVEN = [
    (1.23, REFERENCE[0][1], 0.03284204662501875),
    (1.23, REFERENCE[1][1], -0.00824885923949574),
    (0.77, REFERENCE[2][1], 0.0003155674056007716),
    (1.14, REFERENCE[3][1], -0.008090648827554048),
    (1.5, dict(load_factor=32.0), 0.004717411184167364),
    (1.5, dict(load_factor=48.0), 0.0066233319213808385),
    (
        1.5,
        dict(frequency_ratio=1.58, clamp_force=1.0, clamp_phase=1.5707963267948966),
        0.011217161518792778,
    ),
    (1.5, dict(load_factor=32.0, frequency_ratio=1.58), 0.03445560945814741),
]

STEP_COUNTS = (250, 500, 1000, 2000)


def moreau(mass_ratio, setting, **more):
    design = wrmma.published_design(mass_ratio=mass_ratio)
    return wrmma.respond(design, wrmma.published_setting(**setting), method="moreau", **more)


@pytest.mark.parametrize("mass_ratio, setting, velocity", REFERENCE)
def test_reference_points(mass_ratio, setting, velocity):
    response = moreau(mass_ratio, setting)
    assert word(response.result) == "ok"
    assert float(response.velocity) == pytest.approx(velocity, rel=1e-5)


def test_first_order_toward_the_event_driven_motion():
    """The error falls as the step does. One motion's error jumps about with the step, as its
    events fall here or there between two instants; the mean over these motions does less."""
    design = wrmma.published_design

    def lumped(point):
        mass_ratio, setting, _ = point
        whole = wrmma.published_setting(**setting)
        unit = design().rest_gap / wrmma.drive_period(design(), whole)
        return wrmma.lump(design(mass_ratio=mass_ratio), whole), unit

    motions, units = zip(*map(lumped, EVENT_DRIVEN), strict=True)
    batch = jax.tree.map(lambda *x: jnp.stack(x), *motions)
    exact = np.array([velocity for *_, velocity in EVENT_DRIVEN])
    errors = []
    for steps in STEP_COUNTS:
        last = jax.jit(jax.vmap(lambda m, n=steps: _last_period(m, n)))(batch)
        velocity = np.asarray(last.position) * np.array(units)
        errors.append(np.mean(np.abs(velocity / exact - 1)))
    order, _ = np.polyfit(np.log(STEP_COUNTS), np.log(errors), 1)
    assert -1.3 < order < -0.7, errors
    assert errors[2] < 1e-2


def test_observed_quantities():
    """Against the events that an event-driven program finds on the same orbits."""
    impacting = moreau(1.23, REFERENCE[0][1])
    assert float(impacting.impacts) == 1 and float(impacting.stick_fraction) == 0
    assert abs(float(impacting.min_gap)) < 0.01 * 20e-6
    clamped = moreau(1.14, REFERENCE[3][1])
    assert float(clamped.impacts) == 0
    # release at 0.158, stop by the clamp at 0.650 of the period
    assert float(clamped.stick_fraction) == pytest.approx(1 - (0.650 - 0.158), abs=3e-3)
    assert 0 < float(clamped.min_gap) < 20e-6
    assert float(clamped.multiplier) == pytest.approx(0.9062, rel=5e-3)
    assert 0 < float(clamped.residual) < 1e-9


def test_field_with_a_rise():
    """A switch at t = 0 and at t = 1/2 takes a tenth of the period, from the nominal instant on."""
    motion = wrmma.lump(
        wrmma.published_design(), wrmma.published_setting(field_rise=0.1, field_offset=0.25)
    )
    times = jnp.array([0.0, 0.025, 0.05, 0.1, 0.3, 0.5, 0.525, 0.6, 0.9])
    drive = jax.vmap(lambda t: drive_at(motion, grid(motion, 1000), t))(times)
    expected = np.array([-1, -0.5, 0, 1, 1, 1, 0.5, -1, -1]) + 0.25
    np.testing.assert_allclose(drive.field, expected, atol=1e-12)


def test_sine_drive():
    """The first harmonic alone: eq. 17."""
    design, setting = wrmma.published_design(), wrmma.Setting(waveform="sine")
    motion = wrmma.lump(design, setting)
    zero = jnp.zeros_like(motion.bound)
    rest = State(zero + 1, zero, zero, zero)
    _, impulses = one_step(motion, grid(motion, 1000), rest, jnp.array(249, jnp.int32))
    # The body sticks, so friction answers the pull: (4/pi sin + 1)^2 of the square wave's quarter.
    quarter = (4 / np.pi * np.sin(2 * np.pi * 0.2495) + 1) ** 2
    pull = quarter * float(wrmma.rest_force(design, setting))
    body, _ = wrmma.masses(design)
    unit = design.rest_gap / wrmma.drive_period(design, setting) ** 2
    assert -float(impulses.friction) * 1000 == pytest.approx(
        min(pull / float(body) / float(unit), float(motion.bound)), rel=1e-9
    )


def test_contact_is_the_complementarity_solution(rng):
    """Eliminating by hand gives what `normal_and_friction` gives, on any batch."""
    n = 4000
    speed, approach = rng.normal(size=(2, n))
    bound, closed = rng.uniform(0, 1, n), rng.uniform(size=n) < 0.5
    mass_ratio = rng.uniform(0.2, 5, n)
    share = mass_ratio / (1 + mass_ratio)
    motion = wrmma.lump(wrmma.published_design(), wrmma.published_setting())
    solve = jax.vmap(
        lambda a, v, w, c, b: contact(_with(motion, mass_ratio=a), v, w, c, b, kernel()),
    )
    normal, friction = solve(mass_ratio, speed, approach, closed, bound)
    expected = normal_and_friction(((1.0, -1.0), (-share, 1.0)), (approach, speed), closed, bound)
    np.testing.assert_allclose(normal, expected[0], atol=1e-12)
    np.testing.assert_allclose(friction, expected[1], atol=1e-12)
    assert np.count_nonzero(np.asarray(normal)) > n / 10


@pytest.mark.parametrize("phase", [-2.0, -0.4, 0.0, 0.3, 1.7, 3.5, 9.0])
def test_clamp_and_field_at_the_midpoints(phase):
    """On while sin(2 pi t + phase) > 0, and the field while sin(2 pi t) > 0."""
    motion = wrmma.lump(
        wrmma.published_design(), wrmma.published_setting(clamp_force=1.0, clamp_phase=phase)
    )
    times = (jnp.arange(1000) + 0.5) / 1000
    drive = jax.vmap(lambda t: drive_at(motion, grid(motion, 1000), t))(times)
    on = np.sin(2 * np.pi * np.asarray(times) + phase) > 0
    expected = float(motion.bound) + np.where(on, float(motion.clamp), 0.0)
    np.testing.assert_allclose(np.asarray(drive.bound) * 1000, expected, rtol=1e-12)
    np.testing.assert_array_equal(drive.field, np.where(np.asarray(times) < 0.5, 2.0, 0.0))


def test_stuck_body_stays_where_it_is():
    response = moreau(1.5, dict(field=1e-4, load_factor=60.0))
    assert word(response.result) == "stalled"
    assert float(response.velocity) == 0
    assert float(response.stick_fraction) == pytest.approx(1, rel=1e-12)


def test_batch_equals_single_and_judges_each_lane():
    """Regular, clamped and chaotic motions side by side."""
    loads = jnp.array([30.0, 30.0, 12.0])
    ratios = jnp.array([1.58, 1.0, 1.3])
    clamps = jnp.array([0.0, 1.0, 1.0])

    def one(load, ratio, clamp):
        setting = wrmma.published_setting(
            field=0.0046,
            load_factor=load,
            frequency_ratio=ratio,
            clamp_force=clamp,
            clamp_phase=-0.7853981633974483,
        )
        design = wrmma.published_design(mass_ratio=1.4)
        return wrmma.respond(design, setting, method="moreau", throw=False)

    batch = jax.vmap(one)(loads, ratios, clamps)
    assert list(words(batch.result)) == ["ok", "ok", "erratic"]
    assert float(batch.velocity_spread[2]) > 0
    for i in range(2):
        alone = one(loads[i], ratios[i], clamps[i])
        assert float(batch.velocity[i]) == pytest.approx(float(alone.velocity), rel=1e-9)


def test_single_precision():
    """The same velocity to 2e-4, and single precision throughout."""
    setting = wrmma.published_setting(**REFERENCE[1][1])
    motion = wrmma.lump(wrmma.published_design(mass_ratio=1.23), setting)
    low = jax.tree.map(lambda x: x.astype(jnp.float32), motion)
    ends = [jax.jit(_last_period)(m) for m in (motion, low)]
    assert ends[1].position.dtype == jnp.float32
    assert float(ends[1].position) == pytest.approx(float(ends[0].position), rel=2e-4)


def test_derivative_is_that_of_the_discretization():
    """It matches differences of the stepped map, not the event method's derivative."""
    setting = wrmma.published_setting(load_factor=32.0)

    def velocity(a):
        design = wrmma.published_design(mass_ratio=a)
        return wrmma.respond(design, setting, method="moreau").velocity

    slope = float(jax.grad(velocity)(1.5))
    difference = float((velocity(1.5 + 1e-7) - velocity(1.5 - 1e-7)) / 2e-7)
    event = 0.002404901252005705  # event-driven program, reference point "gradient G1"
    assert slope == pytest.approx(difference, rel=1e-3)
    assert slope / event - 1 == pytest.approx(-0.45, abs=0.02)


def test_sweep_carries_the_state_and_keeps_the_order():
    ratios = np.array([1.70, 1.60, 1.65])
    design, setting = wrmma.published_design(), wrmma.published_setting()
    up = paper_sweep(design, setting, ratios, "up", steps=400)
    shuffled = paper_sweep(design, setting, ratios[[1, 2, 0]], "up", steps=400)
    np.testing.assert_array_equal(np.asarray(up.velocity)[[1, 2, 0]], shuffled.velocity)
    down = paper_sweep(design, setting, ratios, "down", steps=400)
    cold = paper_sweep(design, setting, ratios, "up", steps=400, carry=False)
    # From below the impacts last at 1.70, from above and from rest they do not start.
    assert float(up.velocity[0]) > 0.05
    assert abs(float(down.velocity[0])) < 1e-3 and abs(float(cold.velocity[0])) < 1e-3
    assert int(np.max(np.asarray(up.periods))) <= 300


def test_sweep_names_what_is_wrong():
    design, setting = wrmma.published_design(), wrmma.published_setting()
    with pytest.raises(ValueError, match="sideways"):
        paper_sweep(design, setting, np.ones(2), "sideways")  # pyright: ignore
    with pytest.raises(ValueError, match="axes"):
        paper_sweep(design, setting, np.ones((2, 2)))
    with pytest.raises(ValueError, match="above 0"):
        paper_sweep(design, setting, np.array([1.0, -1.0]))


def _last_period(motion, steps=1000):
    zero = jnp.zeros_like(motion.bound)
    state = periods_after(motion, State(zero + 1, zero, zero, zero), steps, 400)
    return periods_after(motion, state._replace(position=zero), steps)


def _with(motion, **fields):
    return type(motion)(**{**vars(motion), **fields})


@pytest.mark.parametrize("ignored", [dict(multiple=2), dict(near=True)])
def test_what_the_scheme_would_ignore_is_refused(ignored):
    with pytest.raises(ValueError, match="multiple and near belong to the event method"):
        wrmma.respond(wrmma.Design(), wrmma.Setting(), method="moreau", **ignored)
