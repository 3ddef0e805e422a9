"""The gripper: reference points of all models, identities, statuses, bad input."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from diffmicro.devices import gripper
from diffmicro.reasons import REASONS
from diffmicro.results import NoResult, word
from tests.oracles import gripper as oracle

CLOSING = {"linear": 63.95152934588850, "partial": 77.04, "exact": 69.86389863974942}
NYLON = {"linear": 2.456, "partial": 2.958, "exact": 2.683}
GRIP = {"linear": 31.8, "partial": 28.7, "consistent": 20.1, "exact": 19.13}

# Shooting, checked against a Ritz method: tip x, tip y, largest rotation under 50 uN.
AT_50_UN = {
    "linear": (1.042119961089012e-4, 3.3487910652106267e-3, 0.4010074090284255),
    "partial": (1.491973112000613e-4, 3.341442342179183e-3, 0.3510053130988484),
    "consistent": (1.444688216585579e-4, 3.3575055783578176e-3, 0.37593670549612235),
    "exact": (1.2679255749155295e-4, 3.348833806169452e-3, 0.38000388673317276),
}
OTHER_DESIGN = dict(
    beam_radius=np.array([0.15e-3, 0.22e-3, 0.18e-3, 0.25e-3]),
    beam_angle=np.deg2rad([280.0, 310.0, 340.0, 230.0]),
    young=160e9,
    section_width=20e-6,
    section_height=4e-6,
)
OTHER_WRENCH = np.array([[12e-6, -25e-6, 3e-9], [-6e-6, 9e-6, -4e-9], [0, 0, 0]])
AT_OTHER = {
    "linear": (5.01584045102261e-4, 3.1496704075448453e-3, 0.08746579167559018),
    "partial": (5.041828724203848e-4, 3.147360664750844e-3, 0.09184433717406003),
    "consistent": (5.072045881094296e-4, 3.147179184456427e-3, 0.09336433494414591),
    "exact": (5.054184852471457e-4, 3.15029842854438e-3, 0.08981655055333597),
}

SOME_SLOW = (
    "linear",
    *(pytest.param(model, marks=pytest.mark.slow) for model in ("partial", "consistent")),
    "exact",
)
"""All models; each costs a compilation."""


def respond(design=None, setting=None, **numerics):
    return gripper.respond(
        gripper.published_design(**(design or {})),
        gripper.published_setting(**(setting or {})),
        **numerics,
    )


def closed(model, design=None):
    return respond(design, dict(model=model), extra=("closing_force", "closing_stress"))


@pytest.mark.parametrize("model", SOME_SLOW)
def test_reference_points(model):
    for design, setting, expected in (
        (dict(), dict(wrench=np.array([[0, 50e-6, 0], [0, 0, 0], [0, 0, 0.0]])), AT_50_UN),
        (OTHER_DESIGN, dict(wrench=OTHER_WRENCH), AT_OTHER),
    ):
        found = respond(design, dict(model=model, **setting))
        near = 3e-9 if model == "exact" else 1e-12
        x, y, rotation = expected[model]
        assert float(found.tip_x) == pytest.approx(x, abs=near)
        assert float(found.tip_y) == pytest.approx(y, abs=near)
        assert float(found.max_rotation) == pytest.approx(rotation, abs=1e3 * near)
        assert word(found.result) == "ok"


@pytest.mark.parametrize(
    "model", [*(pytest.param(m, marks=pytest.mark.slow) for m in ("linear", "partial")), "exact"]
)
def test_closing_forces(model):
    silicon, nylon = closed(model), closed(model, dict(young=3.84e9))
    assert 1e6 * float(silicon.closing_force) == pytest.approx(CLOSING[model], rel=1e-4)
    assert 1e6 * float(nylon.closing_force) == pytest.approx(NYLON[model], abs=6e-4)


def test_another_design_against_numpy():
    """Oracle written from the elastica alone, solved by SciPy on all unknowns."""
    g = oracle.Gripper(
        radius=1e3 * np.asarray(OTHER_DESIGN["beam_radius"]),
        angle=np.asarray(OTHER_DESIGN["beam_angle"]),
        bending=np.full(4, 160e3 * 0.02 * 0.004**3 / 12 * 1e6),
    )
    found = closed("exact", OTHER_DESIGN)
    assert 1e6 * float(found.closing_force) == pytest.approx(
        oracle.exact_closing_force(g), rel=1e-7
    )


@pytest.mark.parametrize("model", [pytest.param("partial", marks=pytest.mark.slow), "exact"])
def test_section_and_modulus_are_scales(model):
    """F_close = C E b h^3 / 12, stress ~ E h, the tip's path depends on neither."""
    plain = closed(model)
    changed = dict(young=70e9, section_width=40e-6, section_height=4e-6)
    scaled = closed(model, changed)
    force = (70 / 100) * (40 / 25) * (4 / 5) ** 3
    assert float(scaled.closing_force / plain.closing_force) == pytest.approx(force, rel=1e-12)
    stress = (70 / 100) * (4 / 5)
    assert float(scaled.closing_stress / plain.closing_stress) == pytest.approx(stress, rel=1e-12)
    low = respond(None, dict(model=model, force=50e-6))
    high = respond(changed, dict(model=model, force=50e-6 * force))
    np.testing.assert_allclose(high.tip_y, low.tip_y, rtol=1e-13)


@pytest.mark.slow
def test_tangents_of_conservative_models_are_symmetric():
    for model, symmetric in {
        "linear": False,
        "partial": False,
        "consistent": True,
        "exact": True,
    }.items():
        stiffness = np.asarray(respond(None, dict(model=model, force=50e-6)).stiffness)
        off = np.abs(stiffness - stiffness.T).max() / np.abs(stiffness).max()
        assert (off < 1e-9) == symmetric


@pytest.mark.parametrize("model", SOME_SLOW)
def test_grip_force(model):
    setting = dict(model=model, force=1e-4, object_half_width=2e-4)
    found = respond(None, setting, extra=("grip_force",))
    assert 1e6 * float(found.grip_force) == pytest.approx(GRIP[model], rel=3e-3)
    assert float(found.tip_x) == pytest.approx(2e-4, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["exact", *(pytest.param(m, marks=pytest.mark.slow) for m in gripper.MODELS[:3])]
)
def test_reciprocity(model):
    """dP/dF at fixed width is -dy_2/dx_0 at fixed force where there is an energy, and only there."""

    def two(x):
        setting = gripper.published_setting(
            model=model, force=1e-4 * x[0], object_half_width=2e-4 * x[1]
        )
        found = gripper.respond(
            gripper.published_design(), setting, extra=("grip_force",), throw=False
        )
        return jnp.stack([found.grip_force / 1e-4, found.configuration[1] / 2e-4])

    slopes = jax.jit(jax.jacfwd(two))(jnp.ones(2))
    gained, given = float(slopes[0, 0]), -float(slopes[1, 1])
    if model in ("consistent", "exact"):
        assert gained == pytest.approx(given, rel=1e-8)
    else:
        assert gained > 1.5 * given


def test_object_out_of_reach():
    """Below the force that touches the object there is none between them, and no gradient either."""
    found = respond(None, dict(force=1e-5, object_half_width=2e-4), extra=("grip_force",))
    free = respond(None, dict(force=1e-5))
    assert float(found.grip_force) == 0.0
    np.testing.assert_allclose(found.configuration, free.configuration, rtol=1e-10)
    why = gripper.objection(
        found, gripper.published_design(), gripper.published_setting(), "grip_force", ""
    )
    assert REASONS[int(why)].name == "dead_zone"


def test_past_the_fold():
    with pytest.raises(NoResult, match="past_fold"):
        respond(None, dict(model="partial", force=2.7e-3))
    found = respond(None, dict(model="partial", force=2.7e-3), throw=False)
    assert word(found.result) == "past_fold"
    assert np.isnan(found.tip_x) and np.all(np.isnan(found.configuration))
    # Short of the fold the smallest singular value goes to zero, with the root of what is left.
    singular = [
        float(respond(None, dict(model="partial", force=force)).smallest_singular)
        for force in (2.6687e-3, 2.67676e-3)
    ]
    assert singular[0] == pytest.approx(2 * singular[1], rel=0.1)


@pytest.mark.slow
def test_a_path_that_nearly_folds_goes_on():
    """The stiffness nearly vanishes at -129.5 uN; long steps took that for a fold."""
    forces = np.array([-128e-6, -129e-6, -129.4e-6, -129.5e-6, -130e-6, -131e-6, -135e-6])
    found = [respond(None, dict(model="partial", force=force)) for force in forces]
    singular = [float(f.smallest_singular) for f in found]
    assert min(singular) == singular[3] > 5e-5 and singular[0] > 1e-3 < singular[-1]
    tips = [float(f.tip_x) for f in found]
    assert np.all(np.diff(tips) < 0)
    # It is one branch: the slope of the response leads from point to point, there and on.
    slope = jax.jit(jax.jacfwd(lambda f: gripper.respond(
        gripper.published_design(), gripper.published_setting(model="partial", force=f), throw=False
    ).tip_x))  # fmt: skip
    for force in (-129.4e-6, -129.5e-6, -130e-6):
        near = [
            respond(None, dict(model="partial", force=force * x)).tip_x for x in (1.00001, 0.99999)
        ]
        assert (near[0] - near[1]) / (2e-5 * force) == pytest.approx(float(slope(force)), rel=1e-4)


@pytest.mark.slow
def test_extensible_beam_is_a_little_softer():
    stiff = respond(None, dict(force=50e-6))
    soft = respond(None, dict(force=50e-6, beam="extensible"))
    assert 1e-5 < float(stiff.tip_x - soft.tip_x) / 3e-4 < 1e-3


@pytest.mark.slow
def test_section_per_flexure():
    """Four equal sections are one section, and the gradient of one is the sum of the four."""
    one = gripper.published_design()
    four = gripper.published_design(section_height=np.full(4, 5e-6))
    setting = gripper.published_setting(force=50e-6)
    slope = jax.jit(jax.grad(lambda d: gripper.respond(d, setting, throw=False).tip_x))
    assert float(slope(one).section_height) == pytest.approx(
        float(jnp.sum(slope(four).section_height)), rel=1e-9
    )


@pytest.mark.slow
def test_clearance_over_a_stroke_is_at_its_ends():
    design = gripper.published_design()
    setting = gripper.published_setting(force=69.86e-6)
    path = gripper.simulate(design, setting, points=11)
    from diffmicro.devices.gripper.lumped import clearances

    gaps = np.array([clearances(points) for points in path.arcs])
    assert gaps.min() == pytest.approx(float(gripper.respond(design, setting).clearance), rel=1e-9)
    assert float(respond().clearance) == pytest.approx(
        2 * 0.2e-3 * np.sin(np.deg2rad(15)), rel=1e-12
    )


@pytest.mark.slow
def test_simulated_path_is_the_responses():
    setting = gripper.published_setting(force=60e-6)
    path = gripper.simulate(gripper.published_design(), setting, points=4)
    last = gripper.respond(gripper.published_design(), setting)
    np.testing.assert_allclose(path.tip[-1], [last.tip_x, last.tip_y], rtol=1e-11)
    np.testing.assert_allclose(path.configuration[-1], last.configuration, rtol=1e-10)


@pytest.mark.slow
def test_natural_frequency_is_that_of_the_pencil():
    """Against NumPy's generalized eigenvalues; it goes as the square root of E."""
    found = respond(extra=("natural_frequency",))
    design = gripper.published_design()
    masses = np.array([1.2e-8, 1.2e-8, 1e-15] * 3)
    squares = np.linalg.eigvals(np.asarray(found.stiffness) / masses[:, None])
    expected = np.sqrt(squares.real.min()) / (2 * np.pi)
    assert float(found.natural_frequency) == pytest.approx(expected, rel=1e-6)
    stiffer = respond(dict(young=4 * design.young), extra=("natural_frequency",))
    assert float(stiffer.natural_frequency) == pytest.approx(2 * expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("setting", [dict(force=60e-6), dict(force=1e-4, object_half_width=2e-4)])
def test_natural_frequency_under_loads_is_that_of_the_compliance(setting):
    """Against differences of the bodies' places by small wrenches, which know nothing of stiffness; the wrenches
    move the bodies as far as the object lets them."""
    small = np.diag([3e-8, 3e-8, 3e-12] * 3)

    @jax.jit
    @jax.vmap
    def places(wrench):
        return respond(None, {**setting, "wrench": wrench}, throw=False).configuration

    moved = np.asarray(places(np.concatenate([small, -small]).reshape(18, 3, 3)))
    compliance = ((moved[:9] - moved[9:]) / (2 * np.diag(small)[:, None])).T
    masses = np.array([1.2e-8, 1.2e-8, 1e-15] * 3)
    slowest = np.linalg.eigvals(compliance * masses[None, :]).real.max()
    found = respond(None, setting, extra=("natural_frequency",))
    expected = slowest**-0.5 / (2 * np.pi)
    assert float(found.natural_frequency) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "design, setting, extra, told",
    [
        (dict(beam_radius=(2e-4, 0.0, 2e-4, 2e-4)), {}, (), "beam_radius"),
        (dict(beam_angle=(0.0, 5.0, 5.0, 5.0)), {}, (), "above 0"),
        (dict(beam_angle=(2 * np.pi, 5.0, 5.0, 5.0)), {}, (), "at most 6.26"),
        (dict(hinge=((5e-4, 0.0), (5e-4, 0.0), (1e-3, 2e-3), (5e-4, 1.5e-3))), {}, (), "coincide"),
        (dict(section_width=(1e-6, 2e-6)), {}, (), "1 or 4"),
        ({}, dict(model="elastic"), (), "one of linear"),
        ({}, {}, ("tip_travel",), "needs a limit"),
        ({}, {}, ("grip_force",), "object_half_width"),
        ({}, {}, ("closing",), "is not one of"),
    ],
)
def test_bad_input_says_what_and_what_is_allowed(design, setting, extra, told):
    with pytest.raises(ValueError, match=told):
        respond(design, setting, extra=extra)


def test_bad_lane_is_alone():
    """A traced radius of zero blanks its own lane."""
    design = gripper.published_design()

    def tip(radius):
        changed = dataclasses.replace(design, beam_radius=jnp.full(4, 2e-4).at[1].set(radius))
        found = gripper.respond(changed, gripper.published_setting(force=5e-5), throw=False)
        return found.tip_x, found.result

    x, result = jax.jit(jax.vmap(tip))(jnp.array([2e-4, 0.0, 2e-4]))
    assert np.isfinite(x[0]) and np.isnan(x[1]) and x[2] == x[0]
    assert [word(jax.tree.map(lambda r, i=i: r[i], result)) for i in range(3)] == [
        "ok",
        "out_of_range",
        "ok",
    ]
