"""Gradients that say how far they can be trusted.

`value_and_gradient` evaluates a device, its gradient, and then asks three independent questions:

1. Is there a motion to differentiate? It has to be periodic, settled to, stable (`residual`, `multiplier`).
2. Does resolution matter? The gradient is computed again with a `COARSER` tolerance; the largest relative
   difference is the `discrepancy`.
3. Does the value really change so? The motion is calculated again at two neighboring points along one
   direction that mixes all parameters, and the second-order difference of the values is compared with
   gradient times direction. This shares nothing with the derivative's own route (saltation, implicit
   function theorem): if a term is missing there, it shows here.

The error measure of a gradient is |dg| / max(|g|, FLOOR |value / parameter|). The verdict is `certified`,
`uncertified` (a number, with the reason), or `refused` (no number: NaN). `margin` is the time to the
nearest change of the sequence of events over the period; a small one makes a gradient local, and questions
2 and 3 tell when it makes it wrong.

Left out: whether the model is right, and how far the gradient reaches.
"""

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro._parameters import as_arrays
from diffmicro._results import RESULTS, code

VERDICTS = ("certified", "uncertified", "refused")

REASONS = (
    "resolution, differences of values and stability agree",
    "there is no settled periodic motion to differentiate: the status says why",
    "the gradient is not finite",
    "dead zone: the response does not change here, so its gradient is zero and says nothing of the way out",
    "the value's differences disagree with the gradient: a change of the event sequence is near, or a fold",
    "the gradient depends on the resolution: grazing, a fold, or too few steps",
    "no neighboring motion was found to compare with",
    "single precision: check against double precision",
    "derivative of the time-stepping scheme at fixed active set, not of the motion",
    "the field holds the gap closed: the motion is not the one that the device is designed for",
)
_AGREE, _NO_MOTION, _NOT_FINITE, _DEAD, _DIFFERS = range(5)
_COARSE, _ALONE, _SINGLE, _SCHEME, _CLOSED = range(5, 10)

COARSER = 10.0
"""Ratio of the tolerances at which gradients are compared."""

FLOOR = 1e-3
"""Share of value / parameter below which a derivative counts as nearly cancelling."""

RESOLVED = 1e-3
"""Largest discrepancy of a certified gradient. The finer one is better by a factor of five at least."""

STEP = 1e-4
"""Relative step of the neighboring points: far above the tolerance, far below the curvature."""

MATCHED = 3e-3
"""Largest disagreement of differences and gradient of a certified gradient."""


class Certificate(eqx.Module):
    """What a gradient says about itself. Codes index `VERDICTS` and `REASONS`.

    verdict: code of the verdict [-].
    reason: code of the reason [-].
    residual: distance of the motion from periodic, natural units [-].
    margin: time to the nearest mode change over the period [-].
    multiplier: largest modulus of the Floquet multipliers [-].
    discrepancy: largest relative difference between two resolutions [-].
    mismatch: relative disagreement with differences of the value [-].
    error_estimate: relative error that these amount to [-].
    method: numerical method.
    """

    verdict: Array
    reason: Array
    residual: Array
    margin: Array
    multiplier: Array
    discrepancy: Array
    mismatch: Array
    error_estimate: Array
    method: str = eqx.field(static=True)


def verdict_word(certificate: Certificate) -> str:
    """The verdict of one concrete certificate."""
    return VERDICTS[int(certificate.verdict)]


def reason_text(certificate: Certificate) -> str:
    """The reason of one concrete certificate."""
    return REASONS[int(certificate.reason)]


def value_and_gradient(
    respond: Callable[..., Any],
    wrt: Sequence[str],
    of: str | Sequence[str] = "velocity",
    **numerics: Any,
) -> Callable[[Any, Any], tuple[Any, Any, Any, Any]]:
    """Function of (design, setting) to (value, gradient, certificate, response), jittable and vmappable.

    wrt: names of Design and Setting fields. of: name of a response, or several. The gradient is a dict by
    name; for several responses value, gradient and certificate are dicts by response. `numerics` go to
    `respond`.
    """
    responses = (of,) if isinstance(of, str) else tuple(of)
    names = tuple(wrt)
    method = numerics.get("method", inspect.signature(respond).parameters["method"].default)

    def outer(design: Any, setting: Any) -> tuple[Any, Any, Any, Any]:
        design, setting = as_arrays((design, setting))
        x, put = _free(names, design, setting)
        base = respond(design, setting, **{**numerics, "throw": False})
        value = jnp.stack([getattr(base, name) for name in responses])
        if method == "moreau":
            jacobian = _values_and_jacobian(
                respond, put, responses, {**numerics, "throw": False}, x
            )[1]
            checks = _unchecked(value)
        else:
            jacobian, checks = _checked(respond, put, responses, numerics, x, base, value)
        gradients, certificates = {}, {}
        for i, name in enumerate(responses):
            row = jacobian[i]
            certificate = _judge(base, method, value[i], row, *(c[i] for c in checks))
            row = jnp.where(certificate.verdict == VERDICTS.index("refused"), jnp.nan, row)
            gradients[name], certificates[name] = put.unravel(row), certificate
        if isinstance(of, str):
            return value[0], gradients[of], certificates[of], base
        return dict(zip(responses, value, strict=True)), gradients, certificates, base

    return outer


class _Put:
    """Puts a vector of parameters back into design and setting."""

    def __init__(self, design: Any, setting: Any, unravel: Callable[[Array], dict[str, Array]]):
        self.design, self.setting, self.unravel = design, setting, unravel

    def __call__(self, x: Array) -> tuple[Any, Any]:
        trees = [self.design, self.setting]
        for name, value in self.unravel(x).items():
            i = 0 if hasattr(trees[0], name) else 1
            trees[i] = eqx.tree_at(lambda tree, n=name: getattr(tree, n), trees[i], value)
        return trees[0], trees[1]


def _free(names: Sequence[str], design: Any, setting: Any) -> tuple[Array, _Put]:
    chosen = {}
    for name in names:
        home = design if hasattr(design, name) else setting
        value = getattr(home, name, None)
        if value is None or isinstance(value, str):
            known = [*vars(design), *vars(setting)]
            numbers = [
                n
                for n in known
                if not isinstance(getattr(design, n, getattr(setting, n, None)), str)
            ]
            why = "has no value of its own here" if name in known else "is not a parameter"
            raise ValueError(
                f"value_and_gradient: {name} {why}; gradients are taken by any of {', '.join(numbers)}."
            )
        chosen[name] = value
    x, unravel = ravel_pytree(chosen)
    return x, _Put(design, setting, unravel)


def _values_and_jacobian(
    respond: Callable, put: _Put, responses: tuple[str, ...], numerics: dict, x: Array
) -> tuple[Array, Array]:
    def values(x: Array) -> tuple[Array, Array]:
        response = respond(*put(x), **numerics)
        stacked = jnp.stack([getattr(response, name) for name in responses])
        return stacked, stacked

    jacobian, value = jax.jacfwd(values, has_aux=True)(x)
    return value, jacobian


def _checked(
    respond: Callable,
    put: _Put,
    responses: tuple[str, ...],
    numerics: dict,
    x: Array,
    base: Any,
    value: Array,
) -> tuple[Array, tuple[Array, Array, Array]]:
    """Jacobian, and per response: discrepancy, mismatch, whether neighbors were found."""
    nearby = sys.modules[respond.__module__].nearby
    tolerance = numerics.get(
        "tolerance", inspect.signature(respond).parameters["tolerance"].default
    )
    kept = {name: v for name, v in numerics.items() if name in ("steps", "method")}
    base = jax.lax.stop_gradient(base)

    def look(direction: Array, run: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        offset, factor = run
        arguments = {**kept, **nearby(base, tolerance * factor)}
        moved = x + offset * direction
        values, jacobian = _values_and_jacobian(respond, put, responses, arguments, moved)
        direction = jnp.where(offset == 0, _direction(x, value[0], jacobian[0]), direction)
        return direction, (values, jacobian)

    # One traced evaluation serves all four, so it is compiled once.
    offsets = jnp.array([0.0, 0.0, STEP, 2 * STEP], x.dtype)
    factors = jnp.array([COARSER, 1.0, 1.0, 1.0], x.dtype)
    direction, (values, jacobians) = jax.lax.scan(look, jnp.zeros_like(x), (offsets, factors))
    coarse, fine = jacobians[0], jacobians[1]
    floor = FLOOR * jnp.abs(value)[:, None] / jnp.where(x == 0, 1.0, jnp.abs(x))[None, :]
    size = jnp.maximum(jnp.abs(fine), floor)
    discrepancy = jnp.max(jnp.abs(fine - coarse) / jnp.where(size == 0, 1.0, size), axis=1)

    differences = (-3 * values[1] + 4 * values[2] - values[3]) / (2 * STEP)
    expected = fine @ direction
    weight = jnp.sqrt(jnp.sum((fine * direction[None, :]) ** 2, axis=1))
    weight = jnp.maximum(weight, FLOOR * jnp.abs(value))
    mismatch = jnp.abs(differences - expected) / jnp.where(weight == 0, 1.0, weight)
    found = jnp.all(jnp.isfinite(values), axis=0)
    return fine, (discrepancy, mismatch, found)


def _unchecked(value: Array) -> tuple[Array, Array, Array]:
    unknown = jnp.full(value.shape, jnp.nan, value.dtype)
    return unknown, unknown, jnp.zeros(value.shape, bool)


def _direction(x: Array, value: Array, gradient: Array) -> Array:
    """Changes of all parameters at once, relative and of unlike sizes so that errors do not cancel.

    A parameter at zero has no relative change. It may be the end of its range, so it grows, by what the
    gradient says would double the value.
    """
    i = jnp.arange(x.size, dtype=x.dtype)
    mixed = jnp.cos(1.0 + 2.4 * i)
    mixed = jnp.where(jnp.abs(mixed) < 0.3, 0.3, mixed)
    steep = jnp.isfinite(gradient) & (jnp.abs(gradient) > jnp.abs(value))
    doubling = jnp.abs(value) / jnp.where(steep, jnp.abs(gradient), 1.0)
    return jnp.where(x == 0, jnp.abs(mixed) * jnp.where(steep, doubling, 1.0), mixed * jnp.abs(x))


def _judge(
    base: Any,
    method: str,
    value: Array,
    gradient: Array,
    discrepancy: Array,
    mismatch: Array,
    found: Array,
) -> Certificate:
    """Verdict and reason: the first thing that speaks against the gradient."""
    outcome = code(base.result)
    dead, closed = outcome == code(RESULTS.stalled), outcome == code(RESULTS.gap_collapsed)
    moving = outcome == code(RESULTS.successful)
    estimate = discrepancy / 5 + jnp.where(mismatch > MATCHED, mismatch, 0.0)
    reason = jnp.where(jnp.isfinite(discrepancy) & (discrepancy < RESOLVED), _AGREE, _COARSE)
    reason = jnp.where(mismatch < MATCHED, reason, _DIFFERS)
    reason = jnp.where(found, reason, _ALONE)
    if gradient.dtype == jnp.float32:
        reason = jnp.full_like(reason, _SINGLE)
    if method == "moreau":
        reason = jnp.full_like(reason, _SCHEME)
    reason = jnp.where(closed, _CLOSED, jnp.where(dead, _DEAD, reason))
    reason = jnp.where(jnp.all(jnp.isfinite(gradient)) & jnp.isfinite(value), reason, _NOT_FINITE)
    reason = jnp.where(moving | dead | closed, reason, _NO_MOTION)
    refused = (reason == _NO_MOTION) | (reason == _NOT_FINITE)
    verdict = jnp.where(reason == _AGREE, 0, jnp.where(refused, 2, 1))
    return Certificate(
        verdict=verdict,
        reason=reason,
        residual=base.residual,
        margin=base.margin,
        multiplier=base.multiplier,
        discrepancy=discrepancy,
        mismatch=mismatch,
        error_estimate=estimate,
        method=method,
    )
