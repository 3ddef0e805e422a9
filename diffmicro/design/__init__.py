"""Design by gradients: free variables within bounds, an objective, constraints, an optax loop.

`device_problem` states a problem about a device, `optimize_design` solves it, `random_search` is
what it has to beat. `parse_free` and `parse_constraint` read the command line's words.
"""

from diffmicro.design.devices import device_problem
from diffmicro.design.loop import optimize_design
from diffmicro.design.pareto import pareto_front
from diffmicro.design.points import Point, points_problem
from diffmicro.design.problem import (
    Constraint,
    Objective,
    Problem,
    Quantity,
    Step,
    Variable,
    function_problem,
)
from diffmicro.design.result import Result
from diffmicro.design.robust import Spread, Tolerance, robust_problem, spread, yield_estimate
from diffmicro.design.search import random_search
from diffmicro.design.study import Study, run_study, summary
from diffmicro.design.words import parse_common, parse_constraint, parse_free, parse_tolerance

__all__ = [
    "Constraint",
    "Objective",
    "Point",
    "Problem",
    "Quantity",
    "Result",
    "Spread",
    "Step",
    "Study",
    "Tolerance",
    "Variable",
    "device_problem",
    "function_problem",
    "optimize_design",
    "parse_common",
    "parse_constraint",
    "parse_free",
    "parse_tolerance",
    "pareto_front",
    "points_problem",
    "random_search",
    "robust_problem",
    "run_study",
    "spread",
    "summary",
    "yield_estimate",
]
