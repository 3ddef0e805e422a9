"""The paper's mechanism in the paper's units (mm, uN), its tangents and its Newton iterations."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from diffmicro.devices import gripper
from diffmicro.devices.gripper.lumped import PAIRS
from diffmicro.mechanics.linkage import Linkage, residual, tangent_parts

MM, UN = 1e3, 1e6
"""Factors from SI to the tables' units."""

SILICON, NYLON = 100e9, 3.84e9
"""Young's moduli of section 5.1 [Pa]."""

STEP = 1e-10
"""Norm of the step at which iterations end; the paper's is not stated."""


def linkage(model: str) -> Linkage:
    """Table 1 in mm and uN."""
    design = gripper.published_design()
    ones = np.ones(4)
    bending = design.young * design.section_width * design.section_height**3 / 12 * UN * MM**2
    return Linkage(
        PAIRS,
        jnp.asarray(design.body) * MM,
        jnp.asarray(design.hinge) * MM,
        jnp.asarray(design.beam_radius) * MM,
        jnp.asarray(design.beam_angle),
        jnp.asarray(design.start_angle),
        jnp.asarray(bending * ones),
        model=model,
    )


@cache
def _compiled(model: str) -> Any:
    mechanism, loads = linkage(model), jnp.zeros((4, 3))

    def both(q):
        return residual(mechanism, loads, q).reshape(-1), tangent_parts(mechanism, loads, q)

    return jax.jit(both)


def residual_and_parts(model: str, q: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Internal wrenches, and K^I, K^II, K^III at the displacements q (9)."""
    internal, parts = _compiled(model)(jnp.asarray(q.reshape(3, 3)))
    return np.asarray(internal), tuple(np.asarray(part) for part in parts)


def newton(
    model: str, force: float, start: np.ndarray, terms: int, most: int = 1000
) -> tuple[np.ndarray, int]:
    """Algorithm 1 under F_2y [uN] from a start; `terms` of the tangent are updated, 0: none.

    Returns the displacements and the iterations; NaN and `most` where they do not converge.
    """
    external = np.zeros(9)
    external[1] = force
    q, fixed = start, sum(residual_and_parts(model, np.zeros(9))[1])
    for count in range(1, most + 1):
        internal, parts = residual_and_parts(model, q)
        stiffness = sum(parts[:terms]) if terms else fixed
        step = np.linalg.solve(stiffness, external - internal)
        q = q + step
        if not np.all(np.isfinite(q)) or np.abs(q).max() > 1e3:
            break
        if np.linalg.norm(step) < STEP:
            return q, count
    return np.full(9, np.nan), most


def at_force(model: str, force: float, parts: int = 10) -> np.ndarray:
    """Displacements under F_2y [uN], reached in steps."""
    q = np.zeros(9)
    for share in np.arange(1, parts + 1) / parts:
        q, _ = newton(model, share * force, q, 3)
    return q


def with_the_slip(model: str, q: np.ndarray) -> tuple[np.ndarray, ...]:
    """K^I, K^II, K^III as the paper's code had them: the translations of body 4 in J_d are not turned.

    J_d's block is -1 instead of -A_4^T, so the columns of r_4 that stem from flexure d are multiplied by A_4.
    """
    mechanism = linkage(model)
    alone = jnp.asarray([0.0, 0.0, 0.0, 1.0]) * mechanism.bending
    only_d = Linkage(
        mechanism.pairs,
        mechanism.centers,
        mechanism.hinges,
        mechanism.radius,
        mechanism.angle,
        mechanism.start_angle,
        alone,
        model=model,
    )
    loads, table = jnp.zeros((4, 3)), jnp.asarray(q.reshape(3, 3))
    of_d = [np.asarray(part) for part in tangent_parts(only_d, loads, table)]
    theta = q[8]
    turn = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
    slipped = []
    for part, share in zip(residual_and_parts(model, q)[1], of_d, strict=True):
        changed = part.copy()
        changed[:, 6:8] += share[:, 6:8] @ turn - share[:, 6:8]
        slipped.append(changed)
    return tuple(slipped)
