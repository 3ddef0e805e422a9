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


def shaped_velocity(
    shape, area, flat, drag, ratio, mass, force, modulus, shear, friction, frequency,
    springs=2000, steps=2000, periods=40,
):  # fmt: skip
    """Mean velocity [m/s] of a probe of any line g = shape(x), area(x) its integral, with a flat tip or none.

    Everything in SI units: the contact's radius by SciPy's root finder, springs equally spaced along the line.
    """

    def radius(load):
        def missing(a):
            return 2 * modulus * (a * shape(a) - area(a)) - load

        return brentq(missing, flat * (1 + 1e-12) + 1e-12, flat + 1e-3, xtol=1e-15)

    omega = 2 * np.pi * frequency
    phase = 2 * np.pi * np.arange(steps) / steps
    edge = np.array([radius(force * (1 + ratio * np.cos(t))) for t in phase])
    depth = shape(edge)
    spacing = edge.max() / springs
    x = spacing * (np.arange(springs) + 0.5)
    under = shape(x)
    u = np.zeros(springs)
    step = 2 * np.pi / omega / steps
    velocity, position, before = 0.0, 0.0, 0.0
    pull = drag * friction * force / mass
    for _ in range(periods):
        before = position
        for n in range(1, steps + 1):
            moved = step * velocity + step**2 / 2 * pull
            bound = np.maximum(friction * modulus / shear * (depth[n % steps] - under), 0)
            u = np.clip(u + moved, -bound, bound)
            new = (drag * friction * force - 2 * shear * spacing * u.sum()) / mass
            velocity, pull, position = velocity + step / 2 * (pull + new), new, position + moved
    return (position - before) * frequency


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
