"""Gradients that say how far they can be trusted.

`value_and_gradient` evaluates a device and its gradient, and then checks independently:

1. Is there a solution to differentiate? A motion has to be periodic, settled to, stable (`residual`,
   `multiplier`); an equilibrium has to be converged.
2. Does resolution matter? The gradient is computed again, more coarsely; the relative difference is the
   `discrepancy`.
3. Does the value really change so? Along lines beside the point the change of the value is compared with the
   integral of the gradient, see `differences`. The values share nothing with the derivative's own route
   (saltation, implicit function theorem): if a term is missing there, it shows here.
4. Does the device know better? Its `objection` names dead zones, kinks and the like.

How questions 2 and 3 are put to a device is in `recheck`, what follows from the answers in `verdicts`; a device
that has no second resolution is not certified, and a certificate names the checks that were made.

Each derivative has an `Entry` of its own, and the certificate the worst of them: one derivative that is nearly
cancelling does not take the others with it. The error measure is |dg| / max(|g|, FLOOR |value / parameter|). The
verdict is `certified`, `uncertified` (a number, with the reason), or `refused` (no number: NaN). `margin` is the
time to the nearest change of the sequence of events over the period; a small one makes a gradient local, and
`reach` says how far it holds at least.

Left out: whether the model is right.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from diffmicro._device import Device, Method, device_of, nothing_against
from diffmicro.devices import device as named_device
from diffmicro.differences import FLOOR
from diffmicro.parameters import Fields, Value, as_arrays, describe, get, idle
from diffmicro.reasons import VERDICTS, reason_code
from diffmicro.recheck import Question, Recheck, Unchecked
from diffmicro.verdicts import (
    REFUSED,
    Certificate,
    Entry,
    certificate_words,
    judged_each,
    reason_text,
    summed_up,
    unknown_checks,
    verdict_word,
    weighed,
    worst_of_components,
)

__all__ = [
    "FLOOR",
    "VERDICTS",
    "Certificate",
    "Entry",
    "certificate_words",
    "reason_text",
    "value_and_gradient",
    "verdict_word",
]


def value_and_gradient(
    device: Device | str | Callable[..., PyTree],
    wrt: Sequence[str],
    of: str | Sequence[str] | None = None,
    **numerics: Value,
) -> Callable[..., tuple[PyTree, PyTree, PyTree, PyTree]]:
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

    def outer(design: Fields, setting: Fields) -> tuple[PyTree, PyTree, PyTree, PyTree]:
        design, setting = as_arrays((design, setting))
        free = _free(names, design, setting)
        x, unravel = ravel_pytree(free)
        # ravel_pytree sorts the names of a dict, and so do the rows of the Jacobian.
        question = Question(
            known.respond,
            design,
            setting,
            unravel,
            _room(free, design, setting),
            tuple(sorted(responses)),
        )
        if known.method.scheme:
            found = question.look(numerics, x)
            checks = unknown_checks(found.jacobian)
        else:
            evidence = known.recheck.evidence(question, numerics, x)
            found, checks = evidence.base, weighed(evidence)
        base = found.response
        values = {name: getattr(base, name) for name in responses}
        by_name = partial(_by_name, free)
        gradients, certificates = {}, {}
        first = 0
        for name in question.responses:
            shape = jnp.shape(values[name])
            last = first + values[name].size
            rows, seen = found.jacobian[first:last], worst_of_components(checks, first, last)
            against = jnp.asarray(known.objection(base, design, setting, name, known.method.name))
            if known.method.scheme:
                against = jnp.where(against == 0, reason_code("scheme"), against)
            value, compared = found.value[first:last], known.recheck.checks
            entries = judged_each(compared, base, value, rows, seen, against)
            rows = jnp.where(entries.verdict[None, :] == REFUSED, jnp.nan, rows)
            gradients[name] = jax.tree.map(
                lambda g, s=shape: g.reshape(s + g.shape[1:]), jax.vmap(unravel)(rows)
            )
            certificates[name] = summed_up(known.method.name, known.checks, base, entries, by_name)
            first = last
        if isinstance(of, str):
            return values[of], gradients[of], certificates[of], base
        return values, gradients, certificates, base

    return outer


class _Known(NamedTuple):
    """What is known of the function that is differentiated; `device` is None where it belongs to none."""

    respond: Callable[..., PyTree]
    numerics: Mapping[str, Value]
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
    def objection(self) -> Callable[..., Array]:
        """What speaks against a gradient beside that."""
        return nothing_against if self.device is None else self.device.objection

    def asking_for(self, responses: Sequence[str]) -> dict[str, Value]:
        """The numerics with what it takes to get these responses."""
        if self.device is None:
            return dict(self.numerics)
        return self.device.asking_for(responses, self.numerics)


def _known(device: Device | str | Callable[..., PyTree], numerics: Mapping[str, Value]) -> _Known:
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


def _free(names: Sequence[str], design: Fields, setting: Fields) -> dict[str, Value]:
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


def _room(free: Mapping[str, Array], design: Fields, setting: Fields) -> tuple[Array, Array]:
    """The ends of the parameters' ranges, as `ravel_pytree` orders them."""
    table = {**describe(type(design)), **describe(type(setting))}
    low = {name: jnp.full_like(value, table[name].low) for name, value in free.items()}
    high = {name: jnp.full_like(value, table[name].high) for name, value in free.items()}
    return ravel_pytree(low)[0], ravel_pytree(high)[0]


def _by_name(free: Mapping[str, Array], flat: Array) -> dict[str, Array]:
    """A vector in the order of `ravel_pytree` as a dict of the parameters' shapes, of any type of number."""
    ends = np.cumsum([free[name].size for name in sorted(free)])
    parts = jnp.split(flat, ends[:-1])
    return {n: part.reshape(free[n].shape) for n, part in zip(sorted(free), parts, strict=True)}
