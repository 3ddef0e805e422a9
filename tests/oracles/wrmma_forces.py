"""Forces and guards of the WRMMA for the event-driven oracle; see `wrmma.py` for the model.

Everything is in units of the rest gap and the drive period. Time derivatives of all guards are
written out to second order, so that the distance to a grazing event can be judged.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

VACUUM_PERMEABILITY = 4e-7 * math.pi
STICK = 0  # slip is +1 or -1

PUBLISHED = {
    "mass_ratio": 1.5, "device_length": 300e-6, "width": 130e-6, "height": 50e-6,
    "density": 8900.0, "rest_gap": 20e-6, "tethered_frequency": 2300.0, "damping": 1e-6,
    "restitution": 0.5, "gap_fit": 0.025, "gain_fit": 3.028, "demagnetization": 0.1161,
    "force_scale": 0.2570963686482103, "field": 5e-3, "field_offset": 1.0, "field_rise": 0.0,
    "frequency_ratio": 1.0, "load_factor": 8.0, "friction": 0.5, "clamp_force": 0.0,
    "clamp_phase": 0.0, "gravity": 9.81,
}  # fmt: skip


class Lumped(NamedTuple):
    """The nondimensional numbers of one design in one setting, with the units that scale them."""

    length: float
    frequency: float
    alpha: float
    stiffness: float
    damping: float
    magnet: float
    gap_fit: float
    fit_gain: float  # gap_fit / demagnetization
    gap_scale: float  # rest gap over magnetic length
    bound: float  # friction bound over body mass, unclamped
    clamp_bound: float  # what the clamp adds to it
    restitution: float
    offset: float
    rise: float
    clamp_on: float  # time of engaging within the period
    rigid: bool  # clamp = "stop"

    def magnet_derivatives(self, gap):
        """M, M', M'' at a gap."""
        p, r = self.gap_fit, self.gap_scale
        top, low = self.fit_gain + r * gap, p + r * gap
        value = top / low**2
        first = r / low**2 - 2 * r * top / low**3
        second = -4 * r**2 / low**3 + 6 * r**2 * top / low**4
        return self.magnet * value, self.magnet * first, self.magnet * second


def lump(params: Mapping[str, float], clamp: str = "stop") -> Lumped:
    """Nondimensional numbers of a full dict of parameters (missing ones are the published)."""
    unknown = set(params) - set(PUBLISHED)
    if unknown or clamp not in ("stop", "force"):
        raise ValueError(f"unknown parameters {sorted(unknown)} or clamp {clamp!r} (stop, force)")
    p = {**PUBLISHED, **params}
    length, area = p["rest_gap"], p["width"] * p["height"]
    frequency = p["frequency_ratio"] * p["tethered_frequency"]
    total = p["density"] * area * (p["device_length"] - length)
    body = total / (1 + p["mass_ratio"])
    hammer = total - body
    unit = length * frequency**2  # of acceleration
    pull = p["force_scale"] * area * p["field"] ** 2 / (8 * VACUUM_PERMEABILITY)
    return Lumped(
        length=length,
        frequency=frequency,
        alpha=p["mass_ratio"],
        stiffness=(2 * math.pi / p["frequency_ratio"]) ** 2,
        damping=p["damping"] / (hammer * frequency),
        magnet=pull * p["gain_fit"] ** 2 / (hammer * unit),
        gap_fit=p["gap_fit"],
        fit_gain=p["gap_fit"] / p["demagnetization"],
        gap_scale=length / (p["device_length"] - length),
        bound=p["friction"] * p["load_factor"] * total * p["gravity"] / (body * unit),
        clamp_bound=p["friction"] * 4 * p["clamp_force"] / (body * unit),
        restitution=p["restitution"],
        offset=p["field_offset"],
        rise=p["field_rise"],
        clamp_on=(-p["clamp_phase"] / (2 * math.pi)) % 1.0,
        rigid=clamp == "stop",
    )


class Span(NamedTuple):
    """A stretch of time with smooth drive: s(t) = level + slope t, friction bound constant."""

    start: float
    end: float
    level: float
    slope: float
    bound: float
    clamped: bool


def spans_of(n: Lumped) -> list[Span]:
    cuts = {0.0, 0.5, 1.0}
    if n.rise > 0:
        cuts |= {n.rise, 0.5 + n.rise}
    if n.clamp_bound > 0:
        cuts |= {n.clamp_on, (n.clamp_on + 0.5) % 1.0}
    times = sorted(c for c in cuts if 0 <= c <= 1)
    spans = []
    for start, end in zip(times[:-1], times[1:], strict=True):
        middle = 0.5 * (start + end)
        sign, since = (1.0, 0.0) if middle < 0.5 else (-1.0, 0.5)
        if middle - since < n.rise:
            slope = 2 * sign / n.rise
            level = -sign - slope * since
        else:
            slope, level = 0.0, sign
        on = n.clamp_bound > 0 and (middle - n.clamp_on) % 1.0 < 0.5
        spans.append(Span(start, end, level, slope, n.bound + on * n.clamp_bound, on))
    return spans


class Motion:
    """One mode within one span: right-hand side and guards. y = (gap, v1, v2, x1)."""

    def __init__(self, n: Lumped, span: Span, mode: int):
        self.n, self.span, self.mode = n, span, mode
        self.slip = mode if mode in (1, -1) else 0

    def phi(self, t, gap, rate):
        n, span = self.n, self.span
        drive = (span.level + span.slope * t + n.offset) ** 2
        low = n.gap_fit + n.gap_scale * gap
        pull = n.magnet * (n.fit_gain + n.gap_scale * gap) / (low * low)
        return n.stiffness * (gap - 1) + n.damping * rate + pull * drive

    def rhs(self, t, y):
        gap, v1, v2, _ = y.tolist()
        phi = self.phi(t, gap, v2 - v1)
        push = self.n.alpha * phi - self.slip * self.span.bound if self.slip else 0.0
        return np.array((v2 - v1, push, -phi, v1))

    def jets(self, t, y):
        """(value, rate, curvature) of gap, body velocity and phi; t and y may be arrays."""
        n, span = self.n, self.span
        gap, v1, v2 = y[0], y[1], y[2]
        rate = v2 - v1
        field_ = span.level + span.slope * t + n.offset
        d0, d1, d2 = field_**2, 2 * field_ * span.slope, 2 * span.slope**2
        m0, m1, m2 = n.magnet_derivatives(gap)
        phi = n.stiffness * (gap - 1) + n.damping * rate + m0 * d0
        push = n.alpha * phi - self.slip * span.bound if self.slip else 0.0 * phi
        bend = -phi - push
        phi_1 = n.stiffness * rate + n.damping * bend + m1 * rate * d0 + m0 * d1
        share = 1 + n.alpha if self.slip else 1.0
        phi_2 = (
            n.stiffness * bend - n.damping * share * phi_1
            + (m2 * rate**2 + m1 * bend) * d0 + 2 * m1 * rate * d1 + m0 * d2
        )  # fmt: skip
        jerk = n.alpha * phi_1 if self.slip else 0.0 * phi
        return (gap, rate, bend), (v1, push, jerk), (phi, phi_1, phi_2)

    def guards(self, t, y):
        """Name -> (value, rate, curvature) of each quantity that ends this mode below zero."""
        gap, body, phi = self.jets(t, y)
        found = {"impact": gap}
        if self.slip:
            found["reversal"] = tuple(self.slip * q for q in body)
        else:
            found["release up"] = self._slack(phi, 1)
            found["release down"] = self._slack(phi, -1)
        return found

    def _slack(self, phi, sign):
        a = sign * self.n.alpha
        return self.span.bound - a * phi[0], -a * phi[1], -a * phi[2]

    def slack(self, t, y):
        """Distance of the force from the friction bound, whatever the mode."""
        _, _, phi = self.jets(t, y)
        return self._slack(phi, 1 if phi[0] > 0 else -1)


def time_to_zero(value, rate, curvature):
    """Time scale on which a guard could vanish: |value| = |rate| t + |curvature| t^2 / 2."""
    value, rate, curvature = abs(value), abs(rate), abs(curvature)
    if value == 0:
        return 0.0
    root = math.sqrt(rate**2 + 2 * curvature * value)
    return 2 * value / (rate + root) if rate + root > 0 else math.inf
