"""Methods beside each other on the studies: evaluations until within 0.1 % of the best known, time, failures.

Every method gets the study's own problem, compiled once, its start, and evaluations of value, gradient and
constraints together; a point that it visits twice counts once. The best known is the best that any of them
found, several starts of `sqp` included. `local`: it ended at another optimum, and the number is until within 0.1
% of that. SLSQP and MMA of NLopt and IPOPT stand beside where the packages nlopt and cyipopt are installed
(extra `peers`). CMA-ES gets ten times the evaluations of `sqp` from its several starts, and does without
gradients.
"""

import time
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from benchmarks.timing import table
from diffmicro.design.ending import conditions, optimal
from diffmicro.design.loop import METHODS
from diffmicro.design.problem import Problem, Sample
from diffmicro.design.run import Run, Spent, compiled

STUDIES = (
    "gripper_rotation",
    "gripper_workspace",
    "gripper_grip",
    "stickslip_force",
    "tumbler_climb",
    "tumbler_outline",
    "legs_height",
    "wrmma_speed",
)
SMOOTH = STUDIES[:7]
"""Those without cliffs near the optimum."""

BUDGET, SEVERAL, TIMES = 150, 300, 10
"""Evaluations from one start, from several, and those of CMA-ES for each of the latter."""

CLOSE = 1e-3
"""Share of the best known that may be missed."""


class Course(NamedTuple):
    """What a method did. gains: best feasible gain so far, an entry an evaluation. optimal: whether it ended at an
    optimum. failure: what it raised."""

    gains: np.ndarray
    optimal: bool
    seconds: float
    failure: str


def course(problem: Problem, search: Callable[[Run], object], budget: int) -> Course:
    """The course of a search, with the samples that it asked for."""
    began, failure = time.perf_counter(), ""
    with Run(problem, budget) as run, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            search(run)
        except Spent:
            pass
        except (RuntimeError, ArithmeticError, ValueError) as raised:
            failure = type(raised).__name__
    seconds = time.perf_counter() - began
    gains = [float(s.objective) if problem.feasible(s) else -np.inf for s in run.samples]
    best = int(np.argmax(gains))
    sample = run.samples[best]
    known = np.all(np.isfinite(sample.gradient)) and np.isfinite(gains[best])
    ended = bool(known) and optimal(
        run, sample, conditions(run, run.trials[best], sample).remainder
    )
    return Course(np.maximum.accumulate(gains), ended, seconds, failure)


def own(name: str, lanes: int | None) -> Callable[[Run], object]:
    """A method of the library; climb and cma have lanes of their own."""
    options = {} if name in ("climb", "cma") else {"lanes": lanes}
    return lambda run: METHODS[name](run, np.random.default_rng(0), **options)


class Terms:
    """Costs and limits of a problem, in units of the start's, for a library that asks for them one by one."""

    def __init__(self, run: Run):
        self.run, self.known = run, {}
        first = self.sample(run.problem.start)
        self.unit = max(abs(float(first.objective)), float(np.linalg.norm(first.gradient)))

    def sample(self, x: np.ndarray) -> Sample:
        u = np.clip(np.asarray(x, float), 0, 1)
        if u.tobytes() not in self.known:
            (self.known[u.tobytes()],) = self.run.ask(u[None, :])
        return self.known[u.tobytes()]

    def cost(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        sample = self.sample(x)
        return -float(sample.objective) / self.unit, -sample.gradient / self.unit

    def limits(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """At least zero where they hold."""
        sample, scales = self.sample(x), self.run.problem.scales
        return sample.slacks / scales, sample.slack_gradients / scales[:, None]


def nlopt_by(algorithm: str) -> Callable[[Run], object]:
    def search(run: Run) -> None:
        nlopt = import_module("nlopt")
        terms, n = Terms(run), len(run.problem.start)
        optimizer = nlopt.opt(getattr(nlopt, algorithm), n)

        def cost(x, gradient):
            value, slope = terms.cost(x)
            if gradient.size:
                gradient[:] = slope
            return value

        def limits(result, x, gradient):
            slacks, rows = terms.limits(x)
            if gradient.size:
                gradient[:] = -rows
            result[:] = -slacks

        optimizer.set_min_objective(cost)
        if run.problem.constraints:
            optimizer.add_inequality_mconstraint(
                limits, np.full(len(run.problem.constraints), 1e-8)
            )
        optimizer.set_lower_bounds(0.0)
        optimizer.set_upper_bounds(1.0)
        optimizer.set_xtol_abs(1e-7)
        optimizer.set_maxeval(BUDGET)
        optimizer.optimize(run.problem.start)

    return search


def ipopt(run: Run) -> None:
    cyipopt, terms = import_module("cyipopt"), Terms(run)
    limits = {
        "type": "ineq",
        "fun": lambda x: terms.limits(x)[0],
        "jac": lambda x: terms.limits(x)[1],
    }
    cyipopt.minimize_ipopt(
        lambda x: terms.cost(x)[0],
        run.problem.start,
        jac=lambda x: terms.cost(x)[1],
        bounds=[(0.0, 1.0)] * len(run.problem.start),
        constraints=[limits] if run.problem.constraints else [],
        options={"maxiter": BUDGET, "hessian_approximation": "limited-memory"},
    )


def searches() -> dict[str, tuple[Callable[[Run], object], int]]:
    """Methods and their budgets."""
    found = {
        "sqp, several starts": (own("sqp", None), SEVERAL),
        "sqp": (own("sqp", 1), BUDGET),
        "slsqp (SciPy)": (own("slsqp", 1), BUDGET),
        "climb": (own("climb", None), BUDGET),
    }
    if find_spec("nlopt"):
        found["NLopt SLSQP"] = (nlopt_by("LD_SLSQP"), BUDGET)
        found["NLopt MMA"] = (nlopt_by("LD_MMA"), BUDGET)
    if find_spec("cyipopt"):
        found["IPOPT"] = (ipopt, BUDGET)
    return found


def study_courses(name: str) -> tuple[Problem, dict[str, Course]]:
    problem = import_module(f"optimize.{name}").STUDY.problem()
    compiled(problem)(problem.start[None, :])
    courses = {title: course(problem, *given) for title, given in searches().items()}
    if find_spec("cma"):
        several = len(courses["sqp, several starts"].gains)
        courses["cma"] = course(problem, own("cma", None), TIMES * several)
    return problem, courses


def until(gains: np.ndarray, best: float) -> int | None:
    """Evaluations until a feasible gain is within `CLOSE` of the best."""
    there = np.flatnonzero(gains >= best - CLOSE * abs(best))
    return int(there[0]) + 1 if len(there) else None


def cell(known: Course, best: float) -> str:
    """Evaluations and seconds of one method on one study."""
    if known.failure:
        return f"{known.failure}"
    count = until(known.gains, best)
    local = "" if count else " local"
    if count is None and known.optimal:
        count = until(known.gains, known.gains[-1])
    return f"{count}{local}, {known.seconds:.1f} s" if count else "-"


def run() -> list[str]:
    """One row a method, one column a study, and how often it did not come to the best known."""
    columns, shown, bests = {}, [], []
    for name in STUDIES:
        problem, courses = study_courses(name)
        best = max(float(c.gains[-1]) for c in courses.values())
        columns[name] = {title: cell(c, best) for title, c in courses.items()}
        bests.append(f"{problem.objective.shown(best):.5g}")
        shown = list(courses)
        print(f"{name}: best known {bests[-1]}", flush=True)
    rows = [["best known", *bests, ""]]
    for title in shown:
        cells = [columns[name][title] for name in STUDIES]
        missed = sum(not text[0].isdigit() or "local" in text for text in cells)
        rows.append([title, *cells, str(missed)])
    sums = [
        f"{title} {sum(int(columns[n][title].split(',')[0].split()[0]) for n in SMOOTH)}"
        for title in shown
        if all(columns[n][title][0].isdigit() for n in SMOOTH)
    ]
    heads = ["method", *STUDIES, "not at the best"]
    return [*table(heads, rows), "", f"The seven smooth studies together: {', '.join(sums)}."]
