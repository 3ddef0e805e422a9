"""The stick-slip drive by the classical Runge-Kutta method in SI units, without any code of the library.

Springs of the method of dimensionality reduction (MDR thesis, section 2.3) on spherical contacts, each clipped
at its own limit; a sawtooth with a back step; NumPy, lanes side by side. The runner starts each period at the same
place, until its step repeats; the steady place is the root of that step. Steps are much finer than a spring needs
to cross its limit, and there is no derivative but differences of values. With `rolling` the surface goes
by that share of the drive through a contact area that stays, with springs on all of the line that gets into it.
"""

from typing import Any

import numpy as np

SLOW, FAST = 0.012, 40
"""Radians of the contacts' vibration in a step of the slow phase; steps of the back step."""


def lumped(parameters: dict[str, Any], springs: int) -> dict[str, np.ndarray]:
    """Numbers of the motion of lanes, from arrays of parameters."""
    p = parameters
    compliance = (1 - 0.3**2) / 210e9 + (1 - 0.3**2) / 370e9
    shear = (2 - 0.3) / (4 * 210e9 / 2.6) + (2 - 0.3) / (4 * 370e9 / 2.6)
    normal, tangential = 1 / compliance, 1 / shear
    count = np.array([2.0, 4.0])
    force = (p["preload"] / np.sqrt(2))[:, None] / (count / 2)
    depth = (3 * force / (4 * normal * np.sqrt(p["radius"])[:, None])) ** (2 / 3)
    contact = np.sqrt(p["radius"][:, None] * depth)
    x = (np.arange(springs) + 0.5) / springs
    peak = p["friction"][:, None] * normal / tangential * depth
    stiffness = count * 2 * tangential * contact
    roll = p["rolling"][:, None] / contact if "rolling" in p else 0 * contact
    width = 1 + roll * p["amplitude"][:, None]
    if "rolling" in p:
        x = 2 * x - 1
    total = stiffness.sum(axis=1)
    damping = 2 * p["damping_ratio"] * np.sqrt(total * p["runner_mass"])
    return dict(
        peak=peak, x=width[..., None] * x, roll=roll, spring=stiffness * width / springs, damping=damping,
        mass=p["runner_mass"], amplitude=p["amplitude"], rate=np.sqrt(total / p["runner_mass"]),
    )  # fmt: skip


def force(
    parameters: dict[str, Any], guess: np.ndarray, period: float, springs: int, periods: int
) -> np.ndarray:
    """Mean force on the sensor in the steady state near the `guess` [N], by lanes; all have one drive period."""
    sensor, back = 25e3, 1e-6
    n = lumped(parameters, springs)
    reach = 1e-3
    tried = np.concatenate([guess * (1 - reach), guess * (1 + reach)]) / sensor
    n = {name: np.concatenate([value, value]) for name, value in n.items()}
    slow = int(np.ceil(n["rate"].max() * period / SLOW))
    h = np.concatenate([np.full(slow, (period - back) / slow), np.full(FAST, back / FAST)])
    speed = np.concatenate([np.full(slow, 1 / (period - back)), np.full(FAST, -1 / back)])
    z = np.zeros_like(n["x"])
    v = np.zeros_like(tried)
    start, mean = tried, tried
    for _ in range(periods):
        # the place is that of the mean, which is what the sensor shows
        y, area, begin, place = start.copy(), np.zeros_like(v), start, 0.0
        for dt, share in zip(h, speed, strict=True):
            z, y, v, way = _step(n, sensor, z, y, v, dt, share * n["amplitude"], place)
            place = place + share * n["amplitude"] * dt
            area += way * dt
        step = y - begin
        mean = area / period
        start = start + (tried - mean)
    low, high = np.split(step, 2)
    return sensor * (
        np.split(tried, 2)[0] + (np.diff(np.split(tried, 2), axis=0)[0]) * low / (low - high)
    )


def _step(
    n: dict,
    sensor: float,
    z: np.ndarray,
    y: np.ndarray,
    v: np.ndarray,
    dt: float,
    drive: np.ndarray,
    place: np.ndarray | float,
):
    """One step; contacts are led from its start, the drive at `place`, by the runner's way less the drive's."""

    def pulled(way: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
        gone = n["roll"] * (place + drive * dt * share)[:, None]
        limits = n["peak"][..., None] * np.maximum(1 - (n["x"] + gone[..., None]) ** 2, 0)
        led = np.clip(z + (way - drive * dt * share)[:, None, None], -limits, limits)
        return led, (n["spring"] * led.sum(axis=-1)).sum(axis=-1)

    def rate(way: np.ndarray, speed: np.ndarray, share: float) -> np.ndarray:
        return -(pulled(way, share)[1] + sensor * (y + way) + n["damping"] * speed) / n["mass"]

    a1 = rate(0 * y, v, 0.0)
    v2 = v + dt / 2 * a1
    a2 = rate(dt / 2 * v, v2, 0.5)
    v3 = v + dt / 2 * a2
    a3 = rate(dt / 2 * v2, v3, 0.5)
    v4 = v + dt * a3
    a4 = rate(dt * v3, v4, 1.0)
    way = dt / 6 * (v + 2 * v2 + 2 * v3 + v4)
    after = v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    middle = y + way / 2 + dt / 12 * (v - after)
    return pulled(way, 1.0)[0], y + way, after, middle
