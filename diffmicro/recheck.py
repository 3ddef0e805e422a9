"""How a gradient is checked again: the part of a certificate that depends on what a device can do.

A gradient is compared with a second one, taken in another way, and with differences of the value along one
direction that mixes all parameters. A device names its second way by one of

- `ByResolution`: the whole calculation at half the resolution;
- `ByWarmStart`: a device that searches for a motion goes on from the motion found, at another tolerance, which
  is quick, and the neighboring points start there too;
- `Unchecked`: there is none. Differences of the value are taken all the same, but nothing is certified.

Each gives the same `Evidence`; what follows from it is `certificate`'s business.
"""

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from diffmicro import _loops as loops
from diffmicro.parameters import put

COARSER = 10.0
"""Ratio of the tolerances at which gradients are compared."""

STEP = 1e-4
"""Relative step of the neighboring points: far above the tolerance, far below the curvature."""

OFFSETS = (0.0, STEP, 2 * STEP)
"""Where values are taken along the direction, for a one-sided difference of second order."""


class Look(NamedTuple):
    """One evaluation: the whole response, the wanted values as a vector (n), their Jacobian (n, p)."""

    response: Any
    value: Array
    jacobian: Array


class Question(NamedTuple):
    """Some responses of a device as a vector function of some parameters as a vector x (p).

    respond: the device's function. design, setting: what x does not contain. unravel: x as {name: value}.
    responses: names, in the order of the vector's parts: sorted.
    """

    respond: Callable[..., Any]
    design: Any
    setting: Any
    unravel: Callable[[Array], dict[str, Array]]
    responses: tuple[str, ...]

    def point(self, x: Array) -> tuple[Any, Any]:
        """Design and setting at x."""
        return put(self.design, self.setting, self.unravel(x))

    def response(self, numerics: Mapping[str, Any], x: Array) -> Any:
        """The response alone."""
        return self.respond(*self.point(x), **{**numerics, "throw": False})

    def value(self, response: Any) -> Array:
        """The wanted values of a response."""
        return ravel_pytree({name: getattr(response, name) for name in self.responses})[0]

    def look(self, numerics: Mapping[str, Any], x: Array) -> Look:
        """Response, values and Jacobian."""

        def values(x: Array) -> tuple[Array, tuple[Any, Array]]:
            response = self.response(numerics, x)
            value = self.value(response)
            return value, (response, value)

        if x.size == 1:  # a batch of one column is the same numbers, compiled slower
            _, column, (response, value) = jax.jvp(values, (x,), (jnp.ones_like(x),), has_aux=True)
            return Look(response, value, column[:, None])
        jacobian, (response, value) = jax.jacfwd(values, has_aux=True)(x)
        return Look(response, value, jacobian)


class Evidence(NamedTuple):
    """What was found: all that a verdict needs.

    base: the look at the point itself. coarse: the second Jacobian; None: there is none.
    direction: relative changes of all parameters at once (p). values: at `OFFSETS` along it (3, n).
    """

    base: Look
    coarse: Array | None
    direction: Array
    values: Array


@dataclass(frozen=True)
class Recheck(abc.ABC):
    """One way to check a gradient again. `checks`: what is compared, in the words of a certificate's reason."""

    checks: ClassVar[tuple[str, ...]]

    @abc.abstractmethod
    def evidence(self, question: Question, numerics: dict[str, Any], x: Array) -> Evidence:
        """Ask the question at x, and again."""


@dataclass(frozen=True)
class ByResolution(Recheck):
    """The calculation is repeated at a lower resolution. coarser: numerics -> coarser numerics."""

    coarser: Callable[[dict[str, Any]], dict[str, Any]]
    checks: ClassVar[tuple[str, ...]] = ("resolution", "differences of values")

    def evidence(self, question: Question, numerics: dict[str, Any], x: Array) -> Evidence:
        """The fine looks share one traced evaluation, so it is compiled once."""
        coarse = question.look(self.coarser(numerics), x).jacobian
        return _along(question, numerics, x)._replace(coarse=coarse)


@dataclass(frozen=True)
class Unchecked(Recheck):
    """Nothing but differences of the value can be compared."""

    checks: ClassVar[tuple[str, ...]] = ("differences of values",)

    def evidence(self, question: Question, numerics: dict[str, Any], x: Array) -> Evidence:
        """Looks at the point and along the direction."""
        return _along(question, numerics, x)


@dataclass(frozen=True)
class ByWarmStart(Recheck):
    """The calculation goes on from the motion that it found, at another tolerance.

    near: (response, tolerance) -> numerics that start at a known motion and go to one beside it.
    cold: (design, setting) -> such numerics where no motion is known yet, with the flag `near` among them. So one
    compiled calculation serves all looks. None: the first look is a calculation of its own.
    tolerance: the device's usual one.
    """

    near: Callable[[Any, Any], dict[str, Any]]
    cold: Callable[[Any, Any], dict[str, Any]] | None = None
    tolerance: float = 1e-9
    checks: ClassVar[tuple[str, ...]] = ("resolution", "differences of values")

    def evidence(self, question: Question, numerics: dict[str, Any], x: Array) -> Evidence:
        """Looks at a tolerance `COARSER` times larger, then at the usual one along the direction."""
        tolerance = numerics.get("tolerance", self.tolerance)
        if self.cold is not None:
            return self._in_one(self.cold(*question.point(x)), question, numerics, x, tolerance)
        base = jax.lax.stop_gradient(question.response(numerics, x))

        def go_on(direction: Array, run: tuple[Array, Array]) -> tuple[Array, Look]:
            offset, factor = run
            nearby = {**numerics, **self.near(base, tolerance * factor)}
            look = question.look(nearby, x + offset * direction)
            return _first_direction(x, look, offset, direction), look

        runs = (jnp.array((0.0, *OFFSETS), x.dtype), jnp.array((COARSER, 1, 1, 1), x.dtype))
        direction, looks = loops.scan(go_on, jnp.zeros_like(x), runs)
        found = Look(base, question.value(base), looks.jacobian[1])
        return Evidence(found, looks.jacobian[0], direction, looks.value[1:])

    def _in_one(
        self,
        cold: dict[str, Any],
        question: Question,
        numerics: dict[str, Any],
        x: Array,
        tolerance: Any,
    ) -> Evidence:
        """The look from the cold start is one more round of the same loop."""
        given = {name: numerics[name] for name in cold if numerics.get(name) is not None}
        start = jax.tree.map(lambda new, old: jnp.asarray(old, new.dtype), cold, {**cold, **given})

        def go_on(carry: tuple[Array, dict], run: tuple[Array, Array]) -> tuple[Any, Look]:
            (direction, known), (offset, factor) = carry, run
            nearby = {**numerics, **known, "tolerance": tolerance * factor}
            look = question.look(nearby, x + offset * direction)
            found = self.near(look.response, tolerance)
            known = {
                name: jax.tree.map(partial(jnp.where, known["near"]), old, found[name])
                for name, old in known.items()
            }
            return (_first_direction(x, look, offset, direction), known), look

        runs = (jnp.array((0.0, 0.0, *OFFSETS), x.dtype), jnp.array((1, COARSER, 1, 1, 1), x.dtype))
        (direction, _), looks = loops.scan(go_on, (jnp.zeros_like(x), start), runs)
        base = jax.tree.map(lambda leaf: leaf[0], looks)._replace(jacobian=looks.jacobian[2])
        return Evidence(base, looks.jacobian[1], direction, looks.value[2:])


def _along(question: Question, numerics: dict[str, Any], x: Array) -> Evidence:
    """Looks at the point and at its neighbors, all by the same numerics."""

    def go_on(direction: Array, offset: Array) -> tuple[Array, Look]:
        look = question.look(numerics, x + offset * direction)
        return _first_direction(x, look, offset, direction), look

    direction, looks = loops.scan(go_on, jnp.zeros_like(x), jnp.array(OFFSETS, x.dtype))
    return Evidence(jax.tree.map(lambda leaf: leaf[0], looks), None, direction, looks.value)


def _first_direction(x: Array, look: Look, offset: Array, direction: Array) -> Array:
    """The direction follows from the look at the point itself and stays for the others."""
    return jnp.where(offset == 0, mixed_direction(x, look.value[0], look.jacobian[0]), direction)


def mixed_direction(x: Array, value: Array, gradient: Array) -> Array:
    """Changes of all parameters at once, relative and of unlike sizes so that errors do not cancel.

    A parameter at zero has no relative change. It may be the end of its range, so it grows, by what the
    gradient predicts would double the value.
    """
    i = jnp.arange(x.size, dtype=x.dtype)
    mixed = jnp.cos(1.0 + 2.4 * i)
    mixed = jnp.where(jnp.abs(mixed) < 0.3, 0.3, mixed)
    steep = jnp.isfinite(gradient) & (jnp.abs(gradient) > jnp.abs(value))
    doubling = jnp.abs(value) / jnp.where(steep, jnp.abs(gradient), 1.0)
    return jnp.where(x == 0, jnp.abs(mixed) * jnp.where(steep, doubling, 1.0), mixed * jnp.abs(x))
