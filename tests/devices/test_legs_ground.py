"""Ground that yields under the leg: SciPy's integration, closed forms, the rigid limit, energy."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from diffmicro.certificate import reason_text, value_and_gradient, verdict_word
from diffmicro.devices import legs
from diffmicro.devices.legs.measured import carried
from diffmicro.mechanics.restitution import rebound
from diffmicro.parameters import as_arrays
from diffmicro.results import word
from diffmicro.testing import Case, check_device
from tests.oracles import legs as oracle

TWO = dict(
    frequency=(90.0, 400.0), damping=(0.04, 0.06), gain=(-2e-7, -1e-7), mobility=(5e4, 3e5),
    film=2e-20, electrostatic=1e-18,
)  # fmt: skip
"""A leg of two modes."""

BOUNCING: dict[str, Any] = dict(
    voltage=30.0, gap=4e-6, law="compliant", ground_stiffness=3e3, ground_damping=0.2
)
"""Three contacts until this share of the first period."""
SHARE = 0.75
STEPS = 600


def numbers_of(design: legs.Design) -> dict:
    """What the oracle wants to know of a leg."""
    return {name: np.asarray(getattr(design, name)) for name in (
        "frequency", "damping", "gain", "mobility", "film", "film_offset", "electrostatic",
        "electrostatic_offset",
    )}  # fmt: skip


def known(design: legs.Design, setting: dict, **changes):
    """What the oracle says after `SHARE` of a period."""
    end = SHARE / setting["drive_frequency"]
    return oracle.pressed(numbers_of(design), setting | changes, end)


def relative(found, expected) -> float:
    """Largest error over the largest displacement, and over the largest speed."""
    half = len(expected) // 2
    scale = np.repeat([np.abs(expected[:half]).max(), np.abs(expected[half:]).max()], half)
    return float(np.max(np.abs(np.asarray(found) - expected) / scale))


def restoring(e: float) -> float:
    """The damping ratio whose rebound is e."""
    found: Any = brentq(lambda zeta: float(rebound(zeta)) - e, 0.0, 0.99)
    return found


@pytest.mark.parametrize("zeta", [0.0, 0.2474, 0.9, 1.0, 1.0 + 2e-6, 3.0])
def test_a_free_mass_rebounds_by_the_closed_form(zeta):
    def rates(_, y):
        return [y[1], -2 * zeta * y[1] - y[0]]

    def lifts(_, y):
        return -y[0] - 2 * zeta * y[1]

    lifts.terminal, lifts.direction = True, -1
    found = solve_ivp(rates, (0, 20), [0.0, -1.0], "DOP853", events=lifts, rtol=1e-12, atol=1e-14)
    start = 1e-9 if zeta == 0 else 0.0  # without damping the force begins at zero, an event too
    if start:
        found = solve_ivp(
            rates, (0, 20), [-start, -1.0], "DOP853", events=lifts, rtol=1e-12, atol=1e-14
        )
    assert float(rebound(zeta)) == pytest.approx(found.y[1, -1], rel=1e-8)


@pytest.fixture(scope="module")
def leg():
    return as_arrays(legs.published_design(**TWO))


@pytest.fixture(scope="module")
def onward(leg):
    """State after `SHARE` and its derivatives by gap, stiffness and damping of the ground."""
    setting = legs.published_setting(**BOUNCING)

    def state(x, steps=STEPS):
        changed = eqx.tree_at(
            lambda s: (s.gap, s.ground_stiffness, s.ground_damping), as_arrays(setting), tuple(x)
        )
        return carried(leg, changed, jnp.zeros(4), jnp.asarray(0), round(SHARE * steps), steps)

    return jax.jit(lambda x: (state(x), jax.jacfwd(state)(x)))


NAMES = ("gap", "ground_stiffness", "ground_damping")


def test_state_and_derivatives_after_three_contacts_are_the_oracles(leg, onward):
    given = BOUNCING | dict(drive_frequency=92.3)
    state, slopes = onward(jnp.array([given[name] for name in NAMES]))
    expected = known(leg, given)
    assert expected.touches == 3
    vector = np.concatenate([expected.displacement, expected.speed])
    assert relative(state, vector) < 1e-6
    for column, name in enumerate(NAMES):
        h = 1e-3 * given[name]
        ends = [known(leg, given, **{name: given[name] + k * h}) for k in (-2, -1, 1, 2)]
        ends = [np.concatenate([end.displacement, end.speed]) for end in ends]
        slope = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
        assert relative(slopes[:, column], slope) < 1e-5, name


def test_stiff_ground_is_the_law_of_restitution(leg, onward):
    """The difference falls with the contact's length, as one over the root of the stiffness."""
    zeta = restoring(0.51)
    rigid = legs.published_setting(**(BOUNCING | dict(law="full")))
    expected = np.asarray(
        jax.jit(
            lambda: carried(leg, rigid, jnp.zeros(4), jnp.asarray(0), round(SHARE * STEPS), STEPS)
        )()
    )
    apart = [
        relative(onward(jnp.array([BOUNCING["gap"], k, zeta]))[0], expected)
        for k in (1e5, 1e6, 1e7)
    ]
    assert apart[0] < 0.3
    for soft, stiff in zip(apart[:-1], apart[1:], strict=True):
        assert stiff == pytest.approx(soft / 10**0.5, rel=0.1)


def energies(damping: float) -> tuple[np.ndarray, float]:
    """Of modes and ground along a motion without drive, damping of modes and small forces; touch-downs."""
    bare = legs.published_design(**(TWO | dict(damping=(0.0, 0.0), film=0.0, electrostatic=0.0)))
    quiet = dict(voltage=0.0, gap=4e-6, drive_frequency=20.0, ground_damping=damping)
    start = legs.MotionState(jnp.array([2e-5, 4e-6]), jnp.array([0.0, -2e-2]))
    path = legs.simulate(
        bare, legs.published_setting(**(BOUNCING | quiet)), start=start, advances=20000
    )
    x, v, h = (np.asarray(y) for y in (path.displacement, path.modal_speed, path.height))
    w, mobility = 2 * np.pi * np.array(TWO["frequency"]), np.array(TWO["mobility"])
    modes = np.sum((v**2 + (w * x) ** 2) / (2 * mobility), axis=1)
    ground = 0.5 * BOUNCING["ground_stiffness"] * np.minimum(h, 0) ** 2
    return modes + ground, float(np.asarray(path.impacts)[-1])


def test_energy_never_grows_and_is_kept_where_nothing_damps():
    total, touches = energies(0.2)
    assert touches > 4 and total[-1] < 0.8 * total[0]
    assert np.max(np.diff(total)) < 1e-8 * total[0]
    total, touches = energies(0.0)
    assert touches > 4
    np.testing.assert_allclose(total, total[0], rtol=1e-7)


COMPLIANT = dict(law="compliant")


@pytest.mark.slow
def test_the_contract_holds_on_ground_that_yields():
    """Certified, single precision, layers, lanes: what `tests/test_contract.py` asks of every device."""
    check_device("legs", Case("mean_height", ("gap", "ground_damping"), setting=COMPLIANT))


@pytest.fixture(scope="module")
def slope_errors():
    """The published legs; differences of fourth order of the oracle's own motion.

    The oracle's areas are good to 1e-10. The ground moves the height by 5e-4 of its own relative change, so its
    parameters take a hundredth to be seen to 1e-4, where the gap takes a thousandth.
    """
    gradient_of = jax.jit(value_and_gradient(legs.respond, wrt=NAMES, of="mean_height"))
    setting = as_arrays(legs.published_setting(**COMPLIANT))
    design = as_arrays(legs.published_design())
    value, gradient, certificate, response = gradient_of(design, setting)
    assert word(response.result) == "ok" and int(response.period_multiple) == 1
    assert verdict_word(certificate) == "certified", reason_text(certificate)
    start = (np.asarray(response.state.displacement), np.asarray(response.state.speed))
    given = {name: float(getattr(setting, name)) for name in (
        *NAMES, "voltage", "drive_frequency",
    )}  # fmt: skip
    path, slope = oracle.pressed_orbit(numbers_of(design), given, start)
    rate = given["drive_frequency"]
    assert float(value) == pytest.approx(path.area * rate, rel=1e-7)
    assert float(response.impact_loss) == pytest.approx(path.work * rate, rel=1e-5)
    errors = {}
    for name in NAMES:
        step = 1e-3 if name == "gap" else 1e-2
        ends = [
            oracle.pressed_orbit(
                numbers_of(design), given | {name: given[name] * (1 + k * step)}, start, slope
            )[0].area
            * rate
            for k in (-2, -1, 1, 2)
        ]
        known = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * step * given[name])
        scale = max(abs(known), 1e-3 * float(value) / given[name])
        errors[name] = abs(float(gradient[name]) - known) / scale
    return errors


@pytest.mark.slow
def test_a_certified_gradient_is_that_of_the_oracles_periodic_motion(slope_errors):
    assert slope_errors["gap"] < 1e-4 and max(slope_errors.values()) < 1e-2, slope_errors


@pytest.mark.slow
@pytest.mark.xfail(
    reason="1.2e-4 and 3.6e-4; which of the two is off is not known (KNOWN_GAPS.md)", strict=True
)
def test_slopes_by_the_ground_are_the_oracles_to_1e_4(slope_errors):
    assert max(slope_errors.values()) < 1e-4, slope_errors


@pytest.mark.slow
def test_no_drive_no_motion():
    response = legs.respond(
        legs.published_design(), legs.published_setting(voltage=0.0, **COMPLIANT), throw=False
    )
    assert word(response.result) == "stalled"
    assert float(response.mean_height) == pytest.approx(10e-6, rel=1e-12)
    assert float(response.amplitude) == 0.0 and float(response.penetration) == 0.0
