"""Derivatives of a root from the condition it fulfills, not from the iterations that found it.

For a root z* of condition(z, inputs) = 0 the implicit function theorem gives

    dz = -(d condition / dz)^-1 (d condition / d inputs) d inputs.

The rule differentiates the root by itself again (`autodiff.rules.known`), so that forward, reverse and higher
derivatives are right (a single Newton correction at the root has a wrong second derivative).
"""

from collections.abc import Callable
from functools import partial

import jax
from jaxtyping import PyTree

from diffmicro._types import Vector
from diffmicro.autodiff.rules import Changes, change_along, known
from diffmicro.nonsmooth.elimination import solve


def with_implicit_derivative(
    condition: Callable[[Vector, PyTree], Vector], root: Vector, inputs: PyTree
) -> Vector:
    """The root, unchanged, as a differentiable function of the inputs.

    `condition(z, inputs)` is a function of module level (no closure over traced values) that
    vanishes at the root. Nothing that `root` was computed from, such as the solver's start, has a
    derivative. Where the condition's Jacobian is singular the derivative is NaN.
    """
    return known(partial(_implicit_rule, condition), root, inputs)


def _implicit_rule(
    condition: Callable[[Vector, PyTree], Vector], root: Vector, inputs: PyTree, changes: Changes
) -> Vector:
    defect = change_along(lambda given: condition(root, given), inputs, changes)
    return -solve(jax.jacfwd(condition)(root, inputs), defect)
