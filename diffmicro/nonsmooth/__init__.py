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
    margin,
    residual,
)

__all__ = [
    "BoxComplementarity",
    "Complementarity",
    "LinearComplementarity",
    "Solution",
    "margin",
    "normal_and_friction",
    "one_unknown",
    "residual",
    "solve_closed_form",
    "solve_newton",
    "two_unknowns",
    "with_implicit_derivative",
]
