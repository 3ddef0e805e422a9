"""Value and gradient of hybrid motions in several tools, beside the truth: errors and times.

The motions and their truth are in `peers/problems.py`; the tools in files of their own beside it. diffrax comes
with the extra `peers`. Jaxonomy holds JAX at 0.9 and needs an environment of its own: `pip install jaxonomy
diffrax` beside diffmicro, without `constraints.txt`. A tool that is not installed is left out, and a line says
so.

Errors of values are absolute (values are 0.01 to 2), those of gradients relative, |dg| / |g|. Times are of
value and gradient together, one point at a time, compiled, in turn.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from benchmarks.peers import ours, stepper
from benchmarks.peers.problems import PROBLEMS, Problem
from benchmarks.timing import in_turn, table


class Tool(NamedTuple):
    """One way to a gradient. both: point -> (value, gradient), by the name of the problem."""

    name: str
    both: dict[str, Callable[[Array], tuple[Array, Array]]]


def forward(value: Callable[[Array], Array]) -> Callable[[Array], tuple[Array, Array]]:
    """Value and gradient by forward mode."""

    def both(point: Array) -> tuple[Array, Array]:
        def twice(point: Array) -> tuple[Array, Array]:
            found = value(point)
            return found, found

        gradient, found = jax.jacfwd(twice, has_aux=True)(point)
        return found, gradient

    return both


def differences(value: Callable[[Array], Array], step: float) -> Callable:
    """Value and central differences, one point after the other."""

    def both(point: Array) -> tuple[Array, Array]:
        offsets = step * jnp.eye(point.size)
        both_sides = jnp.concatenate([point[None] + offsets, point[None] - offsets])
        ends = jax.lax.map(value, both_sides)
        return value(point), (ends[: point.size] - ends[point.size :]) / (2 * step)

    return both


def tools() -> Iterator[Tool]:
    """All that is installed here."""

    def each(name: str, how: Callable, cases: dict[str, Callable]) -> Tool:
        return Tool(name, {key: jax.jit(how(value)) for key, value in cases.items()})

    yield each("diffmicro, forward", forward, ours.cases(1e-9))
    yield each("diffmicro, tolerance 1e-12", forward, ours.cases(1e-12))
    if find_spec("diffrax"):
        from benchmarks.peers import in_diffrax

        yield each("diffrax event, forward", forward, in_diffrax.cases(0.1))
        yield each("diffrax event, steps to 0.005", forward, in_diffrax.cases(5e-3))
    if find_spec("jaxonomy"):
        from benchmarks.peers import in_jaxonomy

        yield each("Jaxonomy, reverse", jax.value_and_grad, in_jaxonomy.cases(0.1))
        yield each("Jaxonomy, steps to 0.005", jax.value_and_grad, in_jaxonomy.cases(5e-3))
    yield each("autodiff of 10 000 time steps", jax.value_and_grad, stepper.cases(10_000))
    for step in (1e-6, 1e-3):
        name = f"differences of 10 000 time steps, h {step:.0e}"
        yield each(name, lambda f, h=step: differences(f, h), stepper.cases(10_000))
    yield each("differences of diffmicro, h 1e-4", lambda f: differences(f, 1e-4), ours.cases(1e-9))


class Row(NamedTuple):
    """One tool on one motion: errors of value and gradient, and seconds."""

    value: float
    gradient: float
    seconds: float


def compared(problem: Problem, each: list[Tool]) -> dict[str, Row]:
    """What each tool makes of one motion."""
    point = jnp.array(problem.point)
    value, gradient = problem.answer()
    answers, calls = {}, {}
    for tool in each:
        both = tool.both[problem.name]
        answers[tool.name] = jax.tree.map(np.asarray, both(point))
        calls[tool.name] = lambda both=both: jax.block_until_ready(both(point))
    seconds = in_turn(calls, rounds=5)
    rows = {}
    for name, (found, slopes) in answers.items():
        off = np.linalg.norm(slopes - gradient) / np.linalg.norm(gradient)
        rows[name] = Row(abs(float(found) - value), float(off), seconds[name])
    return rows


def run() -> list[str]:
    """Lines of the tables."""
    each = list(tools())
    found = {problem.name: compared(problem, each) for problem in PROBLEMS}
    heads = ["gradient error, ms", *found]

    def cell(row: Row) -> str:
        error = f"{row.gradient:.0e}" if row.gradient < 0.095 else f"{row.gradient:.2g}"
        return f"{error}, {1e3 * row.seconds:.2g}"

    lines = table(heads, [[t.name, *(cell(rows[t.name]) for rows in found.values())] for t in each])
    heads = ["value error", *found]
    values = [[t.name, *(f"{rows[t.name].value:.0e}" for rows in found.values())] for t in each]
    absent = [name for name in ("diffrax", "jaxonomy") if not find_spec(name)]
    remark = [f"JAX {jax.__version__}."] + [f"{name} is not installed here." for name in absent]
    return [*lines, "", *table(heads, values), "", " ".join(remark)]
