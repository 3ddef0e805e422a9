"""Event-driven oracle for the vibro-impact capsule: SciPy's DOP853 with events, no code of the library.

Between events the motion is smooth and integrated at rtol 1e-12; reversals, releases and meetings of the stop are
located on the dense output. A periodic motion is a root of the period map (`scipy.optimize.root` on simulated
periods); derivatives are Richardson-extrapolated central differences of such roots.

Lengths in 10 um, times in periods of the drive; state (r, r', x2'). Left out: lasting contact with a rigid stop.
"""

import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root

LENGTH = 10e-6


class Capsule:
    """Parameters by name in SI units; `rigid`: an impact in the place of the stop's spring."""

    def __init__(self, rigid: bool, **p: float):
        period = 1 / p["frequency"]
        self.rigid, self.period = rigid, period
        self.k1 = p["stiffness"] * period**2 / p["inner_mass"]
        self.c1 = p["damping"] * period / p["inner_mass"]
        self.s1 = 0.0 if rigid else p["stop_stiffness"] * period**2 / p["inner_mass"]
        self.push = p["force"] * period**2 / LENGTH / p["inner_mass"]
        self.ratio = p["inner_mass"] / p["capsule_mass"]
        weight = (p["inner_mass"] + p["capsule_mass"]) * p["gravity"]
        self.bound = p["friction"] * weight / p["capsule_mass"] * period**2 / LENGTH
        self.gap, self.restitution = p["gap"] / LENGTH, p["restitution"]

    def between(self, y, closed):
        """Force between the masses over the inner one."""
        return self.k1 * y[0] + self.c1 * y[1] + closed * self.s1 * (y[0] - self.gap)

    def rates(self, t, y, slip, closed):
        force = self.between(y, closed)
        capsule = (self.ratio * force - slip * self.bound) * abs(slip)
        inner = self.push * math.cos(2 * math.pi * t) - force
        return [y[1], inner - capsule, capsule, y[2]]

    def picked(self, y, closed):
        """Direction in which the capsule at rest starts to move, 0 if it sticks."""
        force = self.ratio * self.between(y, closed)
        return 0 if abs(force) <= self.bound else int(np.sign(force))

    def one_period(self, state):
        """State after one period and the way of the capsule, hits, share of stick."""
        t, y = 0.0, np.array([*state, 0.0])
        closed = (not self.rigid) and y[0] > self.gap
        slip = int(np.sign(y[2])) if y[2] else self.picked(y, closed)
        hits, stick = 0, 0.0
        for _ in range(200):
            guards = self.guards(slip, closed)
            for guard in guards:
                guard.terminal, guard.direction = True, -1
            run = solve_ivp(
                self.rates, (t, 1.0), y, "DOP853", args=(slip, closed), events=guards, rtol=1e-12, atol=1e-13,
                max_step=0.02,
            )  # fmt: skip
            stick += (run.t[-1] - t) * (slip == 0)
            if run.status == 0:
                return run.y[:3, -1], float(run.y[3, -1]), hits, stick
            which = next(i for i, found in enumerate(run.t_events) if len(found))
            t, y = float(run.t[-1]), np.array(run.y[:, -1])
            y, slip, closed, hit = self.event(which, y, slip, closed)
            hits += hit
        raise RuntimeError("too many events in one period")

    def guards(self, slip, closed):
        """Functions that are positive while the mode lasts: upward, downward, stop."""

        def upward(t, y, slip, closed):
            return slip * y[2] if slip else self.bound - self.ratio * self.between(y, closed)

        def downward(t, y, slip, closed):
            return 1.0 if slip else self.bound + self.ratio * self.between(y, closed)

        def stop(t, y, slip, closed):
            return (y[0] - self.gap) * (1.0 if closed else -1.0)

        return [upward, downward, stop]

    def event(self, which, y, slip, closed):
        hit = which == 2 and not closed
        if which == 2 and self.rigid:
            y[0] = self.gap
            kick = self.ratio / (1 + self.ratio) * (1 + self.restitution) * y[1]
            y[1], y[2] = -self.restitution * y[1], y[2] + kick
            slip = int(np.sign(y[2]))
        elif which == 2:
            closed = not closed
        elif slip:
            y[2] = 0.0
            slip = self.picked(y, closed)
        else:
            slip = 1 if which == 0 else -1
        return y, slip, closed, hit

    def orbit(self, guess):
        """The periodic state near a guess."""
        # A capsule that sticks at the start of the period has no speed to look for.
        free = [0, 1, 2] if guess[2] else [0, 1]

        def defect(z):
            state = np.array(guess, float)
            state[free] = z
            return (self.one_period(state)[0] - state)[free]

        found = root(defect, np.asarray(guess, float)[free], tol=1e-12, options=dict(eps=1e-7))
        assert np.max(np.abs(defect(found.x))) < 1e-10, found
        state = np.array(guess, float)
        state[free] = found.x
        return state

    def velocity(self, guess):
        """Mean velocity of the orbit near a guess [m/s], and the orbit."""
        state = self.orbit(guess)
        return self.one_period(state)[1] * LENGTH / self.period, state


def settled(given, rigid, periods):
    """State after a number of periods from rest."""
    capsule, state = Capsule(rigid, **given), np.zeros(3)
    for _ in range(periods):
        state = capsule.one_period(state)[0]
    return state


def derivative(given, rigid, name, guess, step=2e-4):
    """d(velocity)/d(name): central differences at two steps, extrapolated."""
    slopes = []
    for h in (step, step / 2):
        ends = []
        for sign in (1, -1):
            moved = given | {name: given[name] * (1 + sign * h)}
            ends.append(Capsule(rigid, **moved).velocity(guess)[0])
        slopes.append((ends[0] - ends[1]) / (2 * h * given[name]))
    return (4 * slopes[1] - slopes[0]) / 3
