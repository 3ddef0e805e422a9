"""One lane of an optimization: where it stands, what it gains there, and its next trial.

Where all constraints hold, a lane climbs the merit

    m(u) = gain / scale + mu sum_i log(slack_i + SOFT |bound_i|),

a log barrier. Where one is violated, it climbs the sum of the violated slacks first. A trial that
does not improve, is infeasible or has no gradient is rejected: the lane stays, and its reach
halves. So a lane never stands at NaN. Constraints of robots are often cliffs: one step too far
and the motion jumps to another branch, while the constraint itself shows a wide margin. The
barrier keeps early trials away from there.

Left out: multipliers of the constraints.
"""

from dataclasses import dataclass, field

import numpy as np

from diffmicro.design.problem import Sample

SOFT = 0.01
"""Share of a bound by which its barrier stands outside, so that it may be met exactly."""

GROW, SHRINK = 1.3, 0.5
"""What an accepted and a rejected trial do to the reach."""


@dataclass
class Lane:
    """State of a lane on the host.

    u: where it stands. trial: what is evaluated next. known: the sample at u; None at first.
    path: sum of the accepted steps' directions, fading. reach: length of its steps in the box.
    """

    u: np.ndarray
    reach: float
    trial: np.ndarray = field(init=False)
    path: np.ndarray = field(init=False)
    known: Sample | None = None
    memory: object = None

    def __post_init__(self) -> None:
        self.trial, self.path = self.u.copy(), np.zeros_like(self.u)

    @property
    def gain(self) -> float:
        return (
            -np.inf
            if self.known is None or not feasible(self.known)
            else float(self.known.objective)
        )

    @property
    def dead(self) -> bool:
        """Nothing to follow here: not known, or the gradient is zero."""
        return self.known is None or not np.any(self.known.gradient)

    def receive(self, sample: Sample, mu: float, scale: float, offsets: np.ndarray) -> bool:
        """Accept the trial when it is better, else shorten the reach."""
        if _better(sample, self.known, mu, scale, offsets):
            if self.known is not None:
                step = self.trial - self.u
                self.path = 0.5 * self.path + _unit(step)
                self.reach *= GROW
            self.u, self.known = self.trial.copy(), sample
            return True
        self.reach *= SHRINK
        self.path = 0.5 * self.path
        return False

    def slope(self, mu: float, scale: float, offsets: np.ndarray) -> np.ndarray:
        """Direction of steepest ascent, of length 1 or 0, not leaving through an active bound."""
        sample = self.known
        assert sample is not None
        violated = sample.slacks < 0
        if violated.any():
            weights = violated / offsets
            slope = weights @ sample.slack_gradients
        else:
            slope = sample.gradient / scale
            slope = slope + mu * (1 / (sample.slacks + offsets)) @ sample.slack_gradients
        outward = ((self.u <= 0) & (slope < 0)) | ((self.u >= 1) & (slope > 0))
        return _unit(np.where(outward, 0.0, slope))

    def propose(self, direction: np.ndarray, wander: np.ndarray) -> None:
        """The next trial: `direction` of the optimizer, the path so far, and a random part."""
        whole = _unit(direction) + _unit(self.path) + wander
        self.trial = np.clip(self.u + self.reach * _unit(whole), 0.0, 1.0)

    def join(self, other: "Lane", reach: float) -> None:
        """Go on from where another lane stands."""
        self.u, self.known, self.path = other.u.copy(), other.known, other.path.copy()
        self.memory, self.reach = other.memory, max(other.reach, reach)


def feasible(sample: Sample) -> bool:
    """Whether values and gradients are usable and all constraints hold."""
    return bool(sample.usable) and bool(np.all(sample.slacks >= 0))


def _better(new: Sample, old: Sample | None, mu: float, scale: float, offsets: np.ndarray) -> bool:
    if not new.usable:
        return False
    if old is None:
        return True
    if feasible(new) != feasible(old):
        return feasible(new)
    if not feasible(new):
        return _violation(new, offsets) < _violation(old, offsets)
    return _merit(new, mu, scale, offsets) > _merit(old, mu, scale, offsets)


def _merit(sample: Sample, mu: float, scale: float, offsets: np.ndarray) -> float:
    return float(sample.objective / scale + mu * np.sum(np.log(sample.slacks + offsets)))


def _violation(sample: Sample, offsets: np.ndarray) -> float:
    return float(np.sum(np.maximum(-sample.slacks, 0) / offsets))


def _unit(vector: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else np.zeros_like(vector)
