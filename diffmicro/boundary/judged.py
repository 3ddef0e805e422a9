"""Whether the derivatives of a boundary are right: it is located anew at neighbors.

A neighbor differs in all parameters at once, by unlike shares, so a sign error in any of them shows. The two
neighbors lie on either side, and the difference between their boundaries, which no derivative was used to find, is
compared with what the derivatives say.
"""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from diffmicro.boundary.values import BoundaryCertificate
from diffmicro.differences import ALONE, MATCHED, mixed_sizes

RESIDUAL = 1e-6
"""Largest residual [natural units] of a boundary whose derivatives are certified."""

APART = 1e-3
"""Largest ratio of the smallest singular value to the next one at a fold that is one."""


def mismatch(
    slopes: np.ndarray, x: np.ndarray, place: Callable[[np.ndarray], float | None]
) -> float:
    """Relative disagreement of slopes at x with `place`, a function of x; NaN where it has no value.

    A parameter at zero is left as it is: it may be at the end of its range.
    """
    moving = x != 0
    if not np.any(moving):
        return np.nan
    whole = np.asarray(mixed_sizes(jnp.asarray(x)))
    direction = np.where(moving, whole, 0.0)
    step = ALONE
    sides = [place(x + sign * step * direction) for sign in (1.0, -1.0)]
    if sides[0] is None or sides[1] is None:
        return np.nan
    difference = (sides[0] - sides[1]) / (2 * step)
    weight = float(np.linalg.norm(slopes * direction))
    return abs(difference - float(slopes @ direction)) / (weight or 1.0)


def certificate(
    kind: str, residual: float, separation: float | None, off: float, **sides: str
) -> BoundaryCertificate:
    """The verdict on a boundary that has derivatives."""

    def judged(verdict: str, reason: str) -> BoundaryCertificate:
        return BoundaryCertificate(verdict, reason, residual, separation, off, **sides)

    if not residual < RESIDUAL:
        return judged("uncertified", "its equations are not fulfilled closely enough")
    if separation is not None and not separation < APART:
        return judged("uncertified", "more than one thing happens here: two multipliers are close")
    if np.isnan(off):
        return judged("uncertified", "no neighboring boundary was found to compare with")
    if not off < MATCHED:
        return judged("uncertified", "boundaries located anew disagree with the derivatives")
    return judged("certified", f"{kind} located anew at two neighbors agrees")
