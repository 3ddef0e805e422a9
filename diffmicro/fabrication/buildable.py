"""The best design of which a share of the parts is good: `buildable`, the yield as a constraint of a search.

A count of parts has no slope, and counting within a search costs thousands of calculations a step. So the two are
taken apart, as sequential optimization and reliability assessment does (Du and Chen 2004): a search sees limits
that keep a reserve, its optimum's parts are counted, and the reserves are set anew. The reserve of a limit is what
the worst part within `index` deviations loses of it (`reserves`). Motions that are lost violate no limit: where
they are among the causes, the margin to the end that is nearest in deviations becomes a limit too. The index
begins at the quantile of the wanted yield, exact for one linear limit; then it is corrected by how far a count and
the slopes differ.

Rules of a process (`design.ruled`) are about the drawing: every search keeps them as they are, without a reserve,
and no part is judged by them.

A design counts when the lower end of the interval at 95 % of its yield is at least the wanted share, for parts
that decided about nothing. Left out: designs at which the limits are kept in spite of a bad drawing.
"""

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from diffmicro.boundary.margin import margin_key
from diffmicro.design.loop import optimize_design
from diffmicro.design.problem import Constraint, Place, Problem
from diffmicro.design.problem import number as shown_number
from diffmicro.design.result import Result
from diffmicro.design.ruled import of_parts
from diffmicro.design.shown import said_of
from diffmicro.fabrication.reserves import Worst, nearest_cliff, worst
from diffmicro.fabrication.scatter import Scatter, scatter
from diffmicro.fabrication.tolerances import tolerances
from diffmicro.fabrication.yields import Yield
from diffmicro.parameters import Value, idle, whole_number
from diffmicro.results import NoResult
from diffmicro.sweep.cluster import Processes
from diffmicro.tolerance import Tolerance

ROUNDS = 8
"""Searches at most, each followed by a count."""

LATER = 32
"""Evaluations of a search that begins where the one before ended."""

DECIDING = 4
"""The count that decides takes this share of the parts that confirm."""

JUMP = 0.6
"""Most by which one count moves the index [deviations]."""

TOO_GOOD = 0.25
"""Index by which a yield may be better than wanted [deviations]: 97.1 % where 95 % is wanted."""

Deviating = Sequence[Tolerance] | Callable[[PyTree], Sequence[Tolerance]]
"""How parts deviate, or how those of a design do: what an etch moves depends on it."""


class Round(NamedTuple):
    """One search and its count. index: deviations that limits were to bear. reserves: by constraint, as it was
    stated. counted: parts that decided. confirmed: parts that decided about nothing; None where those missed."""

    index: float
    reserves: dict[str, Worst]
    result: Result
    counted: Yield
    confirmed: Yield | None


class Buildable(NamedTuple):
    """status: of a search (`design.ending`); `ok` and `stopped` only where the wanted yield was confirmed.

    wanted: share. result: of the round that is handed back; its problem has the limits with their reserves.
    limits: as they were stated, margins that were added among them. parts: the yield of the design.
    """

    status: str
    reason: str
    wanted: float
    result: Result
    limits: tuple[Constraint, ...]
    parts: Yield
    rounds: tuple[Round, ...]

    @property
    def evaluations(self) -> int:
        return sum(one.result.evaluations for one in self.rounds)


def buildable(
    problem: Problem,
    wanted: float = 0.95,
    deviating: Deviating | None = None,
    *,
    reserved: bool = False,
    around: float = 0.1,
    parts: int = 2000,
    rounds: int = ROUNDS,
    seed: int = 0,
    budget: int = 148,
    progress: bool = True,
    out: Path | None = None,
    resume: bool = False,
    processes: Processes | None = None,
    **options: Value,
) -> Buildable:
    """The best design of which at least `wanted` of the parts are good, in `rounds` searches.

    deviating: how parts deviate, or a function of the design that says so; the device's process by default.
    reserved: the first search keeps reserves already, those of the start. around: share of the box by which a
    search that keeps a margin moves a variable: further away lie motions with other margins. parts: that confirm
    the result. budget, options: of the first search; see `optimize_design`. out: folder; each round has one of its
    own in it. processes: that share the evaluations and the parts, from `sweep.processes`.
    """
    place = _only_point(problem)
    by: Deviating = place.device.process if deviating is None else deviating
    if not 0 < wanted < 1:
        raise ValueError(f"buildable: a yield of {wanted} is not between 0 and 1.")
    parts = whole_number("buildable: parts", parts, None, 200, 10**6)
    rounds = whole_number("buildable: rounds", rounds, None, 1)
    at = {v.name: v.start for v in problem.variables}
    plan = _Plan(of_parts(problem.constraints), _index(_hoped(wanted, parts)), {}, at, around)
    if reserved:
        plan = plan._replace(reserves=_reserves(problem, plan, by))
    done: list[Round] = []
    for turn in range(rounds):
        own = options if not done else {"method": _method_after(done[-1].result), "lanes": 1}
        folder = None if out is None else out / f"round_{turn + 1}"
        result = optimize_design(
            _keeping(problem, plan), budget=min(budget, LATER) if done else budget, seed=seed,
            progress=progress, out=folder, resume=resume and folder is not None and folder.is_dir(),
            processes=processes, **own,
        )  # fmt: skip
        counted = (wanted, parts, 10 * seed + turn, processes)
        counts = _counts(result, plan.limits, by, *counted)
        done.append(Round(plan.index, plan.reserves, result, *counts))
        if progress:
            print(f"round {turn + 1}: {_line(done[-1])}", file=sys.stderr, flush=True)
        if result.status == "interrupted" or _enough(done[-1], wanted):
            break
        plan = _corrected(problem, plan, done[-1], by, wanted, parts)
    return _chosen(problem, wanted, plan.limits, done)


class _Plan(NamedTuple):
    """What the next search keeps. at: where it begins. around: share of the box that it may go."""

    limits: tuple[Constraint, ...]
    index: float
    reserves: dict[str, Worst]
    at: Mapping[str, float]
    around: float

    @property
    def local(self) -> bool:
        """Whether there are cliffs that a search could jump behind."""
        return bool(self.reserves) and any(margin_key(limit.response) for limit in self.limits)


def _enough(one: Round, wanted: float) -> bool:
    """Whether the yield is confirmed, and less of it would be no gain worth a search."""
    if one.confirmed is None:
        return False
    spare = _index_of(one.confirmed.low, one.confirmed.parts) - _index(wanted)
    held = any(c["binds"] and "rule" not in c for c in one.result.constraints.values())
    return spare >= 0 and (spare < TOO_GOOD or not held)


def _corrected(
    problem: Problem,
    plan: _Plan,
    one: Round,
    deviating: Deviating,
    wanted: float,
    parts: int,
) -> _Plan:
    """The next plan: reserves by the slopes where this search ended, and an index that the count corrects."""
    around = plan.around
    if plan.local and not one.result.feasible:
        around *= 2  # what keeps the reserves lies further away
    limits = _with_margin(one.result, plan.limits, deviating, one.counted, 1 - wanted)
    after = plan._replace(limits=limits, at=one.result.variables, around=around)
    found = _reserves(problem, after, deviating)
    if not found or not plan.reserves or not one.result.feasible:
        return after._replace(reserves=found or plan.reserves)
    share = (one.confirmed or one.counted).share
    missed = _borne(one.result, limits, found, plan.index) - _index_of(share, parts)
    aim = _index(_hoped(wanted, parts)) + missed
    index = max(plan.index + float(np.clip(aim - plan.index, -JUMP, JUMP)), 0.0)
    grown = {n: kept._replace(loss=kept.loss * index / plan.index) for n, kept in found.items()}
    return after._replace(index=index, reserves=grown)


def _only_point(problem: Problem) -> Place:
    """The operating point of a problem that a yield can be counted for."""
    places = problem.places({v.name: v.start for v in problem.variables})
    if len(places) != 1 or problem.under is None:
        raise ValueError(
            "buildable: a yield is counted for one operating point of a device; state the problem by "
            "device_problem, and without robust measures."
        )
    (place,) = places
    for limit in of_parts(problem.constraints):
        if limit.response not in place.device.responses and margin_key(limit.response) is None:
            raise ValueError(
                f"buildable: {limit} is no limit of a response or a margin; parts cannot be judged by it."
            )
    return place


def _hoped(wanted: float, parts: int) -> float:
    """The yield whose interval, by this many parts, begins where the wanted one is."""
    half = 2 * float(np.sqrt(wanted * (1 - wanted) / parts))
    return min(wanted + half, (1 + wanted) / 2)


def _borne(
    result: Result, limits: Sequence[Constraint], reserves: Mapping[str, Worst], index: float
) -> float:
    """Deviations that a design bears by its slopes: those of the limit that bears the fewest."""
    borne = []
    for limit in limits:
        lost, value = reserves[str(limit)].loss if str(limit) in reserves else 0.0, np.nan
        if limit.response in result.optimized.response:
            value = shown_number(result.optimized.response[limit.response])
        if lost > 0 and np.isfinite(value):
            of = dataclasses.replace(limit, bound=0.0) if margin_key(limit.response) else limit
            borne.append(index * float(of.slack(value)) / lost)
    return min(borne, default=index)


def _index_of(share: float, parts: int) -> float:
    """The index of a counted share, which cannot tell one from all but one."""
    return _index(float(np.clip(share, 1 / parts, 1 - 1 / parts)))


def _index(share: float) -> float:
    """Deviations that this share of a normal distribution lies below."""
    from scipy import special  # when it is first used: its import adds a filter to `warnings`

    return float(special.ndtri(share))


def _spread(problem: Problem, at: Mapping[str, float], deviating: Deviating) -> Scatter:
    (place,) = problem.places(at)
    return scatter(place.device, place.design, place.setting, _of(deviating, place.design))


def _of(deviating: Deviating, design: PyTree) -> tuple[Tolerance, ...]:
    """How parts of this design deviate."""
    return tuple(deviating(design) if callable(deviating) else deviating)


def _reserves(problem: Problem, plan: _Plan, deviating: Deviating) -> dict[str, Worst]:
    """The reserve of each limit where the next search begins; none where nothing moves there."""
    (place,) = problem.places(plan.at)
    spread = _spread(problem, plan.at, deviating)
    try:
        return {str(c): worst(place.device, spread, c, plan.index) for c in plan.limits}
    except NoResult:
        return {}


def _keeping(problem: Problem, plan: _Plan) -> Problem:
    """The problem from here on: its limits with their reserves, its variables near where they are."""
    assert problem.under is not None
    bounds = []
    for limit in plan.limits:
        loss = plan.reserves[str(limit)].loss if str(limit) in plan.reserves else 0.0
        bound = limit.bound + (loss if limit.sense == ">=" else -loss)
        if margin_key(limit.response) is not None:  # parts are lost where it is zero
            bound = max(limit.bound, loss)
        bounds.append(dataclasses.replace(limit, bound=bound))
    variables = tuple(dataclasses.replace(v, start=plan.at[v.name]) for v in problem.variables)
    if plan.local:
        u = dataclasses.replace(problem, variables=variables).start
        steps = (np.clip(u + s * plan.around, 0, 1) for s in (-1, 1))
        ends = zip(*(np.asarray(problem.point(jnp.asarray(step))) for step in steps), strict=True)
        variables = tuple(
            dataclasses.replace(v, low=float(low), high=float(high))
            for v, (low, high) in zip(variables, ends, strict=True)
        )
    known = problem.under(bounds)
    about = {**problem.about, **known.about, "limits": [str(limit) for limit in plan.limits]}
    return dataclasses.replace(known, variables=variables, about=about)


def _method_after(result: Result) -> str:
    """Reserves make cliffs smooth; what has no gradients to trust keeps its method."""
    return "sqp" if result.method == "climb" else result.method


def _counts(
    result: Result,
    limits: Sequence[Constraint],
    deviating: Deviating,
    wanted: float,
    parts: int,
    seed: int,
    processes: Processes | None,
) -> tuple[Yield, Yield | None]:
    """The count that decides, and, where it is good enough, the one that confirms."""
    (place,) = result.problem.places(result.variables)
    own = [limit for limit in limits if margin_key(limit.response) is None]
    spread = _of(deviating, place.design)

    def count(number: int, seed: int) -> Yield:
        return tolerances(
            place.device, spread, own, design=place.design, setting=place.setting,
            parts=number, seed=seed, gradients=False, processes=processes,
        )  # fmt: skip

    counted = count(max(parts // DECIDING, 200), 2 * seed + 1)
    return counted, count(parts, 2 * seed + 2) if counted.share >= wanted else None


def _with_margin(
    result: Result,
    limits: tuple[Constraint, ...],
    deviating: Deviating,
    counted: Yield,
    allowed: float,
) -> tuple[Constraint, ...]:
    """With the margin to the nearest end as a limit, where more motions are lost than bad parts are allowed."""
    named = {str(limit) for limit in limits}
    lost = sum(share for cause, share in counted.causes.items() if cause not in named)
    if lost < allowed / 2 or any(margin_key(limit.response) for limit in limits):
        return limits
    (place,) = result.problem.places(result.variables)
    spread = _spread(result.problem, result.variables, deviating)
    keys = [
        key
        for key in dict.fromkeys((*place.device.drive, *spread.fields))
        if not idle(place.design, place.setting, key)
    ]
    name = nearest_cliff(place.device, spread, keys)
    return limits if name is None else (*limits, Constraint(name, ">=", 0.0))


def _chosen(
    problem: Problem, wanted: float, limits: tuple[Constraint, ...], done: list[Round]
) -> Buildable:
    """The best confirmed round, or the one with the best yield, and what can be said of it."""

    def good(one: Round) -> bool:
        return one.confirmed is not None and one.confirmed.low >= wanted and one.result.feasible

    confirmed = [one for one in done if good(one)]
    if confirmed:
        best = max(confirmed, key=lambda one: problem.gain(one.result.optimized))
    else:
        best = max(done, key=lambda one: (one.confirmed or one.counted).low)
    parts, result = best.confirmed or best.counted, best.result
    share = (
        f"{100 * parts.share:.4g} % of {parts.parts} parts are good "
        f"({100 * parts.low:.4g} to {100 * parts.high:.4g})"
    )
    status, why = result.status, f"{share}, the lower end at least {100 * wanted:g} %"
    cut = _cut(problem, result)
    if not confirmed:
        status = "not_converged"
        why = f"No design was found of which {100 * wanted:g} % are certain to be good: {share}"
    elif status == "not_converged" or (status == "ok" and cut):
        status = (
            "stopped"  # it is no better than where the last search began, or went as far as it may
        )
    if cut:
        why += f". The last search stopped where {', '.join(cut)} had gone as far as one search may"
    status = "interrupted" if done[-1].result.status == "interrupted" else status
    turn = next(i for i, one in enumerate(done, 1) if one.result is result)
    began = "your start" if turn == 1 else f"the design of round {turn - 1}"
    why += f". The search of round {turn}, where the start is {began}: {result.reason}"
    return Buildable(status, why, wanted, result, limits, parts, tuple(done))


def _cut(problem: Problem, result: Result) -> list[str]:
    """Variables that are held by a bound of their search, and not of the problem."""
    own = {v.name: (v.low, v.high) for v in problem.variables}
    held = {name: known["bound"] for name, known in result.bounds.items()}
    return [n for n, bound in held.items() if not np.any(np.isclose(bound, own[n], rtol=1e-9))]


def _line(one: Round) -> str:
    known, problem = one.confirmed or one.counted, one.result.problem
    objective = problem.objective.response
    value = shown_number(one.result.optimized.response[objective])
    return (
        f"{objective} {said_of(problem, objective, value, 5)}, limits with a reserve for {one.index:.3g} standard "
        f"deviations, {100 * known.share:.4g} % of {known.parts} parts good"
    )
