"""Parameters from measurements: least squares, and what the data says about each of them.

Residuals r(p) in units of their standard error are made small by Levenberg-Marquardt (optimistix) in relative
coordinates: p = start (1 + x), or start exp(x) for parameters that are positive. At the end the Jacobian J of
r by x tells what is known: J = U S V^T, covariance (J^T J)^-1. A direction with singular value s is known to
1/s relative; a parameter is identifiable if its relative standard error is below `IDENTIFIABLE`. Directions
that the data does not see have s = 0 and an infinite standard error; no small number is put in their place.

Chaotic motions have no gradient that one run could give. `smoothed` offers the gradient of an average over
nearby parameters instead, from an ensemble with common random numbers (antithetic Gaussian smoothing).

Any residual in JAX will do; for tables of measured points of a device see `identify`.

Left out: priors, errors that are correlated.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx
from jax import Array
from jax.flatten_util import ravel_pytree
from jax.typing import ArrayLike
from jaxtyping import PyTree

from diffmicro.identification.known import covariance_of, singular
from diffmicro.parameters import whole_number
from diffmicro.results import RESULTS, code, from_code

IDENTIFIABLE = 0.2
"""Relative standard error up to which a parameter counts as identified."""

Parameters = Mapping[str, ArrayLike]


class Fit(NamedTuple):
    """Fitted parameters and how well the data knows them; rows and columns as in `names`.

    `misfit`: root mean square of the residual. `steps`: of Levenberg-Marquardt. `spread`: relative standard
    errors, infinite where the data says nothing. `directions`: right singular vectors as rows, by falling
    singular value.
    """

    parameters: dict[str, Array]
    names: list[str]
    misfit: float
    steps: int
    singular_values: np.ndarray
    directions: np.ndarray
    covariance: np.ndarray
    spread: np.ndarray
    identifiable: np.ndarray
    result: RESULTS

    def unknown(self) -> list[str]:
        """The parameters that the data does not identify."""
        return [
            name for name, known in zip(self.names, self.identifiable, strict=True) if not known
        ]


def fit(
    residual: Callable[[dict[str, Array]], Array],
    start: Parameters,
    *,
    positive: Sequence[str] = (),
    tolerance: float = 1e-10,
    max_steps: int = 200,
) -> Fit:
    """The parameters that minimize |residual|^2 from `start`; residuals in units of their standard error.

    Parameters are relative to their start, so none may start at zero. The Jacobian is taken in forward mode.
    """
    max_steps = whole_number("fit: max_steps", max_steps, 200, 1)
    first = {name: jnp.asarray(value, float) for name, value in start.items()}
    zeros = [name for name, value in first.items() if bool(jnp.any(value == 0))]
    if zeros:
        raise ValueError(
            f"fit: {zeros[0]} starts at 0, but parameters are relative to their start. Start from its "
            "expected size, or leave it out."
        )
    blank, unravel = ravel_pytree(jax.tree.map(jnp.zeros_like, first))

    def put(x: Array) -> dict[str, Array]:
        changes = unravel(x)
        return {
            name: value * (jnp.exp(changes[name]) if name in positive else 1.0 + changes[name])
            for name, value in first.items()
        }

    def relative(x: Array, _: object = None) -> Array:
        return residual(put(x))

    found = optx.least_squares(
        relative,
        optx.LevenbergMarquardt(rtol=tolerance, atol=tolerance),
        blank,
        options={"jac": "fwd"},
        max_steps=max_steps,
        throw=False,
    )
    x = found.value
    remaining, jacobian = relative(x), jax.jacfwd(relative)(x)
    # Relative to the value found, not to the start.
    inner = jnp.concatenate(
        [
            jnp.ravel(jnp.ones_like(c) if name in positive else 1.0 + c)
            for name, c in sorted(unravel(x).items())
        ]
    )
    measured = np.asarray(jacobian * inner[None, :])
    values, directions = singular(measured)
    covariance, spread = covariance_of(values, directions)
    good = np.all(np.isfinite(np.asarray(remaining)))
    ended = code(found.result) == code(optx.RESULTS.successful)
    return Fit(
        put(x),
        _names(first),
        float(misfit(remaining)),
        int(found.stats["num_steps"]),
        values,
        directions,
        covariance,
        spread,
        spread < IDENTIFIABLE,
        from_code(np.where(ended & good, code(RESULTS.successful), code(RESULTS.not_converged))),
    )


def misfit(residual: Array) -> Array:
    """Root mean square of a residual: about 1 where a model explains all but the noise."""
    return jnp.sqrt(jnp.mean(residual**2))


def _names(parameters: Mapping[str, Array]) -> list[str]:
    names = []
    for name, value in sorted(parameters.items()):
        sizes = np.shape(value)
        names += [name] if not sizes else [f"{name}[{i + 1}]" for i in range(int(np.prod(sizes)))]
    return names


def response_residual(
    model: Callable[[PyTree], Array], measured: Array, error: Array | float
) -> Callable[[PyTree], Array]:
    """Residual of a complex frequency response `model(parameters)`, real and imaginary parts, over its
    error."""

    def residual(parameters: PyTree) -> Array:
        difference = (model(parameters) - measured) / error
        return jnp.concatenate([jnp.real(difference), jnp.imag(difference)])

    return residual


def impact_residual(
    shares: Callable[[PyTree], Array], before: Array, after: Array, error: Array | float
) -> Callable[[PyTree], Array]:
    """Residual of an impact map: modal velocities (impacts, modes) at the foot before and after.

    `shares(parameters)` is (1 + e) s_j: what an impact changes of each mode per velocity of the foot.
    """

    def residual(parameters: PyTree) -> Array:
        change = -shares(parameters)[None, :] * jnp.sum(before, axis=1, keepdims=True)
        return jnp.ravel((before + change - after) / error)

    return residual


def shooting_residual(
    advance: Callable[[PyTree, Array], Array], states: Array, error: Array
) -> Callable[[PyTree], Array]:
    """Residual of multiple shooting: each measured state carried over one window, against the next one.

    `states` (windows + 1, n); `advance(parameters, (n + 1,))` carries a state, its window's number first. Keep
    windows short: through impacts errors grow, half a drive cycle is enough.
    """

    def residual(parameters: PyTree) -> Array:
        numbers = jnp.arange(states.shape[0] - 1, dtype=states.dtype)
        begin = jnp.concatenate([numbers[:, None], states[:-1]], axis=1)
        arrived = jax.vmap(lambda state: advance(parameters, state))(begin)
        return jnp.ravel((arrived - states[1:]) / error[None, :])

    return residual


class Smoothed(NamedTuple):
    """An average over nearby parameters, its relative gradient d/d(log parameter), and the errors of both."""

    value: Array
    gradient: Array
    value_error: Array
    gradient_error: Array


def smoothed(
    function: Callable[[Array], Array], dimension: int, width: float, pairs: int, seed: int
) -> Smoothed:
    """Value and gradient at 0 of `function` (vector of relative changes to number) averaged over N(0, width^2).

    The same numbers serve for every call with the same seed, so that differences between designs are not
    drowned."""
    dimension = whole_number("smoothed: dimension", dimension, None, 1)
    pairs = whole_number("smoothed: pairs", pairs, None, 2)
    seed = whole_number("smoothed: seed", seed, None, 0, 2**32 - 1)
    draws = jax.random.normal(jax.random.key(seed), (pairs, dimension))
    both = jnp.concatenate([draws, -draws]) * width
    values = jax.vmap(function)(both)
    up, down = values[:pairs], values[pairs:]
    means = 0.5 * (up + down)
    gradients = 0.5 * (up - down)[:, None] * draws / width
    root = pairs**0.5
    return Smoothed(
        jnp.mean(means),
        jnp.mean(gradients, axis=0),
        jnp.std(means, ddof=1) / root,
        jnp.std(gradients, axis=0, ddof=1) / root,
    )
