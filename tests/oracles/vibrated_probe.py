"""The tribometer's motions by plain time stepping in NumPy, from rest, over many cases at once.

Nothing is shared with the library: equally spaced springs cut off at their bounds for the elastic contact, small
steps with the sign of the velocity for the walking probe, SciPy's root finder for the slip under Coulomb's law.
"""

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq


def coulomb_velocity(share: float) -> float:
    """Mean velocity over mu_0 dF_n / (m omega), eqs. 4.10 to 4.14 with x'(t2) = 0."""
    start = np.arccos(share - 1)

    def speed(t):
        return (share - 1) * (t - start) + np.sin(start) - np.sin(t)

    end = brentq(speed, 2 * np.pi - start, start + 2 * np.pi)
    return quad(speed, start, end, epsabs=1e-13)[0] / (2 * np.pi)


def spring_velocity(drag, ratio, kappa, springs=400, steps=1000, periods=40):
    """Mean velocity over mu_0 E*/G* d_0 omega of a sphere by springs, in the last of the periods."""
    drag, ratio, kappa = (np.atleast_1d(np.asarray(x, float)) for x in (drag, ratio, kappa))
    widest = np.cbrt(1 + ratio)[:, None]
    x = widest * (np.arange(springs) + 0.5) / springs
    weight = 1.5 * widest[:, 0] / springs
    step = 2 * np.pi / steps
    depth = np.maximum(1 + ratio[:, None] * np.cos(step * np.arange(steps)), 0) ** (2 / 3)
    w = np.zeros_like(x)
    velocity, position, before = (np.zeros(drag.size) for _ in range(3))
    pull = kappa * drag
    for _ in range(periods):
        before = position
        for n in range(1, steps + 1):
            moved = step * velocity + step**2 / 2 * pull
            bound = np.maximum(depth[:, n % steps][:, None] - x**2, 0)
            w = np.clip(w + moved[:, None], -bound, bound)
            new = kappa * (drag - weight * w.sum(1))
            velocity, pull, position = velocity + step / 2 * (pull + new), new, position + moved
    return (position - before) / (2 * np.pi)


def walking_velocity(drag, kappa, steps=20000, halves=8):
    """Mean velocity over v^ of the probe on two vibrating contact points (eq. 4.27 corrected)."""
    drag, kappa = np.broadcast_arrays(np.asarray(drag, float), np.asarray(kappa, float))
    step = np.pi / steps
    y = np.zeros(drag.shape)
    for _ in range(halves):
        total = np.zeros(drag.shape)
        for n in range(steps):
            here, there = np.sin(n * step), np.sin((n + 1) * step)
            above = y >= here
            free = y + step * kappa * (drag - above)
            # it stays on |cos| when each side drives it back there
            crosses = (free < there) == above
            rides = (there - here <= step * kappa * drag) & (
                there - here >= -step * kappa * (1 - drag)
            )
            y = np.where(crosses & rides, there, free)
            total += y
    return total / steps
