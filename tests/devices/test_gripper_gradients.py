"""Gradients of the gripper by every field of the design, against differences of sixth order."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from diffmicro.certificate import reason_text, value_and_gradient, verdict_word
from diffmicro.devices import gripper
from diffmicro.parameters import as_arrays
from diffmicro.reasons import REASONS

LIMITS = dict(rotation_limit=0.3, stress_limit=140e6, force_limit=45e-6)

# What is asked for, and the setting: statics and closing; workspace; grip.
ASKED = {
    "loaded": (
        dict(force=50e-6),
        (),
        ("tip_x", "tip_y", "tip_angle", "max_rotation", "max_stress", "clearance"),
    ),
    "closed": (dict(), ("closing_force", "closing_rotation", "closing_stress"), ()),
    "limited": (LIMITS, ("tip_travel", "tip_path", "close_force", "natural_frequency"), ()),
    "gripping": (dict(force=1e-4, object_half_width=2e-4), ("grip_force",), ("max_stress",)),
}
WEIGHTS = np.array([-1, 9, -45, 45, -9, 1]) / 60
STEP = 2e-3


@pytest.mark.slow
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("model", gripper.MODELS)
def test_gradient_of_every_response_by_every_field(model, asked):
    setting, extra, more = ASKED[asked]
    setting = as_arrays(gripper.published_setting(model=model, **setting))
    # Unequal radii and angles: ties of largest rotations or clearances are kinks.
    uneven = dict(
        beam_radius=2e-4 * np.array([1.0, 1.07, 0.95, 1.11]),
        beam_angle=np.deg2rad([297.0, 318.0, 333.0, 255.0]),
    )
    x, unravel = ravel_pytree(as_arrays(gripper.published_design(**uneven)))
    scale = jnp.where(x == 0, 1e-3, jnp.abs(x))

    def values(u):
        response = gripper.respond(unravel(x + scale * u), setting, extra=extra, throw=False)
        return jnp.stack([getattr(response, name) for name in (*extra, *more)])

    zero = jnp.zeros_like(x)
    slopes = np.asarray(jax.jit(jax.jacfwd(values))(zero))
    offsets = STEP * np.array([-3, -2, -1, 1, 2, 3])
    points = (offsets[None, :, None] * np.eye(x.size)[:, None, :]).reshape(-1, x.size)
    found = np.asarray(jax.jit(jax.vmap(values))(jnp.asarray(points))).reshape(x.size, 6, -1)
    differences = np.einsum("s,xsr->rx", WEIGHTS, found) / STEP
    size = np.asarray(values(zero))
    worst = np.abs(slopes - differences) / np.maximum(np.abs(slopes), 1e-3 * np.abs(size)[:, None])
    assert worst.max() < 1e-6


def _certificate(of, setting, wrt=("section_height", "young"), design=None):
    judged = value_and_gradient(gripper.respond, wrt, of)
    design = gripper.published_design(**(design or {}))
    return eqx.filter_jit(judged)(*as_arrays((design, gripper.published_setting(**setting))))


@pytest.mark.slow
def test_workspace_of_a_rotation_limit_does_not_feel_the_section():
    _, gradient, certificate, _ = _certificate("tip_travel", dict(rotation_limit=0.2))
    assert float(gradient["section_height"]) == 0.0 and float(gradient["young"]) == 0.0
    assert verdict_word(certificate) == "certified"
    assert "does not depend" in reason_text(certificate)


@pytest.mark.slow
def test_workspace_of_a_force_limit_feels_the_section():
    _, gradient, certificate, _ = _certificate("tip_travel", dict(force_limit=40e-6))
    assert float(gradient["section_height"]) < -100
    assert verdict_word(certificate) == "certified"


@pytest.mark.slow
def test_switch_of_the_limit_is_a_kink():
    """The force limit is put where the rotation limit is reached."""
    found = gripper.respond(
        gripper.published_design(),
        gripper.published_setting(rotation_limit=0.2),
        extra=("close_force",),
    )
    setting = dict(rotation_limit=0.2, force_limit=float(found.close_force))
    _, _, certificate, response = _certificate("tip_travel", setting)
    assert verdict_word(certificate) == "uncertified" and "kink" in reason_text(certificate)
    assert float(response.margin) < 1e-6


def test_objections_name_ties():
    design, setting = gripper.published_design(), gripper.published_setting(force=50e-6)
    found = gripper.respond(design, setting)
    assert int(gripper.objection(found, design, setting, "max_rotation", "")) == 0
    tied = eqx.tree_at(lambda r: r.rotation, found, jnp.array([0.1, -0.3, 0.3, 0.2]))
    why = int(gripper.objection(tied, design, setting, "max_rotation", ""))
    assert REASONS[why].name == "kink"
