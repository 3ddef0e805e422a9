"""Complementarity problems and their solvers: arrays in, arrays out, without robots or time."""

from diffmicro.nonsmooth.closed_form import (
    normal_and_friction,
    one_unknown,
    solve_closed_form,
    two_unknowns,
)
from diffmicro.nonsmooth.implicit import with_implicit_derivative
from diffmicro.nonsmooth.newton import solve_newton
from diffmicro.nonsmooth.problems import (
    BoxComplementarity,
    Complementarity,
    LinearComplementarity,
    Solution,
    barrier,
    margin,
    residual,
)
from diffmicro.nonsmooth.smoothed import solve_smoothed

__all__ = [
    "BoxComplementarity",
    "Complementarity",
    "LinearComplementarity",
    "Solution",
    "barrier",
    "margin",
    "normal_and_friction",
    "one_unknown",
    "residual",
    "solve_closed_form",
    "solve_newton",
    "solve_smoothed",
    "two_unknowns",
    "with_implicit_derivative",
]
