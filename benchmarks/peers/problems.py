"""Hybrid motions whose values and gradients are known without any time step.

| problem | motion | value at the end |
|---|---|---|
| ball | x'' = -g; restitution e at x = 0; from height h at rest, past ten bounces | x |
| impact | x'' + c x' + x = A cos(wt); restitution e at x = d; one period, from the free motion | x' |
| stick-slip | x'' + c x' + x = A cos(wt) + friction m of a belt of speed b; four periods | x |

The flow of each mode is a formula; events are roots of formulas, by Newton's method. All are analytic, so a
step of 1e-30 along the imaginary axis gives derivatives to rounding (Squire and Trapp 1998), and shares nothing
with any tool.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

GRAVITY, BALL_END = 1.0, 9.35
DAMPING, RATE, PUSH, RESTITUTION = 0.1, 2.4, 1.0, 0.8
BELT_DAMPING, BELT_PERIODS = 0.04, 4
GRID = 4000
"""Points per unit of time at which a guard's sign is looked at."""


class Problem(NamedTuple):
    """One motion. parameters: their names. point: their values. truth: of a complex point -> the value."""

    name: str
    parameters: tuple[str, ...]
    point: tuple[float, ...]
    truth: Callable[[np.ndarray], complex]

    def answer(self) -> tuple[float, np.ndarray]:
        """Value and gradient."""
        point = np.array(self.point, complex)
        slopes = [self.truth(point + 1e-30j * e).imag * 1e30 for e in np.eye(len(point))]
        return float(self.truth(point).real), np.array(slopes)


def ball(point: np.ndarray) -> complex:
    """Place of the ball at `BALL_END`, from the geometric series of its flights."""
    height, restitution = point
    speed = np.sqrt(2 * GRAVITY * height)
    clock, speed = speed / GRAVITY, restitution * speed
    while (clock + 2 * speed / GRAVITY).real < BALL_END:
        clock, speed = clock + 2 * speed / GRAVITY, restitution * speed
    left = BALL_END - clock
    return speed * left - GRAVITY * left**2 / 2


class Flow(NamedTuple):
    """x'' + c x' + x = F + A cos(wt) from (x, v) at a time."""

    damping: float
    amplitude: complex
    rate: complex
    force: complex
    start: complex
    place: complex
    speed: complex

    def at(self, time: Any) -> tuple[Any, Any, Any]:
        """Place, speed and acceleration."""
        c, w = self.damping, self.rate
        scale = self.amplitude / ((1 - w**2) ** 2 + (c * w) ** 2)
        near, far = scale * (1 - w**2), scale * c * w

        def driven(t: Any) -> tuple[Any, Any]:
            cosine, sine = np.cos(w * t), np.sin(w * t)
            return self.force + near * cosine + far * sine, w * (far * cosine - near * sine)

        at_start, here = driven(self.start), driven(time)
        x, v = self.place - at_start[0], self.speed - at_start[1]
        own, passed = np.sqrt(1 - c**2 / 4), time - self.start
        decay, cosine, sine = np.exp(-c / 2 * passed), np.cos(own * passed), np.sin(own * passed)
        place = here[0] + decay * (x * cosine + (v + c / 2 * x) / own * sine)
        speed = here[1] + decay * (v * cosine - (x + c / 2 * v) / own * sine)
        pull = self.force + self.amplitude * np.cos(w * time)
        return place, speed, pull - c * speed - place


def crossing(guard: Callable, start: complex, end: complex) -> complex | None:
    """The first time at which a guard falls below zero, None if there is none. It gives value and rate.

    A guard that starts at zero, and rises, is looked at from the first point of the grid on.
    """
    times = start.real + np.arange(1, int(GRID * (end - start).real) + 2) / GRID
    below = np.flatnonzero(np.real(guard(times)[0]) < 0)
    if not below.size or times[below[0]] > end.real:
        return None
    time = complex(times[below[0]])
    for _ in range(40):  # the imaginary part, the derivative, is one step behind
        value, rate = guard(time)
        time = time - value / rate
    return time


def impact(point: np.ndarray) -> complex:
    """Speed after one period of the driven oscillator behind a stop."""
    gap, amplitude, rate = point
    start, end = 0j, 2 * np.pi / rate
    place, speed = lowest_point()
    while True:
        flow = Flow(DAMPING, amplitude, rate, 0j, start, place, speed)

        def clearance(time: Any, flow: Flow = flow, gap: complex = gap) -> tuple[Any, Any]:
            x, v, _ = flow.at(time)
            return gap - x, -v

        hit = crossing(clearance, start, end)
        if hit is None:
            return flow.at(end)[1]
        start, place, speed = hit, gap, -RESTITUTION * flow.at(hit)[1]


def lowest_point() -> tuple[float, float]:
    """Place and speed of the free motion at the start of a period of the drive: near its lowest point."""
    answer = PUSH / complex(1 - RATE**2, DAMPING * RATE)
    return answer.real, -RATE * answer.imag


def stick_slip(point: np.ndarray) -> complex:
    """Place of the oscillator on the belt after four periods, from rest."""
    bound, belt, amplitude, rate = point
    clock, end = 0j, BELT_PERIODS * 2 * np.pi / rate
    place, speed, slip = 0j, 0j, -1
    while True:
        sticks = slip == 0
        flow = Flow(BELT_DAMPING, amplitude, rate, -slip * bound, clock, place, speed)

        def onward(time: Any, flow: Flow = flow, slip: int = slip) -> tuple[Any, Any]:
            _, v, a = flow.at(time)
            return slip * (v - belt), slip * a

        def demand(time: Any, start: complex = clock, place: complex = place) -> tuple[Any, Any]:
            x = place + belt * (time - start)
            force = amplitude * np.cos(rate * time) - x - BELT_DAMPING * belt
            return force, -amplitude * rate * np.sin(rate * time) - belt

        def upward(time: Any, demand: Callable = demand) -> tuple[Any, Any]:
            force, change = demand(time)
            return bound - force, -change

        def downward(time: Any, demand: Callable = demand) -> tuple[Any, Any]:
            force, change = demand(time)
            return bound + force, change

        guards = [upward, downward] if sticks else [onward]
        found = [crossing(guard, clock, end) for guard in guards]
        ends = [time for time in found if time is not None]
        if not ends:
            return place + belt * (end - clock) if sticks else flow.at(end)[0]
        time = min(ends, key=lambda t: t.real)
        if sticks:
            place, slip = place + belt * (time - clock), 1 if time is found[0] else -1
        else:
            place = flow.at(time)[0]
            force = amplitude * np.cos(rate * time) - place - BELT_DAMPING * belt
            slip = 0 if abs(force.real) <= bound.real else int(np.sign(force.real))
        clock, speed = time, belt


def grazing(speed: float) -> float:
    """The gap at which the free motion would reach the stop with this speed."""
    place, rate = lowest_point()
    return float(np.sqrt(place**2 + (rate**2 - speed**2) / RATE**2))


SLIDING = ("bound", "belt", "amplitude", "rate")

PROBLEMS = (
    Problem("ball", ("height", "restitution"), (1.0, 0.75), ball),
    Problem("impact", ("gap", "amplitude", "rate"), (grazing(0.3), PUSH, RATE), impact),
    Problem("graze", ("gap", "amplitude", "rate"), (grazing(6e-3), PUSH, RATE), impact),
    Problem("stick-slip", SLIDING, (0.6, 0.2, 0.6, 1.3), stick_slip),
    Problem("reversal", SLIDING, (0.5, 0.2, 0.6, 1.3), stick_slip),
)
"""`graze` is `impact` with a speed at the stop of 1e-2 of its usual size. In `stick-slip` each slip ends in a
stick; in `reversal` two of seven turn around at once, where friction changes sign, and one stick lasts 3e-3."""
