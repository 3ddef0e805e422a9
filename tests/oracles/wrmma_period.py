"""One period of the WRMMA, event by event; see `wrmma.py` for the model and the method."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import numpy as np
from scipy.integrate import DOP853
from scipy.optimize import brentq

from .wrmma_forces import STICK, Lumped, Motion, spans_of, time_to_zero

RTOL, ATOL = 1e-13, 1e-14  # relative to the rest gap and the period
CONTACT_RATE = 1e-7  # rebound [rest gaps per period] below which chatter counts as contact
FIRST_STEP = 0.02  # share of a period
CLAMP_STOP = 1e-4  # share of a period; a slip that a clamp ends faster is no mode of its own
MAX_EVENTS = 600  # in one period; more means a motion this oracle does not follow
SAMPLES = np.linspace(0.0, 1.0, 9)  # where a step is searched for events
CONTACT_STICK = 3  # slip in contact is +2 or -2; flights have the modes STICK, +1, -1


class Event(NamedTuple):
    """What happened at a time (share of the period), and the rate of the quantity that crossed."""

    time: float
    kind: str
    rate: float


@dataclass
class Run:
    """The moving parts of one period in nondimensional units."""

    n: Lumped
    y: np.ndarray
    mode: int = STICK
    events: list[Event] = field(default_factory=list)
    margin: float = math.inf
    min_gap: float = math.inf
    stick_share: float = 0.0

    def note(self, time, kind, rate):
        self.events.append(Event(float(time), kind, float(rate)))
        if len(self.events) > MAX_EVENTS:
            raise RuntimeError(f"more than {MAX_EVENTS} events in one period: not followed")

    def near(self, *times):
        self.margin = min(self.margin, *times)

    def settle(self, t, span):
        """Clamp, impact and the choice of mode for the state as it stands."""
        n, y = self.n, self.y
        for _ in range(200):
            if n.rigid and span.clamped and y[1] != 0:
                self.note(t, "clamp stop", y[1])
                y[1] = 0.0
            rate = y[2] - y[1]
            if not (y[0] <= 0 and rate < 0):
                break
            self.note(t, "impact", rate)
            impulse = -(1 + n.restitution) * rate / (1 + n.alpha)  # over hammer mass
            y[0], y[1], y[2] = 0.0, y[1] - n.alpha * impulse, y[2] + impulse
            if -n.restitution * rate < CONTACT_RATE:
                phi = Motion(n, span, STICK).phi(t, 0.0, 0.0)
                if phi > 0 and self._enter_contact(t, span):
                    return
                # Impact and stop by the clamp in turns: both come to rest.
                if span.clamped and (n.rigid or abs(y[1]) < CONTACT_RATE):
                    y[1] = y[2] = 0.0
        stuck = Motion(n, span, STICK)
        phi = stuck.phi(t, y[0], y[2] - y[1])
        if y[0] <= 0 and y[2] == y[1] and phi > 0 and self._enter_contact(t, span):
            return
        if y[1] != 0:
            self.mode = 1 if y[1] > 0 else -1
            return
        slack, rate, curvature = stuck.slack(t, y)
        self.near(time_to_zero(slack, rate, curvature))
        self.mode = STICK if slack >= 0 else (1 if phi > 0 else -1)

    def _enter_contact(self, t, span):
        """Common velocity, momentum kept; False when the contact would open at once."""
        n, y = self.n, self.y
        common = (y[1] + n.alpha * y[2]) / (1 + n.alpha)
        if n.rigid and span.clamped:
            common = 0.0
        slip = int(np.sign(common)) if abs(common) > CONTACT_RATE else 0
        if _contact_force(n, span, slip)(t) <= 0:
            return False
        y[0], y[1], y[2] = 0.0, common if slip else 0.0, common if slip else 0.0
        self.mode = 2 * slip if slip else CONTACT_STICK
        self.near(CONTACT_RATE)
        self.note(t, "contact", 0.0)
        return True

    def contact(self, t, span):
        """Advance in persistent contact (constant deceleration); returns the time reached."""
        n, y = self.n, self.y
        slip = 0 if self.mode == CONTACT_STICK else self.mode // 2
        force = _contact_force(n, span, slip)
        slowing = span.bound / (1 + n.alpha)
        stop = t + abs(y[1]) / slowing if slip and slowing > 0 else math.inf
        end, opens = min(stop, span.end), False
        if force(t) < 0:
            end, opens = t, True
        elif force(end) < 0:
            end, opens = _zero(force, t, end), True
        span_time = end - t
        y[3] += y[1] * span_time - 0.5 * slip * slowing * span_time**2
        y[1] -= slip * slowing * span_time
        y[2] = y[1]
        self.min_gap = 0.0
        if not slip:
            self.stick_share += span_time
        if opens:
            self.note(end, "separate", 0.0)
            self.mode = STICK
            if y[1] == 0:
                self.settle(end, span)
            else:
                self.mode = 1 if y[1] > 0 else -1
        elif end == stop:
            self.note(end, "contact stop", -slip * slowing)
            y[1] = y[2] = 0.0
            self.mode = CONTACT_STICK
        return end

    def flight(self, t, span):
        """Integrate one mode until an event or the end of the span; returns the time reached."""
        motion = Motion(self.n, span, self.mode)
        began = t
        y = self.y
        h = min(FIRST_STEP, span.end - t)
        rates = motion.rhs(t, y)
        bend, push = rates[2] - rates[1], rates[1]
        if not (span.clamped and motion.slip and abs(y[1]) < CLAMP_STOP * abs(push)):
            self._look(motion, t)
        if y[0] < 1e-6 and bend < 0:  # a hop: do not step far beyond its end
            h = min(h, max(-2.5 * rates[0] / bend, 1e-13))
        if y[1] * push < 0:
            h = min(h, max(-1.2 * y[1] / push, 1e-13))
        solver = _solver(motion, t, y, span.end, h)
        while solver.status == "running":
            before = solver.t, solver.y
            solver.step()
            if solver.status == "failed":
                raise RuntimeError(f"DOP853 failed at t = {solver.t} of the period")
            hit = self._search(motion, solver, before[0])
            if hit is None:
                continue
            kind, at = hit
            t, self.y = before[0], before[1].copy()
            if at > t:
                landing = _solver(motion, t, self.y, at, at - t)
                while landing.status == "running":
                    landing.step()
                t, self.y = self._polish(motion, kind, at, landing.y)
            self._close(motion, began, t, kind)
            self._transition(motion, t, span, kind)
            return t
        self.y = solver.y.copy()
        self._close(motion, began, span.end, "")
        return span.end

    def _search(self, motion, solver, start):
        """Earliest guard that falls below zero in the last step; records near misses."""
        dense, length = solver.dense_output(), solver.t - start
        times = start + SAMPLES * length
        ys = dense(times)
        self.min_gap = min(self.min_gap, float(ys[0].min()))
        guards = motion.guards(times, ys)
        first = None
        for name, (value, rate, _) in guards.items():
            below = np.flatnonzero(value[1:] < 0)
            last = int(below[0]) + 1 if below.size else len(times)
            at = None
            # A minimum between two samples may hide a pair of crossings.
            dips = np.flatnonzero((rate[: last - 1] < 0) & (rate[1:last] > 0))
            for k in dips:
                if k == 0 and value[0] == 0:  # released just now: the rate starts at zero too
                    continue

                def slope(t, name=name):
                    return motion.guards(t, dense(t))[name][1]

                low = _zero(slope, times[k], times[k + 1])
                depth, _, curve = motion.guards(low, dense(low))[name]
                if depth < 0:
                    at = self._root(motion, dense, name, times[k], low, start)
                    break
                self.near(time_to_zero(float(depth), 0.0, float(curve)))
            if at is None and below.size:
                at = self._root(motion, dense, name, times[last - 1], times[last], start)
            if at is not None and (first is None or at < first[1]):
                first = name, at
        return first

    def _root(self, motion, dense, name, low, high, start):
        def guard(t):
            return float(motion.guards(t, dense(t))[name][0])

        if low == start:  # the guard may start at zero: the last event was its own
            low = start + 0.5 * (high - start)
            while guard(low) <= 0:
                low = start + 0.5 * (low - start)
                if low - start < 1e-15:  # no more digits in time: it is below from the start
                    return start
        return _zero(guard, low, high)

    def _polish(self, motion, kind, t, y):
        value, rate, _ = motion.guards(t, y)[kind]
        shift = -value / rate if rate < 0 else 0.0
        if abs(shift) < 1e-7:
            y = y + shift * motion.rhs(t, y)
            t += shift
        return t, np.array(y)

    def _look(self, motion, t):
        """Distance of the guards from zero, save the one that an event has just put there."""
        skip = self.events[-1].kind if self.events and self.events[-1].time == t else ""
        for name, jet in motion.guards(t, self.y).items():
            own = skip.startswith(name.split()[0]) or (name == "reversal" and self.y[1] == 0)
            if not own and not (name == "impact" and self.y[0] == 0):
                self.near(time_to_zero(*map(float, jet)))

    def _close(self, motion, began, t, kind):
        """Bookkeeping at the end of a flight: how far from grazing, how long it lasted."""
        slipping = motion.span.clamped and motion.slip != 0
        stopping = slipping and t - began < CLAMP_STOP  # lasts as long as the clamp needs
        if stopping:
            return
        self.near(t - began)
        if motion.slip == 0:
            self.stick_share += t - began
        for name, (value, rate, curvature) in motion.guards(t, self.y).items():
            if name == kind:
                if curvature != 0:
                    self.near(abs(float(rate / curvature)))
            else:
                self.near(time_to_zero(float(value), float(rate), float(curvature)))

    def _transition(self, motion, t, span, kind):
        rate = float(motion.guards(t, self.y)[kind][1])
        if kind == "impact":
            self.y[0] = 0.0
            self.settle(t, span)
        elif kind == "reversal":
            self.y[1] = 0.0
            self.settle(t, span)
            self.note(t, "stick" if self.mode == STICK else "reversal", rate)
        else:
            self.note(t, "release", rate)
            self.mode = 1 if kind == "release up" else -1


def _zero(function: Callable[[float], float], low: float, high: float) -> float:
    return cast(float, brentq(function, low, high, xtol=1e-15, rtol=np.float64(1e-14)))


def _contact_force(n, span, slip):
    motion = Motion(n, span, STICK)
    return lambda t: motion.phi(t, 0.0, 0.0) - slip * span.bound / (1 + n.alpha)


def _solver(motion, t, y, end, step):
    return DOP853(motion.rhs, t, y, end, rtol=RTOL, atol=ATOL, first_step=min(step, end - t))


def run_period(n: Lumped, z: np.ndarray) -> Run:
    """One period from z = (gap, v1, v2), nondimensional."""
    run = Run(n, np.array((z[0], z[1], z[2], 0.0)))
    if z[0] < 0:
        raise RuntimeError(f"negative gap {z[0]} at t = 0")
    for span in spans_of(n):
        if run.mode not in (CONTACT_STICK, 2, -2):
            run.settle(span.start, span)
        elif n.rigid and span.clamped and run.y[1] != 0:
            run.settle(span.start, span)
        t, turns = span.start, 0
        while t < span.end:
            t = run.contact(t, span) if run.mode not in (0, 1, -1) else run.flight(t, span)
            turns += 1
            if turns > 2 * MAX_EVENTS:
                raise RuntimeError(f"time stands still at t = {t} of the period: not followed")
    return run
