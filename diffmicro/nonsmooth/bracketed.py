"""The root of a rising function of one number between two bounds, differentiable.

Newton's method inside a bracket that shrinks, halving where Newton leaves it: it ends at any continuous
rising function. The derivative is that of the condition (see `implicit`), not of the iterations. Where the
function has no slope at the root the derivative is NaN. Left out: several unknowns (see `newton`).
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from diffmicro import _loops as loops
from diffmicro._types import Count, Flag, Scalar
from diffmicro.nonsmooth.implicit import with_implicit_derivative

ITERATIONS = 80
"""More than enough to halve a bracket down to rounding."""


def rising_root(
    function: Callable[[Scalar, PyTree], Scalar], inputs: PyTree, low: Scalar, high: Scalar
) -> Scalar:
    """z in [low, high] with function(z, inputs) = 0, or the end that is nearest to it.

    `function` is a function of module level that rises with z, best scaled so that it is nearly straight.
    """
    held = jax.lax.stop_gradient(inputs)
    low, high = jax.lax.stop_gradient((low, high))
    precision = 2 * float(jnp.finfo(low.dtype).eps)

    def again(state: tuple[Scalar, Scalar, Scalar, Flag, Count]) -> Flag:
        *_, done, count = state
        return ~done & (count < ITERATIONS)

    def improve(state: tuple[Scalar, Scalar, Scalar, Flag, Count]) -> tuple:
        z, low, high, _, count = state
        height, slope = jax.jvp(lambda z: function(z, held), (z,), (jnp.ones_like(z),))
        low, high = jnp.where(height > 0, low, z), jnp.where(height > 0, z, high)
        onward = z - height / jnp.where(slope == 0, 1.0, slope)
        inside = (onward >= low) & (onward <= high) & (slope > 0)
        new = jnp.where(inside, onward, 0.5 * (low + high))
        return new, low, high, jnp.abs(new - z) <= precision * jnp.abs(new), count + 1

    start = (0.5 * (low + high), low, high, jnp.zeros((), bool), jnp.zeros((), jnp.int32))
    root = loops.while_loop(again, improve, start)[0]

    return with_implicit_derivative(_Condition(function), root[None], inputs)[0]


class _Condition:
    """`function` on vectors of one entry. Equal for equal functions, so that nothing compiles twice."""

    def __init__(self, function: Callable[[Scalar, PyTree], Scalar]):
        self.function = function

    def __call__(self, z: PyTree, inputs: PyTree) -> PyTree:
        return self.function(z[0], inputs)[None]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Condition) and self.function == other.function

    def __hash__(self) -> int:
        return hash(self.function)
