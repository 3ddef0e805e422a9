"""Sequential quadratic programming with a trust region, several starts side by side.

Each step solves the quadratic problem of `kkt` within the box and within `radius` of where the lane
stands, with the curvature of the Lagrangian learned from gradients (Powell's damped BFGS). The merit

    f(u) + rho sum_i max(0, -c_i(u))

decides whether a trial is accepted (Fletcher's S l1 QP), so a trial that is NaN, or jumps to another
branch of a robot's motion, is turned down like any other bad one, and the radius shrinks. A trial that
fails for the bend of a constraint gets one correction. Multipliers come with the last step.

Nothing is evaluated outside the box. Left out: second derivatives of the simulator.
"""

from dataclasses import dataclass, field

import numpy as np

from diffmicro.design.kkt import quadratic_step
from diffmicro.design.problem import Problem, Sample
from diffmicro.design.run import Run, Spent
from diffmicro.design.starts import starts

RADIUS = 0.15
"""Trust region at first, share of the box."""

ACCEPT, GOOD = 1e-4, 0.75
"""Shares of the predicted improvement from which a trial is accepted, and the radius grows."""

GROWN = 100.0
"""Growth of objective or slope from which the objective gets a new unit."""

RESTARTS = 20
"""Places at which a lane tries to begin."""

PENALTY = 10.0
"""Weight of a constraint's violation over the size of the gradients, at first."""

HEAVY = 100.0
"""Weight over the largest multiplier above which it is lowered."""


@dataclass
class Lane:
    """One start and where it got.

    state: searching, converged or stuck. waiting: a corrected trial is due before the next step.
    restarts: how often it began elsewhere because nothing could be evaluated.
    """

    u: np.ndarray
    trial: np.ndarray = field(init=False)
    known: Sample | None = None
    state: str = "searching"
    radius: float = RADIUS
    waiting: bool = False
    restarts: int = 0

    def __post_init__(self) -> None:
        self.trial = self.u.copy()

    def receive(self, sample: Sample, scales: np.ndarray) -> bool:
        """Judge the trial; True when the lane moved."""
        if self.known is None:
            if not sample.usable:
                return False
            self.known, n = sample, len(self.u)
            self._scale = _size(sample) or 1.0
            self._scales = scales
            self._curvature = np.eye(n) * max(_norm(self._slope(sample)), 1e-3)
            self._fresh, self._corrected = True, False
            rows = self._rows(sample)
            size = np.abs(rows).max(axis=1, initial=0.0) if len(rows) else np.zeros(0)
            steep = _norm(self._slope(sample)) / max(size.min(initial=1.0), 1e-3)
            self._penalty = PENALTY * max(steep, 1e-3)
            return True
        if not sample.usable:
            self._reject(0.25)
            return False
        if _size(sample) > GROWN * self._scale:
            # It began where objective and slope nearly vanish: measure by what is usual, and aim again.
            self._curvature *= self._scale / _size(sample)
            self._scale = _size(sample)
            return False
        gained = self._merit(self.known) - self._merit(sample)
        ratio = gained / self._predicted if self._predicted > 0 else -1.0
        if ratio < ACCEPT:
            if not self._corrected and len(sample.slacks) and self._correct(sample):
                return False
            self._reject(0.5 if ratio > -1 else 0.25)
            return False
        step = self.trial - self.u
        change = self._lagrangian_slope(sample) - self._lagrangian_slope(self.known)
        self._learn(step, change)
        if ratio > GOOD and np.max(np.abs(step)) > 0.8 * self.radius:
            self.radius = min(2 * self.radius, 1.0)
        self.u, self.known, self._corrected = self.trial.copy(), sample, False
        return True

    def propose(self, tolerance: float) -> None:
        """The next trial, or the end of the search."""
        sample = self.known
        assert sample is not None
        slope, slacks, rows = self._slope(sample), self._slacks(sample), self._rows(sample)
        for _ in range(12):
            low, high = self._limits()
            found = quadratic_step(self._curvature, slope, slacks, rows, low, high, self._penalty)
            if not found.ok:
                self._curvature = np.eye(len(self.u)) * max(_norm(slope), 1e-3)
                found = quadratic_step(
                    self._curvature, slope, slacks, rows, low, high, self._penalty
                )
            step = np.clip(found.step, low, high)
            missed = np.maximum(0, -(slacks + rows @ step))
            # A violation that stays although it can be mended asks for a heavier penalty.
            if not found.ok or not np.any(missed > 1e-9) or self._penalty > 1e8:
                break
            if np.max(np.abs(step)) > 0.99 * self.radius:
                break
            self._penalty *= 5
        if not found.ok:
            self.state = "stuck"
            return
        self._lam, self._step = found.multipliers, step
        # Too heavy a one makes every bend of a constraint look like a loss, and steps creep along it.
        enough = HEAVY * np.max(self._lam, initial=0.0)
        if enough > 0 and not np.any(missed > 1e-9):
            self._penalty = min(self._penalty, max(enough, self._penalty / 5))
        model = slope @ step + 0.5 * step @ self._curvature @ step
        before = self._penalty * np.sum(np.maximum(0, -slacks))
        self._predicted = -(model + self._penalty * np.sum(missed) - before)
        # A step that the radius cuts short says nothing about an optimum.
        settled = np.max(np.abs(step), initial=0.0) < tolerance <= self.radius
        violated = np.max(np.maximum(0, -slacks), initial=0.0)
        # A last short step may still be needed to meet a constraint.
        if settled and violated < 1e-7:
            self.state = "converged"
        elif self.radius < tolerance:
            self.state = "stuck"
        self.trial = np.clip(self.u + step, 0.0, 1.0)

    def _limits(self) -> tuple[np.ndarray, np.ndarray]:
        return np.maximum(-self.u, -self.radius), np.minimum(1 - self.u, self.radius)

    def _correct(self, sample: Sample) -> bool:
        """Aim again, with the slacks that the trial met: the constraint's bend is known now."""
        assert self.known is not None
        rows, step = self._rows(self.known), self.trial - self.u
        low, high = self._limits()
        bent = self._slacks(sample) - rows @ step
        slope = self._slope(self.known)
        found = quadratic_step(self._curvature, slope, bent, rows, low, high, self._penalty)
        self._corrected = True
        trial = np.clip(self.u + np.clip(found.step, low, high), 0.0, 1.0)
        if not found.ok or np.max(np.abs(trial - self.trial)) < 1e-12:
            return False
        self.trial, self.waiting = trial, True
        return True

    def _reject(self, factor: float) -> None:
        reached = np.max(np.abs(self.trial - self.u), initial=0.0)
        self.radius = factor * min(self.radius, max(reached, 1e-300))
        self._corrected = False

    def _learn(self, step: np.ndarray, change: np.ndarray) -> None:
        """Powell's damped BFGS, which keeps the curvature positive."""
        if self._fresh and step @ change > 0:
            self._curvature = np.eye(len(step)) * (change @ change) / (step @ change)
        self._fresh = False
        bent = self._curvature @ step
        size = step @ bent
        if size <= 1e-300:
            return
        agree = step @ change
        theta = 1.0 if agree >= 0.2 * size else 0.8 * size / (size - agree)
        change = theta * change + (1 - theta) * bent
        self._curvature = (
            self._curvature
            - np.outer(bent, bent) / size
            + np.outer(change, change) / (step @ change)
        )

    def _slope(self, sample: Sample) -> np.ndarray:
        return -sample.gradient / self._scale

    def _slacks(self, sample: Sample) -> np.ndarray:
        return sample.slacks / self._scales

    def _rows(self, sample: Sample) -> np.ndarray:
        return sample.slack_gradients / self._scales[:, None]

    def _lagrangian_slope(self, sample: Sample) -> np.ndarray:
        return self._slope(sample) - self._rows(sample).T @ self._lam

    def _merit(self, sample: Sample) -> float:
        violation = np.sum(np.maximum(0, -self._slacks(sample)))
        return float(-sample.objective / self._scale + self._penalty * violation)


def sqp(
    run: Run, rng: np.random.Generator, *, lanes: int = 1, tolerance: float = 1e-7
) -> tuple[str, list[Lane]]:
    """Climb from the problem's start and from others in the box; the reason why it ended."""
    scales = run.problem.scales
    team = [Lane(u) for u in starts(run.problem.start, lanes, rng)]
    try:
        while True:
            busy = [lane for lane in team if lane.state == "searching"]
            if not busy:
                break
            samples = run.ask(np.stack([lane.trial for lane in busy]))
            moved = 0
            for lane, sample in zip(busy, samples, strict=True):
                lane.waiting = False
                moved += lane.receive(sample, scales)
                if lane.known is None:
                    lane.u = lane.trial = rng.random(lane.u.shape)
                    lane.restarts += 1
                    lane.state = "stuck" if lane.restarts > RESTARTS else lane.state
                elif not lane.waiting:
                    lane.propose(tolerance)
            best = leading(run.problem, team)
            if best.known is not None:
                run.tell(run.problem.step(best.u, best.known, run.used, moved, best.radius))
    except Spent:
        return f"the budget of {run.budget} evaluations is used", team
    done = sum(lane.state == "converged" for lane in team)
    if done:
        return f"{done} of {len(team)} starts converged to {tolerance:g} of the box", team
    return f"no step longer than {tolerance:g} of the box was an improvement", team


def leading(problem: Problem, team: list[Lane]) -> Lane:
    """The lane with the best feasible gain, or the least violation."""

    def rank(lane: Lane) -> tuple:
        if lane.known is None:
            return (0, 0.0)
        if problem.feasible(lane.known):
            return (2, float(lane.known.objective))
        return (1, float(np.min(lane.known.slacks / problem.scales)))

    return max(team, key=rank)


def _size(sample: Sample) -> float:
    """What the objective is measured by."""
    return max(abs(float(sample.objective)), 1e-3 * _norm(sample.gradient))


def _norm(vector: np.ndarray) -> float:
    return float(np.linalg.norm(vector))
