"""An event-driven foot on modes, by SciPy's DOP853 in SI units: an oracle that shares no code with the library.

The equations are those of Ryou 2014 with the corrections of docs/errata.md. Events are SciPy's own; no contact
at rest: it is for motions with well separated impacts. `pressed` has ground that yields in their place.
"""

from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp


class Bounce(NamedTuple):
    """One impact: its time, and all modal speeds after it."""

    time: float
    speeds: np.ndarray


class Path(NamedTuple):
    """The state at the end (displacements, then speeds), the impacts, and the integral of the height."""

    displacement: np.ndarray
    speed: np.ndarray
    impacts: list[Bounce]
    area: float


def share_of(law: str, mobility: np.ndarray) -> np.ndarray:
    """Share of each mode in a change of the foot's speed."""
    if law == "dominant":
        return (np.arange(len(mobility)) == np.argmax(mobility)).astype(float)
    return mobility / mobility.sum()


def bounce(
    design: dict,
    setting: dict,
    end: float,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    most: int = 50,
) -> Path:
    """The motion from rest, or from (displacement, speed), to the time `end` [s], or to impact number `most`."""
    w = 2 * np.pi * np.asarray(design["frequency"])
    zeta, gain, mobility = (np.asarray(design[k]) for k in ("damping", "gain", "mobility"))
    n = len(w)
    omega = 2 * np.pi * setting["drive_frequency"]
    square = setting["waveform"] == "square"
    gap = setting["gap"]

    def rates(t: float, y: np.ndarray, sign: float) -> np.ndarray:
        x, v = y[:n], y[n : 2 * n]
        u = setting["voltage"] * (sign if square else np.sin(omega * t))
        h, hd = gap + x.sum(), v.sum()
        force = -design["film"] * hd / (h + design["film_offset"]) ** 3
        force -= design["electrostatic"] * u**2 / (h + design["electrostatic_offset"]) ** 2
        acceleration = w**2 * (gain * u - x) - 2 * zeta * w * v + mobility * force
        return np.concatenate([v, acceleration, [h]])

    def touches(t: float, y: np.ndarray, sign: float) -> float:
        return gap + y[:n].sum()

    touches.terminal, touches.direction = True, -1
    y = np.zeros(2 * n + 1)
    if start is not None:
        y[:n], y[n : 2 * n] = start
    half = np.pi / omega
    stops = [k * half for k in range(1, int(end / half) + 1)] if square else []
    stops = [s for s in stops if s < end - 1e-12] + [end]
    impacts, t, sign = [], 0.0, 1.0
    share = share_of(setting["law"], mobility)
    for stop in stops:
        while t < stop:
            found = solve_ivp(
                rates, (t, stop), y, "DOP853", events=touches, args=(sign,), rtol=1e-12, atol=1e-18,
                max_step=2e-5,
            )  # fmt: skip
            t, y = found.t[-1], found.y[:, -1].copy()
            if found.status == 1:
                v = y[n : 2 * n].sum()
                y[n : 2 * n] -= (1 + setting["restitution"]) * v * share
                # Exactly on the ground, so that the next event is the next impact.
                y[:n] -= share * (gap + y[:n].sum() - 1e-21)
                impacts.append(Bounce(t, y[n : 2 * n].copy()))
                if len(impacts) == most:
                    return Path(y[:n], y[n : 2 * n], impacts, y[2 * n])
        sign = -sign
    return Path(y[:n], y[n : 2 * n], impacts, y[2 * n])


class Pressed(NamedTuple):
    """The state at the end, touch-downs, the integral of the height in the air, the work on the ground."""

    displacement: np.ndarray
    speed: np.ndarray
    touches: int
    area: float
    work: float


def pressed(
    design: dict, setting: dict, end: float, start: tuple[np.ndarray, np.ndarray] | None = None
) -> Pressed:
    """The motion under a sine on a spring and damper that only push, from touch-down to lift-off and on."""
    w = 2 * np.pi * np.asarray(design["frequency"])
    zeta, gain, mobility = (np.asarray(design[k]) for k in ("damping", "gain", "mobility"))
    n, omega, gap = len(w), 2 * np.pi * setting["drive_frequency"], setting["gap"]
    stiffness = setting["ground_stiffness"]
    dashpot = 2 * setting["ground_damping"] * np.sqrt(stiffness / mobility.sum())

    def push(y: np.ndarray) -> float:
        return -stiffness * (gap + y[:n].sum()) - dashpot * y[n : 2 * n].sum()

    def rates(t: float, y: np.ndarray, down: bool) -> np.ndarray:
        x, v = y[:n], y[n : 2 * n]
        u = setting["voltage"] * np.sin(omega * t)
        h, hd = gap + x.sum(), v.sum()
        force = push(y) if down else -design["film"] * hd / (h + design["film_offset"]) ** 3
        near = (0.0 if down else h) + design["electrostatic_offset"]
        total = force - design["electrostatic"] * u**2 / near**2
        acceleration = w**2 * (gain * u - x) - 2 * zeta * w * v + mobility * total
        return np.concatenate([v, acceleration, [max(h, 0.0) * (not down), force * hd * down]])

    def touches(t: float, y: np.ndarray, down: bool) -> float:
        return gap + y[:n].sum()

    def lifts(t: float, y: np.ndarray, down: bool) -> float:
        return push(y) / stiffness

    def rises(t: float, y: np.ndarray, down: bool) -> float:
        return touches(t, y, down)

    for event, direction in ((touches, -1), (lifts, -1), (rises, 1)):
        event.terminal, event.direction = True, direction  # pyright: ignore[reportFunctionMemberAccess]
    y, t, down, under, count = np.zeros(2 * n + 2), 0.0, False, False, 0
    if start is not None:
        y[:n], y[n : 2 * n] = start
    while t < end:
        found = solve_ivp(
            rates, (t, end), y, "DOP853", events=lifts if down else rises if under else touches,
            args=(down,), rtol=1e-12, atol=1e-18, max_step=2e-5,
        )  # fmt: skip
        t, y = found.t[-1], found.y[:, -1].copy()
        if found.status == 1:  # in the air, in contact, on the way up to h = 0, in the air
            down, under = not down and not under, down
            count += down
    return Pressed(y[:n], y[n : 2 * n], count, y[2 * n], -y[2 * n + 1])


def pressed_orbit(
    design: dict,
    setting: dict,
    start: tuple[np.ndarray, np.ndarray],
    slope: np.ndarray | None = None,
) -> tuple[Pressed, np.ndarray]:
    """One drive period of the periodic motion next to `start`, by Newton's method, and its slope by the start."""
    n = len(start[0])
    scale = np.repeat([1e-6, 1e-3], n)

    def period(z: np.ndarray) -> tuple[np.ndarray, Pressed]:
        y = z * scale
        path = pressed(design, setting, 1 / setting["drive_frequency"], (y[:n], y[n:]))
        return np.concatenate([path.displacement, path.speed]) / scale, path

    z = np.concatenate(start) / scale
    for _ in range(8):
        after, path = period(z)
        if np.abs(after - z).max() < 1e-9:
            break
        if slope is None:
            step = 1e-4 * np.eye(2 * n)
            ends = [(period(z + h)[0] - period(z - h)[0]) / 2e-4 for h in step]
            slope = np.stack(ends, axis=1)
        z = z + np.linalg.solve(np.eye(2 * n) - slope, after - z)
    else:
        raise RuntimeError("no periodic motion next to the start")
    assert slope is not None
    return path, slope
