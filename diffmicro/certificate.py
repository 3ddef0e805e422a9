"""Gradients that say how far they can be trusted.

`value_and_gradient` evaluates a device and its gradient, and then checks independently:

1. Is there a solution to differentiate? A motion has to be periodic, settled to, stable (`residual`,
   `multiplier`); an equilibrium has to be converged.
2. Does resolution matter? The gradient is computed again, more coarsely; the largest relative
   difference is the `discrepancy`.
3. Does the value really change so? The response is calculated again at two neighboring points along one
   direction that mixes all parameters, and the second-order difference of the values is compared with
   gradient times direction. This shares nothing with the derivative's own route (saltation, implicit
   function theorem): if a term is missing there, it shows here.
4. Does the device know better? Its `objection` names dead zones, kinks and the like.

How questions 2 and 3 are put to a device is in `recheck`; a device that has no second resolution is not
certified, and a certificate names the checks that were made.

The error measure of a gradient is |dg| / max(|g|, FLOOR |value / parameter|). The verdict is `certified`,
`uncertified` (a number, with the reason), or `refused` (no number: NaN). `margin` is the time to the
nearest change of the sequence of events over the period; a small one makes a gradient local, and questions
2 and 3 tell when it makes it wrong.

Left out: whether the model is right, and how far the gradient reaches.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro._device import Device, Method, device_of, nothing_against
from diffmicro.devices import device as named_device
from diffmicro.parameters import as_arrays, describe, get, idle
from diffmicro.reasons import REASONS, VERDICTS, codes_of, reason_code
from diffmicro.recheck import STEP, Evidence, Question, Recheck, Unchecked
from diffmicro.results import RESULTS, code

FLOOR = 1e-3
"""Share of value / parameter below which a derivative counts as nearly cancelling."""

RESOLVED = 1e-3
"""Largest discrepancy of a certified gradient. The finer one is better by a factor of five at least."""

MATCHED = 3e-3
"""Largest disagreement of differences and gradient of a certified gradient."""


class Certificate(eqx.Module):
    """How far a gradient can be trusted. Codes index `VERDICTS` and `REASONS`.

    verdict: code of the verdict [-].
    reason: code of the reason [-].
    residual: distance of the solution from what it has to fulfill, natural units [-].
    margin: distance to the nearest mode change over the period or scale [-].
    multiplier: largest modulus of the Floquet multipliers [-].
    discrepancy: largest relative difference between two resolutions [-].
    mismatch: relative disagreement with differences of the value [-].
    error_estimate: relative error that these amount to [-].
    method: numerical method. checks: what was compared, in words.
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
    checks: tuple[str, ...] = eqx.field(static=True)


def verdict_word(certificate: Certificate) -> str:
    """The verdict of one concrete certificate."""
    return VERDICTS[int(certificate.verdict)]


def reason_text(certificate: Certificate) -> str:
    """The reason of one concrete certificate; agreement names the checks that were made."""
    reason = REASONS[int(certificate.reason)]
    if reason.name != "agree":
        return reason.text
    *others, last = certificate.checks
    return f"{', '.join(others)} and {last} agree"


def value_and_gradient(
    device: Device | str | Callable[..., Any],
    wrt: Sequence[str],
    of: str | Sequence[str] | None = None,
    **numerics: Any,
) -> Callable[[Any, Any], tuple[Any, Any, Any, Any]]:
    """Function of (design, setting) to (value, gradient, certificate, response), jittable and vmappable.

    device: a `Device`, its name, or its function `respond`, also with arguments bound by `functools.partial`.
    Any other function of (design, setting) that takes `throw` will do; as nothing is known of it, nothing is
    certified.
    wrt: names of Design and Setting fields. of: name of a response, or several; the device's first by default.
    The gradient is a dict by name, each entry of the response's shape and then the parameter's; for several
    responses value, gradient and certificate are dicts by response. A vector's certificate is that of its worst
    component. `numerics` go to `respond`.
    """
    known = _known(device, numerics)
    of = known.first if of is None else of
    responses = (of,) if isinstance(of, str) else tuple(of)
    names = tuple(wrt)
    numerics = known.asking_for(responses)

    def outer(design: Any, setting: Any) -> tuple[Any, Any, Any, Any]:
        design, setting = as_arrays((design, setting))
        x, unravel = ravel_pytree(_free(names, design, setting))
        # ravel_pytree sorts the names of a dict, and so do the rows of the Jacobian.
        question = Question(known.respond, design, setting, unravel, tuple(sorted(responses)))
        if known.method.scheme:
            found = question.look(numerics, x)
            unknown = jnp.full_like(found.value, jnp.nan)
            checks = _Checks(unknown, unknown, jnp.zeros(unknown.shape, bool))
        else:
            evidence = known.recheck.evidence(question, numerics, x)
            found, checks = evidence.base, _weighed(evidence, x)
        base = found.response
        values = {name: getattr(base, name) for name in responses}
        gradients, certificates = {}, {}
        first = 0
        for name in question.responses:
            shape = jnp.shape(values[name])
            last = first + values[name].size
            rows, seen = found.jacobian[first:last], _Checks(*(c[first:last] for c in checks))
            against = jnp.asarray(known.objection(base, design, setting, name, known.method.name))
            if known.method.scheme:
                against = jnp.where(against == 0, reason_code("scheme"), against)
            certificate = _judge(known, base, found.value[first:last], rows, seen, against)
            refused = certificate.verdict == VERDICTS.index("refused")
            rows = jnp.where(refused, jnp.nan, rows)
            gradients[name] = jax.tree.map(
                lambda g, s=shape: g.reshape(s + g.shape[1:]), jax.vmap(unravel)(rows)
            )
            certificates[name] = certificate
            first = last
        if isinstance(of, str):
            return values[of], gradients[of], certificates[of], base
        return values, gradients, certificates, base

    return outer


class _Known(NamedTuple):
    """What is known of the function that is differentiated; `device` is None where it belongs to none."""

    respond: Callable[..., Any]
    numerics: Mapping[str, Any]
    device: Device | None

    @property
    def first(self) -> str:
        """The response that is meant where none is named."""
        if self.device is None:
            raise ValueError(
                "value_and_gradient: say which response, of='name'; only a Device has a first one."
            )
        return next(iter(self.device.responses))

    @property
    def method(self) -> Method:
        """The numerical method that the numerics name, or the usual one."""
        if self.device is None:
            return Method("unknown")
        return self.device.method(self.numerics.get("method"))

    @property
    def recheck(self) -> Recheck:
        """How its gradients are checked again."""
        return Unchecked() if self.device is None else self.device.recheck

    @property
    def checks(self) -> tuple[str, ...]:
        """What a certificate compares: the words of its reason."""
        stability = self.device is not None and "multiplier" in describe(self.device.Response)
        return (*self.recheck.checks, *(("stability",) if stability else ()))

    @property
    def objection(self) -> Callable[..., Any]:
        """What speaks against a gradient beside that."""
        return nothing_against if self.device is None else self.device.objection

    def asking_for(self, responses: Sequence[str]) -> dict[str, Any]:
        """The numerics with what it takes to get these responses."""
        if self.device is None:
            return dict(self.numerics)
        return self.device.asking_for(responses, self.numerics)


def _known(device: Device | str | Callable[..., Any], numerics: Mapping[str, Any]) -> _Known:
    """The device behind a device, its `respond`, or that with arguments bound by name."""
    if isinstance(device, str):
        device = named_device(device)
    if isinstance(device, Device):
        return _Known(device.respond, numerics, device)
    function = device
    while isinstance(function, partial) and not function.args:
        numerics = {**function.keywords, **numerics}
        function = function.func
    found = device_of(inspect.unwrap(function))
    # A function of unknown inside is called as it is, with what was bound to it.
    return _Known(found.respond if found else function, numerics, found)


def _free(names: Sequence[str], design: Any, setting: Any) -> dict[str, Any]:
    """The values of the named parameters, which have to be numbers."""
    table = {**describe(type(design)), **describe(type(setting))}
    numbers = [
        name
        for name, known in table.items()
        if known.differentiable and not idle(design, setting, name)
    ]
    for name in names:
        if name not in numbers:
            why = "is not a parameter"
            if name in table:
                why = idle(design, setting, name) or "is not a number"
            raise ValueError(
                f"value_and_gradient: {name} {why}; gradients are taken by any of {', '.join(numbers)}."
            )
    return {name: get(design, setting, name) for name in names}


class _Checks(NamedTuple):
    """Per component: difference of two resolutions, of gradient and values, whether neighbors were found."""

    discrepancy: Array
    mismatch: Array
    found: Array


def _weighed(evidence: Evidence, x: Array) -> _Checks:
    """The evidence in the error measure of the module docstring."""
    fine, value, values = evidence.base.jacobian, evidence.base.value, evidence.values
    discrepancy = jnp.full(value.shape, jnp.nan, value.dtype)
    if evidence.coarse is not None:
        floor = FLOOR * jnp.abs(value)[:, None] / jnp.where(x == 0, 1.0, jnp.abs(x))[None, :]
        size = jnp.maximum(jnp.abs(fine), floor)
        off = jnp.abs(fine - evidence.coarse) / jnp.where(size == 0, 1.0, size)
        discrepancy = jnp.max(off, axis=1)
    differences = (-3 * values[0] + 4 * values[1] - values[2]) / (2 * STEP)
    expected = fine @ evidence.direction
    weight = jnp.sqrt(jnp.sum((fine * evidence.direction[None, :]) ** 2, axis=1))
    weight = jnp.maximum(weight, FLOOR * jnp.abs(value))
    mismatch = jnp.abs(differences - expected) / jnp.where(weight == 0, 1.0, weight)
    return _Checks(discrepancy, mismatch, jnp.all(jnp.isfinite(values), axis=0))


def _judge(
    known: _Known,
    base: Any,
    value: Array,
    gradient: Array,
    checks: _Checks,
    against: Array,
) -> Certificate:
    """Verdict and reason: the first thing that speaks against the gradient, of any component."""
    usable = (code(base.result) == code(RESULTS.successful)) | (against != 0)
    discrepancy, mismatch = jnp.max(checks.discrepancy), jnp.max(checks.mismatch)
    if "resolution" in known.recheck.checks:
        agree = jnp.where(discrepancy < RESOLVED, reason_code("agree"), reason_code("coarse"))
        estimate = discrepancy / 5 + jnp.where(mismatch > MATCHED, mismatch, 0.0)
    else:
        agree, estimate = jnp.asarray(reason_code("unchecked")), mismatch
    reason = jnp.where(mismatch < MATCHED, agree, reason_code("differs"))
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
        method=known.method.name,
        checks=known.checks,
    )
