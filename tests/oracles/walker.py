"""The robot on two feet by SciPy: places of body and feet, stick and slip by events, in SI units.

Coordinates are z, theta, x, x_f, x_h, not those of the library; it shares no code with it. The pads' force has no
jump, so only friction has events: a foot that slides stops, and a foot that sticks is torn loose.
"""

from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp


class Path(NamedTuple):
    """The end: heights of the feet, places x, x_f, x_h, and their rates; impulses of pads and of friction."""

    heights: np.ndarray
    height_rates: np.ndarray
    places: np.ndarray
    place_rates: np.ndarray
    lifted: float
    pushed: float


def walked(d, s, end: float, start: dict | None = None) -> Path:
    """The motion from rest on both pads, or from the library's state at the start of a period, to `end` [s]."""
    w = 2 * np.pi * s.frequency
    phases = np.array([0.0, s.gait])
    side = np.array([1.0, -1.0])
    damping = 2 * d.leg_damping * np.sqrt(d.leg_stiffness * d.foot_mass)

    def lift(t):
        return s.lift * np.cos(w * t + phases), -s.lift * w * np.sin(w * t + phases)

    def parts(t, y):
        """Heights, their rates, pads' forces, legs' forces."""
        z, tilt, x, vz, vt, vx = y[0], y[1], y[2], y[5], y[6], y[7]
        up, rate = lift(t)
        h, hd = z + side * d.half_length * tilt + up, vz + side * d.half_length * vt + rate
        pads = d.pad_stiffness * np.maximum(-h, 0) * np.exp(-hd / d.pad_speed)
        turn = w * t + phases + s.swing_phase
        swing, swung = s.swing * np.cos(turn), -s.swing * w * np.sin(turn)
        legs = d.leg_stiffness * (x - y[3:5] + swing) + damping * (vx - y[8:10] + swung)
        return h, hd, pads, legs

    def friction(pads, legs, slides):
        return np.where(slides == 0, -legs, -slides * s.friction * pads)

    def rates(t, y, slides):
        _, _, pads, legs = parts(t, y)
        grip = friction(pads, legs, slides)
        az = pads.sum() / d.mass - s.gravity
        at = (d.half_length * (pads[0] - pads[1]) + d.height * legs.sum()) / d.inertia
        feet = np.where(slides == 0, 0.0, (legs + grip) / d.foot_mass)
        return np.concatenate(
            [y[5:10], [az, at, -legs.sum() / d.mass], feet, [pads.sum(), grip.sum()]]
        )

    def stops(i):
        return lambda t, y, slides: y[8 + i] * slides[i] if slides[i] else 1.0

    def tears(i):
        def left(t, y, slides):
            _, _, pads, legs = parts(t, y)
            return 1.0 if slides[i] else s.friction * pads[i] - abs(legs[i])

        return left

    events = [stops(0), stops(1), tears(0), tears(1)]
    for event in events:
        event.terminal, event.direction = True, -1

    def at_rest(t, y, i):
        """What a foot does that has stopped: 0 where friction holds it."""
        _, _, pads, legs = parts(t, y)
        return 0.0 if abs(legs[i]) < s.friction * pads[i] else float(np.sign(legs[i]))

    y = np.zeros(12)
    up, rate = lift(0.0)
    sunk = -0.5 * d.mass * s.gravity / d.pad_stiffness
    given = dict(fore=sunk, hind=sunk) if start is None else start
    known = {k: float(given.get(k, 0.0)) for k in (
        "fore", "hind", "fore_rate", "hind_rate", "reach", "reach_rate", "spread", "walk_rate",
        "follow_rate",
    )}  # fmt: skip
    h = np.array([known["fore"], known["hind"]]) - up
    hd = np.array([known["fore_rate"], known["hind_rate"]]) - rate
    y[0], y[1] = h.mean(), (h[0] - h[1]) / (2 * d.half_length)
    y[5], y[6] = hd.mean(), (hd[0] - hd[1]) / (2 * d.half_length)
    y[2], y[4] = known["reach"], -known["spread"]
    y[8:10] = known["walk_rate"], known["follow_rate"]
    y[7] = known["reach_rate"] + known["walk_rate"]
    slides = np.array([at_rest(0.0, y, i) if y[8 + i] == 0 else np.sign(y[8 + i]) for i in (0, 1)])
    t = 0.0
    while t < end:
        found = solve_ivp(
            rates, (t, end), y, "DOP853", events=events, args=(slides,), rtol=1e-11, atol=1e-15,
            max_step=2e-5,
        )  # fmt: skip
        t, y = found.t[-1], found.y[:, -1].copy()
        for i in (0, 1):
            if len(found.t_events[i]):
                y[8 + i] = 0.0
                slides[i] = at_rest(t, y, i)
            if len(found.t_events[2 + i]):
                slides[i] = np.sign(parts(t, y)[3][i])
    h, hd, _, _ = parts(t, y)
    return Path(h, hd, y[2:5], y[7:10], y[10], y[11])


def velocity(d, s, settling: int, start: dict | None = None) -> float:
    """Mean velocity over the drive period after `settling` periods [m/s]."""
    period = 1 / s.frequency
    path = walked(d, s, settling * period, start)
    x, fore, hind = path.places
    body, fore_rate, hind_rate = path.place_rates
    there = dict(
        fore=path.heights[0], hind=path.heights[1], fore_rate=path.height_rates[0],
        hind_rate=path.height_rates[1], reach=x - fore, reach_rate=body - fore_rate,
        spread=fore - hind, walk_rate=fore_rate, follow_rate=hind_rate,
    )  # fmt: skip
    return float(walked(d, s, period, there).places[1] / period)
