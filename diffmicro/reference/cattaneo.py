"""Closed forms of oscillating tangential contact, and of the stick-slip drive with one spring a contact.

A sphere that oscillates between -v and +v, with ratio x = v/u_1 up to 1, dissipates in one turn (Mindlin 1951;
MDR thesis, section 3.5.2, here in closed form)

    W = mu F_n u_1 (4 x + 4 x (1 - x)^(3/2) - 16/5 (1 - (1 - x)^(5/2))),    W -> mu F_n u_1 x^3 / 2 for small x.

The three-phase model (eqs. 3.13-3.26): the runner sticks, the actuators step back, the runner swings. Corrections
to the thesis: the square root of eq. 3.24 is subtracted; the prefactor of eq. 3.25 is 2 mu F_n, with F_n the force
of one side, the limit of large strokes; the denominator of eq. 3.40 is 2 2^(2/3) + 2 after division by two.
Eq. 3.26 conflicts with eq. 3.17 by a factor of 2, and is the one that matches the simulation.
"""

import jax.numpy as jnp

from diffmicro._types import Lanes


def dissipation(amplitude: Lanes, presliding: Lanes | float, limit: Lanes | float) -> Lanes:
    """Work per turn of a sphere that oscillates sideways [J]; `limit` is mu F_n. Also for gross sliding."""
    ratio = jnp.minimum(amplitude / presliding, 1.0)
    rest = 1 - ratio
    turn = 4 * ratio * (1 + rest**1.5) - 16 / 5 * (1 - rest**2.5)
    return limit * (presliding * turn + 4 * jnp.maximum(amplitude - presliding, 0.0))


def small_dissipation(amplitude: Lanes, presliding: Lanes | float, limit: Lanes | float) -> Lanes:
    """Mindlin's cubic law, the limit of small amplitudes (eq. 3.34) [J]."""
    return limit * amplitude**3 / (2 * presliding**2)


def zero_amplitude(first: Lanes | float, second: Lanes | float) -> Lanes | float:
    """Stroke below which the drive does not move, from the presliding of both groups (eq. 3.26) [m]."""
    return 2 * first * second / (first + second)


def three_phase_force(amplitude: Lanes, zero: Lanes | float, limit: Lanes | float) -> Lanes:
    """Generated force (eq. 3.25 corrected) [N]. `zero`: stroke of no motion; `limit`: 2 mu F_n."""
    ratio = amplitude / zero
    half = ratio + 1.5
    force = limit * (half - jnp.sqrt(half**2 + 2 * (1 - ratio)))
    return jnp.maximum(force, 0.0)


def vibration_envelope(
    time: Lanes,
    start: Lanes | float,
    period: Lanes | float,
    stiffness: Lanes | float,
    losses: Lanes | float,
) -> Lanes:
    """Amplitude of a vibration that friction damps (eq. 3.38) [m].

    start: amplitude at time 0. period: of the vibration. stiffness: of all contacts. losses: sum over
    contacts of the work per turn over the cube of the amplitude [N/m^2].
    """
    return start / (1 + start * losses / (period * stiffness) * time)


def group_stiffness(total: Lanes | float) -> tuple[Lanes | float, Lanes | float]:
    """Stiffness of one upper and one lower contact from that of all six (eqs. 3.40 and 3.41) [N/m]."""
    lower = total / (2 * 2 ** (1 / 3) + 4)
    return 2 ** (1 / 3) * lower, lower
