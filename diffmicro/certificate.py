"""Gradients that say how far they can be trusted.

`value_and_gradient` evaluates a device, its gradient, and then asks independent questions:

1. Is there a solution to differentiate? A motion has to be periodic, settled to, stable (`residual`,
   `multiplier`); an equilibrium has to be converged.
2. Does resolution matter? The gradient is computed again, more coarsely; the largest relative
   difference is the `discrepancy`.
3. Does the value really change so? The response is calculated again at two neighboring points along one
   direction that mixes all parameters, and the second-order difference of the values is compared with
   gradient times direction. This shares nothing with the derivative's own route (saltation, implicit
   function theorem): if a term is missing there, it shows here.
4. Does the device know better? Its module's `objection` names dead zones, kinks and the like.

The error measure of a gradient is |dg| / max(|g|, FLOOR |value / parameter|). The verdict is `certified`,
`uncertified` (a number, with the reason), or `refused` (no number: NaN). `margin` is the time to the
nearest change of the sequence of events over the period; a small one makes a gradient local, and questions
2 and 3 tell when it makes it wrong.

Left out: whether the model is right, and how far the gradient reaches.
"""

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro._parameters import as_arrays
from diffmicro._reasons import REASONS, VERDICTS, codes_of, reason_code
from diffmicro._results import RESULTS, code
from diffmicro.devices import asking_for

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
    residual: distance of the solution from what it has to fulfill, natural units [-].
    margin: distance to the nearest mode change over the period or scale [-].
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
    return REASONS[int(certificate.reason)].text


def value_and_gradient(
    respond: Callable[..., Any],
    wrt: Sequence[str],
    of: str | Sequence[str] = "velocity",
    **numerics: Any,
) -> Callable[[Any, Any], tuple[Any, Any, Any, Any]]:
    """Function of (design, setting) to (value, gradient, certificate, response), jittable and vmappable.

    wrt: names of Design and Setting fields. of: name of a response, or several. The gradient is a dict by
    name, each entry of the response's shape and then the parameter's; for several responses value, gradient
    and certificate are dicts by response. A vector's certificate is that of its worst component.
    `numerics` go to `respond`.
    """
    responses = (of,) if isinstance(of, str) else tuple(of)
    names = tuple(wrt)
    module = sys.modules[respond.__module__]
    numerics = asking_for(module, responses, numerics)

    def outer(design: Any, setting: Any) -> tuple[Any, Any, Any, Any]:
        design, setting = as_arrays((design, setting))
        x, put = _free(names, design, setting)
        method = method_of(respond, numerics)
        of_scheme = method in getattr(module, "SCHEMES", ())
        asked = _Asked(respond, put, responses)
        if of_scheme:
            base, flat, jacobian = asked(numerics, x)
            unknown = jnp.full_like(flat, jnp.nan)
            checks = _Checks(unknown, unknown, jnp.zeros(flat.shape, bool))
        else:
            base, flat, jacobian, checks = _checked(module, asked, numerics, x)
        values = {name: getattr(base, name) for name in responses}
        gradients, certificates = {}, {}
        first = 0
        # ravel_pytree sorts the names of a dict, and so do the rows of the Jacobian.
        for name in sorted(responses):
            shape = jnp.shape(values[name])
            last = first + values[name].size
            rows, seen = jacobian[first:last], _Checks(*(c[first:last] for c in checks))
            against = _objection(module, base, design, setting, name, method)
            if of_scheme:
                against = jnp.where(against == 0, reason_code("scheme"), against)
            certificate = _judge(base, method, flat[first:last], rows, seen, against)
            refused = certificate.verdict == VERDICTS.index("refused")
            rows = jnp.where(refused, jnp.nan, rows)
            gradients[name] = jax.tree.map(
                lambda g, s=shape: g.reshape(s + g.shape[1:]), jax.vmap(put.unravel)(rows)
            )
            certificates[name] = certificate
            first = last
        if isinstance(of, str):
            return values[of], gradients[of], certificates[of], base
        return values, gradients, certificates, base

    return outer


def method_of(respond: Callable[..., Any], numerics: dict[str, Any]) -> str:
    """The word for the numerical method: an argument of `respond`, or its module's `METHOD`."""
    known = inspect.signature(respond).parameters
    if "method" in known:
        return numerics.get("method", known["method"].default)
    return sys.modules[respond.__module__].METHOD


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


class _Asked(NamedTuple):
    """The responses as one vector, a function of the vector of parameters."""

    respond: Callable[..., Any]
    put: _Put
    responses: tuple[str, ...]

    def __call__(self, numerics: dict[str, Any], x: Array) -> tuple[Any, Array, Array]:
        """Response, its values and their Jacobian."""

        def values(x: Array) -> tuple[Array, tuple[Any, Array]]:
            response = self.respond(*self.put(x), **{**numerics, "throw": False})
            flat, _ = ravel_pytree({name: getattr(response, name) for name in self.responses})
            return flat, (response, flat)

        if x.size == 1:  # a batch of one column is the same numbers, compiled slower
            _, column, (response, value) = jax.jvp(values, (x,), (jnp.ones_like(x),), has_aux=True)
            return response, value, column[:, None]
        jacobian, (response, value) = jax.jacfwd(values, has_aux=True)(x)
        return response, value, jacobian


class _Checks(NamedTuple):
    """Per component: difference of two resolutions, of gradient and values, whether neighbors were found."""

    discrepancy: Array
    mismatch: Array
    found: Array


def _checked(
    module: ModuleType, asked: _Asked, numerics: dict[str, Any], x: Array
) -> tuple[Any, Array, Array, _Checks]:
    """Response, its values, their Jacobian, and what its checks found.

    One traced evaluation serves all runs, as far as the device can, so it is compiled once.
    """
    base, known, coarse = None, {}, None
    tolerance = _tolerance(asked, numerics)
    offsets, factors = [0.0, 0.0, STEP, 2 * STEP], [COARSER, 1.0, 1.0, 1.0]
    if hasattr(module, "coarser"):
        coarse = asked(module.coarser(numerics), x)[2]
        offsets, factors = offsets[1:], factors[1:]
    elif hasattr(module, "afresh"):
        known = module.afresh(*asked.put(x))
        given = {k: numerics[k] for k in known if numerics.get(k) is not None}
        known = jax.tree.map(
            lambda new, old: jnp.asarray(old, new.dtype), known, {**known, **given}
        )
        offsets, factors = [0.0, *offsets], [1.0, *factors]
    else:
        base = jax.lax.stop_gradient(asked.respond(*asked.put(x), **{**numerics, "throw": False}))

    def look(carry: tuple[Array, dict], run: tuple[Array, Array]) -> tuple[Any, Any]:
        direction, known = carry
        offset, factor = run
        arguments = numerics
        if known:
            arguments = {**numerics, **known, "tolerance": tolerance * factor}
        elif base is not None:
            arguments = {k: v for k, v in numerics.items() if k in ("steps", "method", "extra")}
            arguments |= module.nearby(base, tolerance * factor)
        response, values, jacobian = asked(arguments, x + offset * direction)
        direction = jnp.where(offset == 0, _direction(x, values[0], jacobian[0]), direction)
        if known:
            found = module.nearby(response, tolerance)
            known = {
                k: jax.tree.map(partial(jnp.where, known["near"]), old, found[k])
                for k, old in known.items()
            }
        return (direction, known), (response, values, jacobian)

    runs = (jnp.array(offsets, x.dtype), jnp.array(factors, x.dtype))
    first = (jnp.zeros_like(x), known)
    (direction, _), (responses, values, jacobians) = jax.lax.scan(look, first, runs)
    if base is None:
        base = jax.tree.map(lambda r: r[0], responses)
        value = values[0]
    else:
        value, _ = ravel_pytree({name: getattr(base, name) for name in asked.responses})
    if coarse is None:
        coarse = jacobians[-4]
    fine, values = jacobians[-3], values[-3:]
    floor = FLOOR * jnp.abs(value)[:, None] / jnp.where(x == 0, 1.0, jnp.abs(x))[None, :]
    size = jnp.maximum(jnp.abs(fine), floor)
    discrepancy = jnp.max(jnp.abs(fine - coarse) / jnp.where(size == 0, 1.0, size), axis=1)

    differences = (-3 * values[0] + 4 * values[1] - values[2]) / (2 * STEP)
    expected = fine @ direction
    weight = jnp.sqrt(jnp.sum((fine * direction[None, :]) ** 2, axis=1))
    weight = jnp.maximum(weight, FLOOR * jnp.abs(value))
    mismatch = jnp.abs(differences - expected) / jnp.where(weight == 0, 1.0, weight)
    found = jnp.all(jnp.isfinite(values), axis=0)
    return base, value, fine, _Checks(discrepancy, mismatch, found)


def _tolerance(asked: _Asked, numerics: dict[str, Any]) -> Any:
    default = inspect.signature(asked.respond).parameters["tolerance"].default
    return numerics.get("tolerance", default)


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


def _objection(
    module: ModuleType, base: Any, design: Any, setting: Any, of: str, method: str
) -> Array:
    if not hasattr(module, "objection"):
        return jnp.asarray(0)
    return jnp.asarray(module.objection(base, design, setting, of, method))


def _judge(
    base: Any,
    method: str,
    value: Array,
    gradient: Array,
    checks: _Checks,
    against: Array,
) -> Certificate:
    """Verdict and reason: the first thing that speaks against the gradient, of any component."""
    usable = (code(base.result) == code(RESULTS.successful)) | (against != 0)
    discrepancy, mismatch = jnp.max(checks.discrepancy), jnp.max(checks.mismatch)
    estimate = discrepancy / 5 + jnp.where(mismatch > MATCHED, mismatch, 0.0)
    reason = jnp.where(discrepancy < RESOLVED, reason_code("agree"), reason_code("coarse"))
    reason = jnp.where(mismatch < MATCHED, reason, reason_code("differs"))
    reason = jnp.where(jnp.all(checks.found), reason, reason_code("alone"))
    if gradient.dtype == jnp.float32:
        reason = jnp.full_like(reason, reason_code("single"))
    # A reason to trust it does not outweigh a check that failed; a reason against it does.
    trusted = jnp.isin(against, jnp.array(codes_of("certified")))
    finite = jnp.all(jnp.isfinite(gradient)) & jnp.all(jnp.isfinite(value))
    reason = jnp.where(finite, reason, reason_code("not_finite"))
    refused = jnp.isin(against, jnp.array(codes_of("refused")))
    flat = jnp.all(gradient == 0) & (reason == reason_code("agree"))
    overruled = jnp.where(trusted, flat & (against != 0), finite & (against != 0))
    reason = jnp.where(overruled | refused, against, reason)
    reason = jnp.where(usable, reason, reason_code("no_motion"))
    verdict = jnp.where(jnp.isin(reason, jnp.array(codes_of("refused"))), 2, 1)
    verdict = jnp.where(jnp.isin(reason, jnp.array(codes_of("certified"))), 0, verdict)
    unknown = jnp.full_like(discrepancy, jnp.nan)
    return Certificate(
        verdict=verdict,
        reason=reason,
        residual=getattr(base, "residual", unknown),
        margin=getattr(base, "margin", unknown),
        multiplier=getattr(base, "multiplier", unknown),
        discrepancy=discrepancy,
        mismatch=mismatch,
        error_estimate=estimate,
        method=method,
    )
