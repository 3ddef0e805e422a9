"""How a gradient is checked again: the part of a certificate that depends on what a device can do.

A gradient is compared with a second one, taken in another way, and with `differences` of the value along lines
that mix parameters. A device names its second way by one of

- `ByResolution`: the whole calculation at half the resolution;
- `ByWarmStart`: a device that searches for a motion goes on from the motion found, at another tolerance, which
  is quick, and the neighboring points start there too;
- `Unchecked`: there is none. Differences of the value are taken all the same, but nothing is certified.

Each gives the same `Evidence`; what follows from it is `certificate`'s business.
"""

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from diffmicro import _loops as loops
from diffmicro.autodiff.pruning import pruned
from diffmicro.differences import Differences, frame, learn, nothing, place
from diffmicro.parameters import Fields, Value, put

COARSER = 10.0
"""Ratio of the tolerances at which gradients are compared."""

HALF = 2.0
"""Ratio of the resolutions at which they are compared."""


class Look(NamedTuple):
    """One evaluation: the whole response, the wanted values as a vector (n), their Jacobian (n, p)."""

    response: PyTree
    value: Array
    jacobian: Array


class Question(NamedTuple):
    """Some responses of a device as a vector function of some parameters as a vector x (p).

    respond: the device's function. design, setting: what x does not contain. unravel: x as {name: value}.
    room: ends of the parameters' ranges, as x. responses: names, in the order of the vector's parts: sorted.
    """

    respond: Callable[..., PyTree]
    design: Fields
    setting: Fields
    unravel: Callable[[Array], dict[str, Array]]
    room: tuple[Array, Array]
    responses: tuple[str, ...]

    def point(self, x: Array) -> tuple[Fields, Fields]:
        """Design and setting at x."""
        return put(self.design, self.setting, self.unravel(x))

    def response(self, numerics: Mapping[str, Value], x: Array) -> PyTree:
        """The response alone."""
        return self.respond(*self.point(x), **{**numerics, "throw": False})

    def value(self, response: PyTree) -> Array:
        """The wanted values of a response."""
        return ravel_pytree({name: getattr(response, name) for name in self.responses})[0]

    def look(self, numerics: Mapping[str, Value], x: Array) -> Look:
        """Response, values and Jacobian."""

        def values(x: Array) -> tuple[Array, tuple[PyTree, Array]]:
            response = self.response(numerics, x)
            value = self.value(response)
            return value, (response, value)

        def slopes(x: Array) -> Look:
            if x.size == 1:  # a batch of one column is the same numbers, compiled slower
                ahead = (jnp.ones_like(x),)
                _, column, (response, value) = jax.jvp(values, (x,), ahead, has_aux=True)
                return Look(response, value, column[:, None])
            jacobian, (response, value) = jax.jacfwd(values, has_aux=True)(x)
            return Look(response, value, jacobian)

        return pruned(slopes)(x)


class Evidence(NamedTuple):
    """What was found: all that a verdict needs.

    x: the point. base: the look at it. coarse: the second Jacobian; None: there is none.
    differences: what the values do beside it.
    """

    x: Array
    base: Look
    coarse: Array | None
    differences: Differences


@dataclass(frozen=True)
class Recheck(abc.ABC):
    """One way to check a gradient again. `checks`: what is compared, in the words of a certificate's reason."""

    checks: ClassVar[tuple[str, ...]]

    @abc.abstractmethod
    def evidence(self, question: Question, numerics: dict[str, Value], x: Array) -> Evidence:
        """The look at x, and what it is compared with."""


@dataclass(frozen=True)
class ByResolution(Recheck):
    """The calculation is repeated at a lower resolution.

    coarser: numerics -> coarser numerics. With `share` among the numerics, the share of the steps that is taken,
    the device has the coarser resolution in the same compiled calculation.
    """

    coarser: Callable[[dict[str, Value]], dict[str, Value]]
    checks: ClassVar[tuple[str, ...]] = ("resolution", "differences of values")

    def evidence(self, question: Question, numerics: dict[str, Value], x: Array) -> Evidence:
        """The coarse look is a calculation of its own, or with `share` one more round of the same loop."""
        if "share" in numerics:

            def look(known: None, at: Array, factor: Array) -> Look:
                return question.look({**numerics, "share": numerics["share"] / factor}, at)

            walk = _walk(question, x, look, (HALF, 1.0))
            return Evidence(x, walk.found, walk.coarse, walk.differences)
        coarse = question.look(self.coarser(numerics), x).jacobian
        return Unchecked().evidence(question, numerics, x)._replace(coarse=coarse)


@dataclass(frozen=True)
class Unchecked(Recheck):
    """Nothing but differences of the value can be compared."""

    checks: ClassVar[tuple[str, ...]] = ("differences of values",)

    def evidence(self, question: Question, numerics: dict[str, Value], x: Array) -> Evidence:
        """Looks at the point and beside it, all by the same numerics."""
        walk = _walk(question, x, lambda known, at, factor: question.look(numerics, at), (1.0,))
        return Evidence(x, walk.found, None, walk.differences)


@dataclass(frozen=True)
class ByWarmStart(Recheck):
    """The calculation goes on from the motion that it found, at another tolerance.

    near: (response, tolerance) -> numerics that start at a known motion and go to one beside it.
    cold: (design, setting) -> such numerics where no motion is known yet; with the flag `near` among them, if the
    device goes on from a motion in another way than it searches. So one compiled calculation serves all looks.
    None: the first look is a calculation of its own.
    tolerance: the device's usual one.
    """

    near: Callable[..., dict[str, Value]]
    cold: Callable[..., dict[str, Value]] | None = None
    tolerance: float = 1e-9
    checks: ClassVar[tuple[str, ...]] = ("resolution", "differences of values")

    def evidence(self, question: Question, numerics: dict[str, Value], x: Array) -> Evidence:
        """Looks at a tolerance `COARSER` times larger, then at the usual one, there and beside."""
        tolerance = numerics.get("tolerance", self.tolerance)
        if self.cold is not None:
            return self._in_one(self.cold(*question.point(x)), question, numerics, x, tolerance)
        base = jax.lax.stop_gradient(question.response(numerics, x))

        def look(known: dict, at: Array, factor: Array) -> Look:
            return question.look({**numerics, **self.near(base, tolerance * factor)}, at)

        walk = _walk(question, x, look, (COARSER, 1.0))
        found = Look(base, question.value(base), walk.differences.jacobian)
        return Evidence(x, found, walk.coarse, walk.differences)

    def _in_one(
        self,
        cold: dict[str, Value],
        question: Question,
        numerics: dict[str, Value],
        x: Array,
        tolerance: Array | float,
    ) -> Evidence:
        """The look from the cold start is one more round of the same loop."""
        given = {name: numerics[name] for name in cold if numerics.get(name) is not None}
        start = jax.tree.map(lambda new, old: jnp.asarray(old, new.dtype), cold, {**cold, **given})

        def look(known: dict, at: Array, factor: Array) -> Look:
            return question.look({**numerics, **known, "tolerance": tolerance * factor}, at)

        def settle(known: dict, response: PyTree, later: Array) -> dict:
            found = self.near(response, tolerance)
            keeps = known.get("near", later)
            return {
                name: jax.tree.map(partial(jnp.where, keeps), old, found[name])
                for name, old in known.items()
            }

        walk = _walk(question, x, look, (1.0, COARSER, 1.0), start, settle)
        found = walk.found._replace(jacobian=walk.differences.jacobian)
        return Evidence(x, found, walk.coarse, walk.differences)


class _Walk(NamedTuple):
    """A round of looks: how many there were, the numerics to go on with, what is known.

    found: the first look without a factor.
    """

    count: Array
    known: dict[str, Value] | None
    found: Look
    coarse: Array
    differences: Differences


def _walk(
    question: Question,
    x: Array,
    look: Callable[..., Look],
    factors: Sequence[float],
    known: dict[str, Value] | None = None,
    settle: Callable[..., dict[str, Value] | None] = lambda known, response, later: known,
) -> _Walk:
    """Looks at x, one for each factor of the tolerance, and then beside it for as long as an entry is not settled.

    One loop, so that the calculation is compiled once. look: (known, point, factor of the tolerance).
    settle: what is known after a look, the first or a later one. The last factor is the usual one, 1.
    """
    steps = jnp.asarray(factors, x.dtype)
    last, first = len(factors) - 1, factors.index(1.0)
    shape = jax.eval_shape(look, known, x, steps[0])
    blank = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shape)
    here = frame(x, question.room)

    def goes_on(walk: _Walk) -> Array:
        return (walk.count <= last) | walk.differences.left

    def go_on(walk: _Walk) -> _Walk:
        count, opening = walk.count, walk.count <= last
        factor = steps[jnp.minimum(count, last)]
        at = x + jnp.where(opening, 0.0, place(walk.differences))
        found = look(walk.known, at, factor)
        return _Walk(
            count + 1,
            settle(walk.known, found.response, count > 0),
            jax.tree.map(partial(jnp.where, count == first), found, walk.found),
            jnp.where(opening & (factor > 1), found.jacobian, walk.coarse),
            learn(here, walk.differences, found.value, found.jacobian, opening),
        )

    unknown = nothing(here, blank.value, blank.jacobian)
    begun = _Walk(jnp.zeros((), jnp.int32), known, blank, blank.jacobian, unknown)
    return loops.while_loop(goes_on, go_on, begun)
