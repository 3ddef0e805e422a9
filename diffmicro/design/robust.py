"""Fabrication never hits the drawing: designs that stay good when their dimensions deviate.

A `Tolerance` says how a variable deviates: normal with a standard deviation, or anywhere in an interval.
`robust_problem` replaces objective and constraints of a problem by their mean, a quantile, or the worst of
fixed quasi-random nodes around the design, with gradients; fixed nodes make that an ordinary smooth problem.
`spread` compares nodes with linearization, `yield_estimate` counts good parts among random ones.

Nodes: the additive recurrence of Roberts in n dimensions, mirrored, so that linear responses have an exact
mean. Deviations may be correlated (normal ones), or come from one cause (`Tolerance.moves`). Left out: deviations
that are not additive.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import ndtri
from jax.typing import ArrayLike

from diffmicro._types import Tree
from diffmicro.design.problem import Evaluated, Finished, Problem, number, responses_of
from diffmicro.design.starts import evenly
from diffmicro.parameters import whole_number
from diffmicro.sweep.cluster import Processes
from diffmicro.tolerance import Tolerance, share_interval

Measure = Literal["mean", "quantile", "worst"]

CHUNK = 512
"""Draws of a yield estimate in one batched call."""


class Deviations(NamedTuple):
    """Nodes around a design: each row one part, in units of the tolerances."""

    tolerances: tuple[Tolerance, ...]
    rows: np.ndarray

    def at(self, x: dict[str, Array], row: Array | np.ndarray) -> dict[str, Array]:
        """The values of one deviating part."""
        moved = dict(x)
        for tolerance, deviation in zip(self.tolerances, row, strict=True):
            for name, share in tolerance.moves:
                size = tolerance.size * share * (x[name] if tolerance.relative else 1.0)
                moved[name] = moved[name] + size * deviation
        return moved


def deviations(
    tolerances: Sequence[Tolerance],
    count: int,
    correlation: ArrayLike | Sequence[Sequence[float]] | None = None,
    *,
    draws: ArrayLike | None = None,
) -> Deviations:
    """`count` quasi-random nodes (an even number), or as many as `draws` has rows of uniform numbers."""
    tolerances = tuple(tolerances)
    n = len(tolerances)
    if not n:
        raise ValueError("robust: give at least one tolerance.")
    count = whole_number("robust: nodes", count, None, 2)
    given = [tolerance.variable for tolerance in tolerances]
    for name in given:
        if given.count(name) > 1:
            raise ValueError(f"robust: the tolerance of {name} is given twice; give one.")
    uniform = evenly((count + 1) // 2, n) if draws is None else np.asarray(draws)
    kinds = np.array([tolerance.kind == "normal" for tolerance in tolerances])
    rows = np.where(kinds[None, :], np.asarray(ndtri(jnp.asarray(uniform))), 2 * uniform - 1)
    if draws is None:
        rows = np.concatenate([rows, -rows])
    if correlation is not None:
        matrix = np.asarray(correlation, float)
        if not kinds.all():
            raise ValueError("robust: only normal deviations can be correlated.")
        if (
            matrix.shape != (n, n)
            or not np.allclose(np.diag(matrix), 1)
            or not np.allclose(matrix, matrix.T)
        ):
            raise ValueError(
                f"robust: correlation has to be a symmetric {n} x {n} matrix of unit diagonal."
            )
        try:
            rows = rows @ np.linalg.cholesky(matrix).T
        except np.linalg.LinAlgError:
            raise ValueError("robust: correlation is not positive definite.") from None
    return Deviations(tolerances, rows)


def robust_problem(
    problem: Problem,
    tolerances: Sequence[Tolerance],
    measure: Measure = "mean",
    *,
    nodes: int = 16,
    quantile: float = 0.1,
    correlation: ArrayLike | Sequence[Sequence[float]] | None = None,
    held: Sequence[str] = (),
) -> Problem:
    """The problem with objective and constraints as `measure` of deviating parts.

    quantile: share of parts that may be worse. held: variables that deviate but are not to be chosen.
    Bounds hold for the drawing; parts deviate beyond them. What the report shows is the undisturbed design, but
    its status is not ok unless that of every part is.
    """
    if measure not in ("mean", "quantile", "worst"):
        raise ValueError(f"robust_problem: measure {measure!r} is not mean, quantile or worst.")
    if not 0 < quantile < 1:
        raise ValueError(f"robust_problem: quantile {quantile} has to be between 0 and 1.")
    _check_known(problem, tolerances)
    parts = deviations(tolerances, nodes, correlation)
    fixed = {v.name: v.start for v in problem.variables if v.name in held}
    free = tuple(v for v in problem.variables if v.name not in held)
    kept = [i for i, v in enumerate(problem.variables) if v.name not in held]
    signs = [1.0 if problem.objective.goal == "maximize" else -1.0]
    if problem.objective.goal == "target":
        raise ValueError(
            "robust_problem: a target has no worse side; maximize or minimize instead."
        )
    signs += [1.0 if c.sense == ">=" else -1.0 for c in problem.constraints]

    made = _Robust(
        problem, parts, fixed, kept, np.array(signs), _by_rank(measure, quantile, len(parts.rows))
    )
    about = {
        **problem.about,
        "tolerances": [vars(t) for t in parts.tolerances],
        "measure": [measure, nodes, quantile, correlation],
        "held": fixed,
    }
    return replace(
        problem,
        variables=free,
        evaluate=made.evaluate,
        values=made.values,
        finish=made.finish,
        several=None if problem.batched else made.several,
        about=about,
        under=None,
        places=lambda x: problem.places({**x, **fixed}),
    )


def _by_rank(measure: Measure, quantile: float, count: int) -> np.ndarray:
    """Weights of the parts in the measure, the worst part first."""
    weights = np.zeros(count)
    if measure == "mean":
        weights[:] = 1.0 / count
    elif measure == "worst":
        weights[0] = 1.0
    else:
        place = quantile * count - 0.5
        first = int(np.clip(math.floor(place), 0, count - 1))
        second, share = min(first + 1, count - 1), float(np.clip(place - first, 0, 1))
        weights[first] += 1 - share
        weights[second] += share
    return weights


@dataclass(frozen=True, eq=False)
class _Robust:
    """How a problem about deviating parts is evaluated.

    fixed: values of variables that deviate but are not chosen. kept: positions of those that are.
    signs: 1 where more is better. by_rank: weights of the parts, the worst first.
    """

    problem: Problem
    parts: Deviations
    fixed: dict[str, float]
    kept: list[int]
    signs: np.ndarray
    by_rank: np.ndarray

    def _whole(self, x: dict[str, Array]) -> dict[str, Array]:
        return {**x, **{name: jnp.asarray(value) for name, value in self.fixed.items()}}

    def _reduced(self, values: Array) -> tuple[Array, Array]:
        """The measure of each column, and the weights of the rows in it."""
        order = jnp.argsort(jnp.asarray(self.signs)[None, :] * values, axis=0)
        ranked = jnp.broadcast_to(jnp.asarray(self.by_rank)[:, None], values.shape)
        columns = jnp.arange(values.shape[1])[None, :]
        weights = jnp.zeros_like(values).at[order, columns].set(ranked)
        return jnp.sum(weights * values, axis=0), weights

    def evaluate(self, x: dict[str, Array]) -> Evaluated:
        """The measures, their Jacobian, whether every part is usable, the worst verdict."""
        if not self.problem.batched:
            return self.several([x])[0]
        x = self._whole(x)

        def one(row: Array) -> Evaluated:
            return self._of_part(row, self.problem.evaluate(self.parts.at(x, row)))

        return self._measured(*_over(one, self.parts.rows))

    def several(
        self, xs: Sequence[dict[str, Array]], processes: Processes | None = None
    ) -> list[Evaluated]:
        """`evaluate` at each place; processes share the parts of all places."""
        rows = [jnp.asarray(row) for row in self.parts.rows]
        moved = [self.parts.at(self._whole(x), row) for x in xs for row in rows]
        found = self.problem.evaluated(moved, processes)
        made = []
        for first in range(0, len(found), len(rows)):
            ended = zip(rows, found[first : first + len(rows)], strict=True)
            of_parts = [self._of_part(row, one) for row, one in ended]
            made.append(self._measured(*jax.tree.map(lambda *x: jnp.stack(x), *of_parts)))
        return made

    def _of_part(self, row: Array, evaluated: Evaluated) -> Evaluated:
        """What was evaluated of a part, by the variables of the drawing."""
        values, jacobian, usable, verdict = evaluated
        names = self.problem.names
        stretch = jnp.ones(len(names))
        for i, tolerance in enumerate(self.parts.tolerances):
            for name, share in tolerance.moves if tolerance.relative else ():
                stretch = stretch.at[names.index(name)].add(tolerance.size * share * row[i])
        return values, jacobian * stretch[None, :], usable, verdict

    def _measured(
        self, values: Array, jacobians: Array, usable: Array, verdicts: Array
    ) -> Evaluated:
        """The measures of all parts."""
        found, weights = self._reduced(values)
        jacobian = jnp.sum(weights[:, :, None] * jacobians, axis=0)
        return found, jacobian[:, jnp.array(self.kept)], jnp.all(usable), jnp.max(verdicts)

    def values(self, x: dict[str, Array]) -> tuple[Array, Array]:
        """The measures without derivatives."""
        x, parts = self._whole(x), self.parts
        found, usable = _over(lambda row: self.problem.values(parts.at(x, row)), parts.rows)
        return self._reduced(found)[0], jnp.all(usable)

    def finish(self, x: dict[str, float]) -> Finished:
        """The undisturbed design, its measures, and the first status of a part that is not ok."""
        problem, parts = self.problem, self.parts
        finished = problem.finish({**x, **self.fixed})
        at = self._whole(jax.tree.map(jnp.asarray, x))
        moved = (parts.at(at, row) for row in parts.rows)
        made = [problem.finish({n: float(v) for n, v in part.items()}) for part in moved]
        named = responses_of(problem.objective, problem.constraints)
        table = jnp.array([[number(part.response[name]) for name in named] for part in made])
        found = np.asarray(self._reduced(table)[0]).tolist()
        shown = {n: v if math.isfinite(v) else None for n, v in zip(named, found, strict=True)}
        drawn = {f"drawn {name}": finished.response[name] for name in shown}
        failed = [end.status for end in (finished, *made) if end.status != "ok"]
        return finished._replace(
            response={**finished.response, **drawn, **shown},
            status=failed[0] if failed else "ok",
        )


def reach(tolerance: Tolerance, value: float) -> tuple[float, float]:
    """Bounds that deviations around a value hardly ever leave."""
    size = tolerance.size * (abs(value) if tolerance.relative else 1.0)
    wide = 6 * size if tolerance.kind == "normal" else size
    if size == 0:
        raise ValueError(
            f"tolerance of {tolerance.variable}: a share of zero is nothing; give an absolute size."
        )
    return value - wide, value + wide


class Spread(NamedTuple):
    """How a response scatters over the parts: by nodes, by linearization, and how far they differ.

    mean, deviation, low, high: by nodes; low and high are quantiles of 2.5 and 97.5 %.
    disagreement: difference of the two standard deviations over the larger one; above some tenths the
    response bends within the tolerance, and only the nodes can be trusted.
    """

    drawn: float
    mean: float
    deviation: float
    low: float
    high: float
    linear_deviation: float
    disagreement: float
    shares: dict[str, float]


def spread(
    problem: Problem,
    x: dict[str, float],
    tolerances: Sequence[Tolerance],
    *,
    nodes: int = 256,
    correlation: ArrayLike | Sequence[Sequence[float]] | None = None,
) -> Spread:
    """Scatter of the objective's response around a design, by nodes and by linearization.

    shares: part of the linear variance that each tolerance brings, without correlation.
    """
    _check_known(problem, tolerances)
    parts = deviations(tolerances, nodes, correlation)
    at = {name: jnp.asarray(value, float) for name, value in x.items()}
    found, usable = _over(lambda row: problem.values(parts.at(at, row)), parts.rows)
    values = np.where(np.asarray(usable), np.asarray(found)[:, 0], np.nan)
    drawn, jacobian, _, _ = problem.evaluate(at)
    steps = []
    for tolerance in parts.tolerances:
        slope = 0.0
        for name, share in tolerance.moves:
            value = x[name] if tolerance.relative else 1.0
            slope += float(jacobian[0][problem.names.index(name)]) * share * value
        size = tolerance.size / (1.0 if tolerance.kind == "normal" else math.sqrt(3.0))
        steps.append(slope * size)
    step = np.array(steps)
    matrix = np.eye(len(step)) if correlation is None else np.asarray(correlation, float)
    linear, by_nodes = float(np.sqrt(step @ matrix @ step)), float(np.std(values))
    larger = max(linear, by_nodes)
    total = float(np.sum(step**2))
    return Spread(
        drawn=float(drawn[0]),
        mean=float(np.mean(values)),
        deviation=by_nodes,
        low=float(np.quantile(values, 0.025)),
        high=float(np.quantile(values, 0.975)),
        linear_deviation=linear,
        disagreement=abs(linear - by_nodes) / larger if larger else 0.0,
        shares={
            t.variable: float(s**2 / total) if total else 0.0
            for t, s in zip(parts.tolerances, step, strict=True)
        },
    )


class Yield(NamedTuple):
    """Share of good parts with its 95 % interval (`share_interval`), and how many were looked at."""

    share: float
    low: float
    high: float
    count: int


def yield_estimate(
    problem: Problem,
    x: dict[str, float],
    tolerances: Sequence[Tolerance],
    *,
    at_least: float | None = None,
    count: int = 2000,
    seed: int = 0,
    correlation: ArrayLike | Sequence[Sequence[float]] | None = None,
) -> Yield:
    """Share of random parts that keep the constraints, and whose gain is `at_least` so much.

    `at_least` is a value of the objective's response: a lower limit when it is maximized, else an upper one.
    A part that cannot be evaluated is a bad one.
    """
    _check_known(problem, tolerances)
    count = whole_number("yield_estimate: count", count, 2000, 2)
    seed = whole_number("yield_estimate: seed", seed, 0, 0)
    draws = np.random.default_rng(seed).uniform(1e-12, 1 - 1e-12, (count, len(tolerances)))
    parts = deviations(tolerances, count, correlation, draws=draws)
    at = {name: jnp.asarray(value, float) for name, value in x.items()}
    found, usable = _over(lambda row: problem.values(parts.at(at, row)), parts.rows)
    good = np.asarray(usable)
    for i, constraint in enumerate(problem.constraints, 1):
        good = good & (np.asarray(constraint.slack(found[:, i])) >= 0)
    if at_least is not None:
        gain = problem.objective.gain
        good = good & (np.asarray(gain(found[:, 0])) >= float(gain(at_least)))
    hits = int(good.sum())
    return Yield(hits / count, *share_interval(hits, count), count)


def _over(function: Callable[[Array], Tree], rows: np.ndarray) -> Tree:
    """`function` of each row, stacked, in chunks of lanes."""
    mapped = jax.jit(jax.vmap(function)) if len(rows) > CHUNK else jax.vmap(function)
    pieces = [mapped(jnp.asarray(rows[i : i + CHUNK])) for i in range(0, len(rows), CHUNK)]
    return jax.tree.map(lambda *x: jnp.concatenate(x), *pieces)


def _check_known(problem: Problem, tolerances: Sequence[Tolerance]) -> None:
    for name in (name for tolerance in tolerances for name, _ in tolerance.moves):
        if name not in problem.names:
            raise ValueError(
                f"robust: {name} is not a variable of the problem; these are: {', '.join(problem.names)}."
            )
