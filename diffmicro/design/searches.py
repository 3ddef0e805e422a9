"""Local searches from several starts: `sqp`, SciPy's `slsqp`, and any optimizer of optax (`descend`).

Each search is a generator: it yields a trial, is sent its sample, and returns how it ended, and where. The loop
around it evaluates the trials of several searches together, counts, tells progress, ends a search that comes to
an optimum that is known, and begins another until `starts` says that they are enough.
"""

from collections.abc import Callable, Generator
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import PyTree

from diffmicro.design.problem import Problem, Sample
from diffmicro.design.run import Run, Spent
from diffmicro.design.sqp import CONVERGED, SEARCHING
from diffmicro.design.sqp import sqp as sqp_transformation
from diffmicro.design.starts import Starts
from diffmicro.sweep.lanes import HASTY

ABREAST = 4
"""Searches side by side, where a problem evaluates a batch together."""

ARMIJO, LONGEST, SHORTER = 1e-4, 0.2, 30
"""Of `descend`: share of the promised fall that is enough, longest step in the box, times that a step is
shortened."""

Search = Generator[np.ndarray, Sample, tuple[str, np.ndarray]]


class Outcome(NamedTuple):
    """Why a method ended; its starts; the design at which CMA-ES settled."""

    reason: str
    starts: Starts | None = None
    settled: np.ndarray | None = None

    @property
    def optimum(self) -> np.ndarray | None:
        """The best local optimum of the starts."""
        return self.starts.optima[0].u if self.starts and self.starts.optima else None


class Lane:
    """One search under way. state: searching, or how it ended."""

    def __init__(self, search: Search, even: bool):
        self.search, self.trial, self.even, self.state = search, next(search), even, "begun"

    def receive(self, sample: Sample) -> None:
        if self.state == "begun" and not sample.usable:
            self.state = "failed"
            return
        self.state = "searching"
        try:
            self.trial = self.search.send(sample)
        except StopIteration as end:
            self.state, self.trial = end.value


def from_starts(run: Run, rng: np.random.Generator, begin: Callable, lanes: int | None) -> Outcome:
    """Searches from one start after another, until they are enough or the budget is used."""
    problem, starts = run.problem, Starts(run, rng, lanes)
    busy: list[Lane] = []
    best: tuple[np.ndarray, Sample] | None = None
    try:
        while True:
            while len(busy) < (ABREAST if problem.batched else 1) and (start := starts.next()):
                busy.append(Lane(begin(start.u), start.even))
            if not busy:
                return Outcome(str(starts), starts)
            trials = [lane.trial for lane in busy]
            improved, reach = 0, 0.0
            for lane, u, sample in zip(busy, trials, run.ask(np.stack(trials)), strict=True):
                lane.receive(sample)
                if best is None or rank(problem, sample) > rank(problem, best[1]):
                    best, improved = (u, sample), improved + 1
                _settle(starts, lane, u, sample)
                reach = max(reach, float(np.max(np.abs(lane.trial - u))))
            busy = [lane for lane in busy if lane.state == "searching"]
            if best and best[1].usable:
                run.tell(problem.step(best[0], best[1], run.used, improved, reach))
    except Spent:
        return Outcome(f"the budget of {run.budget} evaluations is used; {starts}", starts)


def _settle(starts: Starts, lane: Lane, u: np.ndarray, sample: Sample) -> None:
    """Count a search that ended, or that came to where another one ended."""
    if lane.state == "failed":
        starts.failed += 1
    elif lane.state != "searching":
        ended = starts.run.known(lane.trial)
        if ended is not None:
            starts.end(lane.trial, ended, lane.even)
    elif starts.seen(u, sample):
        lane.state = "repeated"
        starts.end(u, sample, lane.even)


def rank(
    problem: Problem, sample: Sample | None, merit: Callable[[Sample], float] | None = None
) -> tuple[int, float]:
    """Orders samples: feasible ones by their merit, or gain; others by their violation; then unusable ones."""
    if sample is None or not sample.usable:
        return (0, 0.0)
    if problem.feasible(sample):
        return (2, merit(sample) if merit else float(sample.objective))
    return (1, -violation(problem, sample))


def violation(problem: Problem, sample: Sample) -> float:
    """Sum of what constraints are missed by, in units of their bounds."""
    return float(np.sum(np.maximum(0, -sample.slacks / problem.scales)))


def unit(sample: Sample) -> float:
    """What gains are measured by: the value of a start, or its slope across the box."""
    return max(abs(float(sample.objective)), float(np.linalg.norm(sample.gradient))) or 1.0


def sqp(
    run: Run,
    rng: np.random.Generator,
    *,
    lanes: int | None = None,
    radius: float = 1.0,
    tolerance: float = 1e-7,
) -> Outcome:
    """The transformation of `diffmicro.design.sqp` from several starts. radius: longest step at first."""
    optimizer = sqp_transformation(len(run.problem.constraints), radius=radius)
    steps = _sqp_steps(len(run.problem.constraints), tolerance)

    def begin(u: np.ndarray) -> Search:
        state = optimizer.init(jnp.asarray(u))
        while True:
            sample = yield u
            u, state = jax.tree.map(np.asarray, steps(sample, state, u))
            if state.status != SEARCHING:
                return ("converged" if state.status == CONVERGED else "stuck"), state.best.u

    return from_starts(run, rng, begin, lanes)


@cache
def _sqp_steps(constraints: int, tolerance: float) -> Callable:
    """The next trial and state after a sample, compiled once."""
    optimizer = sqp_transformation(constraints, tolerance=tolerance)

    def step(sample: Sample, state: PyTree, u: jax.Array) -> tuple[jax.Array, PyTree]:
        moves, state = optimizer.update(
            -sample.gradient,
            state,
            u,
            value=-sample.objective,
            slacks=sample.slacks,
            jacobian=sample.slack_gradients,
            usable=sample.usable,
        )
        return jnp.clip(jnp.asarray(optax.apply_updates(u, moves)), 0.0, 1.0), state

    # One step an evaluation: compiling is what counts.
    return jax.jit(step, compiler_options=HASTY)


def slsqp(
    run: Run, rng: np.random.Generator, *, lanes: int | None = None, tolerance: float = 1e-10
) -> Outcome:
    """SciPy's SLSQP (Kraft 1988). What cannot be evaluated counts as worse than anything seen.

    It keeps its loop to itself, so whenever it wants a new point it is run again with all that is known.
    """
    from scipy.optimize import minimize

    class Unknown(Exception):
        pass

    def begin(start: np.ndarray) -> Search:
        known: dict[bytes, tuple] = {}
        first = yield start
        scales, size = run.problem.scales, unit(first)

        def at(x: np.ndarray) -> tuple:
            u = np.clip(x, 0.0, 1.0)
            if u.tobytes() not in known:
                raise Unknown(u)
            return known[u.tobytes()]

        def learn(u: np.ndarray, sample: Sample) -> None:
            terms = (-sample.objective / size, -sample.gradient / size)
            rows = (sample.slacks / scales, sample.slack_gradients / scales[:, None])
            if not sample.usable:
                worst = max(float(k[0]) for k in known.values())
                terms, rows = (worst + 1 + abs(worst), 0 * u), known[start.tobytes()][2:]
            known[u.tobytes()] = *terms, *rows

        learn(start, first)
        limits = {"type": "ineq", "fun": lambda x: at(x)[2], "jac": lambda x: at(x)[3]}
        while True:
            try:
                found = minimize(
                    lambda x: float(at(x)[0]), start, jac=lambda x: at(x)[1], method="SLSQP",
                    bounds=[(0.0, 1.0)] * len(start), constraints=[limits] if len(scales) else [],
                    options={"ftol": tolerance, "maxiter": 1000},
                )  # fmt: skip
            except Unknown as missing:
                (u,) = missing.args
                learn(u, (yield u))
            else:
                return ("converged" if found.success else "stuck"), np.clip(found.x, 0.0, 1.0)

    return from_starts(run, rng, begin, lanes)


def descend(
    run: Run,
    rng: np.random.Generator,
    *,
    optimizer: optax.GradientTransformation | None = None,
    lanes: int | None = None,
    tolerance: float = 1e-7,
) -> Outcome:
    """Any optimizer of optax, projected onto the box, for problems without constraints; L-BFGS by default.

    A step that is no improvement is shortened, so Adam and its like go downhill as well.
    """
    if run.problem.constraints:
        raise ValueError(
            "optimize_design: the method optax keeps bounds and no constraints. Choose sqp, slsqp or climb."
        )
    optimizer = optax.lbfgs(linesearch=None) if optimizer is None else optimizer
    steer = jax.jit(optimizer.update)

    def begin(u: np.ndarray) -> Search:
        memory = optimizer.init(jnp.asarray(u))
        sample = yield u
        size = unit(sample)
        while True:
            slope = -sample.gradient / size
            held = np.clip(u - slope, 0, 1) == u
            slope = np.where(held, 0.0, slope)
            if np.max(np.abs(np.clip(u - slope, 0, 1) - u)) < tolerance:
                return "converged", u
            moves, memory = steer(jnp.asarray(slope), memory, jnp.asarray(u))
            moves = np.where(held, 0.0, np.nan_to_num(np.asarray(moves)))
            moves = moves if moves @ slope < 0 else -slope
            moves = moves * min(1.0, LONGEST / np.max(np.abs(moves)))
            for _ in range(SHORTER):
                trial = np.clip(u + moves, 0.0, 1.0)
                new = yield trial
                fall = float(new.objective - sample.objective) / size
                if new.usable and fall >= -ARMIJO * (slope @ (trial - u)):
                    break
                moves = 0.3 * moves
            else:
                return "stuck", u
            u, sample = trial, new

    return from_starts(run, rng, begin, lanes)
