"""Several starts of one search: where they begin, which optima they found, and when they are enough.

The first start is the problem's own, the others fill the box evenly. After N of these that ended at w different
optima one more ends at an optimum that was not seen with the probability w (w + 1) / (N (N - 1)) (Boender,
Rinnooy Kan 1987: the expected size of the basins that were not hit, whatever their sizes). No better optimum is
missed with a larger probability. Where it is `MISSED` or less the starts are enough.

Where `STARTS` of them leave it larger there are many optima, and the next searches begin beside the best: with one
variable after another mirrored in its range, until none of the best `MIRRORED` has a mirror that was not tried.
"""

from typing import NamedTuple

import numpy as np

from diffmicro.design.ending import ROUNDED, SAME, conditions, optimal
from diffmicro.design.kkt import Binding
from diffmicro.design.problem import Problem, Sample
from diffmicro.design.run import Run

STARTS = 12
"""Even starts at most, unless said otherwise."""

MISSED = 0.1
"""Probability that one more start finds something new, below which the starts are enough."""

ALIKE = 1e-3
"""Share of the objective by which the values of one optimum may differ."""

MIRRORED = 3
"""Optima that are mirrored."""

NEARBY = 0.1
"""Distance in the box up to which designs of the same value, held by the same limits, are one optimum: it is
flat."""

FAILED = 20
"""Starts that cannot be evaluated, after which no other is tried."""


class Optimum(NamedTuple):
    """A local optimum. limits: names of the constraints and bounds that hold it. starts: how many of the even
    starts ended there; none where it was found from the mirror of another."""

    u: np.ndarray
    sample: Sample
    limits: tuple[str, ...]
    starts: int


class Start(NamedTuple):
    """Where a search begins. even: whether as one of those that fill the box, which alone are counted."""

    u: np.ndarray
    even: bool


class Starts:
    """Where one search began and ended.

    optima: best first. begun, failed: even starts, and starts that could not be evaluated. beside: mirrors.
    """

    def __init__(self, run: Run, rng: np.random.Generator, most: int | None):
        self.run, self.most, self.mirrors = run, most or STARTS, most is None
        self.optima: list[Optimum] = []
        self.begun = self.failed = self.beside = 0
        self._offset = rng.random(len(run.problem.start))
        self._tried: dict[bytes, int] = {}

    def next(self) -> Start | None:
        """The next start; None where those that were are enough."""
        if self.failed > FAILED or (self.unseen is not None and self.unseen <= MISSED):
            return None
        if self.begun - self.failed >= self.most:
            return self._mirror() if self.mirrors else None
        self.begun += 1
        start = self.run.problem.start
        if self.begun == 1:
            return Start(start, True)
        return Start((self._offset + evenly(self.begun - 1, len(start))[-1]) % 1.0, True)

    def _mirror(self) -> Start | None:
        """Beside the best optimum with a variable that was not mirrored yet."""
        for optimum in self.optima[:MIRRORED]:
            i = self._tried.get(optimum.u.tobytes(), 0)
            if i < len(optimum.u):
                self._tried[optimum.u.tobytes()] = i + 1
                self.beside += 1
                u = optimum.u.copy()
                u[i] = 1 - u[i] if abs(2 * u[i] - 1) > 0.2 else 1.0
                return Start(u, False)
        return None

    @property
    def ended(self) -> int:
        return sum(optimum.starts for optimum in self.optima)

    @property
    def unseen(self) -> float | None:
        """Probability that one more even start ends at an optimum that was not seen; None after less than two."""
        return missed(sum(optimum.starts > 0 for optimum in self.optima), self.ended)

    def seen(self, u: np.ndarray, sample: Sample) -> bool:
        """Whether this is where another start ended."""
        return any(self._near(known, u, sample) < SAME for known in self.optima)

    def end(self, u: np.ndarray, sample: Sample, even: bool) -> None:
        """A search ended here; it counts where the conditions of an optimum hold."""
        limits = conditions(self.run, u, sample)
        known = self.seen(u, sample)
        if not known and not optimal(self.run, sample, limits.remainder):
            return
        named = holding(self.run.problem, limits)
        for i, other in enumerate(self.optima):
            near = self._near(other, u, sample)
            if near < SAME or (near < NEARBY and named == other.limits):
                gains = float(other.sample.objective), float(sample.objective)
                # A search that was ended near a known optimum is not as near to it.
                better = gains[1] > gains[0] + ROUNDED * abs(gains[0])
                best = Optimum(u, sample, named, 0) if better else other
                self.optima[i] = best._replace(starts=other.starts + even)
                break
        else:
            self.optima.append(Optimum(u, sample, named, int(even)))
        self.optima.sort(key=lambda optimum: -float(optimum.sample.objective))

    def _near(self, known: Optimum, u: np.ndarray, sample: Sample) -> float:
        """Distance to an optimum of the same value; infinite to others."""
        gains = float(known.sample.objective), float(sample.objective)
        alike = abs(gains[0] - gains[1]) <= ALIKE * max(map(abs, gains))
        alike = alike and self.run.problem.feasible(sample)
        return float(np.max(np.abs(known.u - u))) if alike else np.inf

    def __str__(self) -> str:
        """What was seen, in words."""
        count = len(self.optima)
        begun = f"{self.begun} start{'s' * (self.begun > 1)}"
        text = f"{self.ended or 'none'} of {begun} ended at an optimum"
        text += f", {self.failed} could not be evaluated" if self.failed else ""
        text += f", with {self.beside} from mirrors of the best" if self.beside else ""
        text += f": {count} {'optimum' if count == 1 else 'optima'} seen" if count else ""
        if self.unseen is not None:
            text += f"; one more would find another with a probability of {100 * self.unseen:.0f} %"
        return text


def missed(optima: int, starts: int) -> float | None:
    """Probability that one more start ends at another optimum, after `starts` that ended at `optima`; None after
    less than two."""
    return min(optima * (optima + 1) / (starts * (starts - 1)), 1.0) if starts > 1 else None


def evenly(count: int, n: int) -> np.ndarray:
    """Points of the unit cube that fill it evenly: multiples of powers of the plastic number's kin."""
    root = 2.0
    for _ in range(60):  # the positive root of x^(n+1) = x + 1
        root = (1 + root) ** (1 / (n + 1))
    steps = root ** -np.arange(1.0, n + 1)
    return (0.5 + np.arange(1, count + 1)[:, None] * steps[None, :]) % 1.0


def holding(problem: Problem, limits: Binding) -> tuple[str, ...]:
    """Names of the constraints and bounds with a multiplier."""
    sides = (("low", limits.low), ("high", limits.high))
    constraints = zip(problem.constraints, limits.constraints, strict=True)
    return (
        *(str(constraint) for constraint, multiplier in constraints if multiplier > 0),
        *(
            f"{n} {side}"
            for side, m in sides
            for n, x in zip(problem.names, m, strict=True)
            if x > 0
        ),
    )
