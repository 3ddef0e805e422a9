"""Tangential contact with memory, without discretization: Masing's rule on the law of first loading.

On first loading the force is f(u) (Cattaneo-Mindlin for a sphere). After a reversal at (u_r, F_r) it follows

    F = F_r + 2 s f(|u - u_r| / 2),    s = +-1 the direction,

the same curve, twice as large, until the loop closes: where u reaches the reversal before the last, both are
forgotten and the branch before them goes on (Masing 1926; Jaeger 1993 for contacts). Where |u - u_r| reaches
twice the presliding displacement all of the contact slides and everything earlier is forgotten.

That is the force of infinitely many springs (`tangential`) at constant normal force. Memory is a stack of
reversals, of a length that is fixed beforehand; when it is full the state is marked and goes on without the new
reversal, so that the outcome has to be looked at.

Displacements are in units of the presliding displacement, forces in units of initial stiffness times it.
Left out: a normal force that varies (use springs).
"""

from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from diffmicro import _loops as loops
from diffmicro._types import Count, Flag, Lanes, Scalar, Vector


class Memory(eqx.Module):
    """State of one contact.

    displacement: where it is.
    force: its tangential force.
    direction: sign of the last movement, 0 before the first.
    base: displacement and force of the origin of the oldest branch.
    virgin: whether that is the branch of first loading, half as large as the others.
    turns: displacements and forces at the remembered reversals (2, memory).
    top: how many there are.
    full: whether a reversal did not fit.
    """

    displacement: Scalar
    force: Scalar
    direction: Scalar
    base: tuple[Scalar, Scalar]
    virgin: Flag
    turns: tuple[Vector, Vector]
    top: Count
    full: Flag


class Masing(eqx.Module):
    """One contact by Masing's rule.

    loading: force on first loading, of a displacement between 0 and 1, with slope 1 at 0.
    shape: what `loading` needs to know of the contact.
    stiffness: initial stiffness.
    presliding: displacement at which the contact begins to slide.
    memory: number of reversals that are remembered.
    """

    loading: Callable[[Scalar, PyTree], Scalar] = eqx.field(static=True)
    shape: PyTree
    stiffness: Scalar
    presliding: Scalar
    memory: int = eqx.field(static=True)

    jumps: ClassVar[bool] = False
    """Whether force jumps where the rate does."""

    def rest(self) -> Memory:
        """A contact that was never moved."""
        zero = jnp.zeros_like(self.presliding)
        empty = jnp.zeros(self.memory, zero.dtype)
        no, none = jnp.asarray(False), jnp.asarray(0, jnp.int32)
        return Memory(
            zero, zero, zero, (zero, zero), jnp.asarray(True), (empty, empty), none, no
        )  # fmt: skip

    def move(self, state: Memory, changes: Vector, rates: Vector) -> Memory:
        """State after monotone changes of the displacement, one after the other; rates do not matter."""
        del rates
        end, _ = loops.scan(lambda s, change: (self._piece(s, change), None), state, changes)
        return end

    def force(self, state: Memory, rate: Scalar) -> Scalar:
        """Tangential force of the contact."""
        del rate
        return self.stiffness * self.presliding * state.force

    def overflowed(self, state: Memory) -> Flag:
        """Whether a reversal did not fit into the memory."""
        return state.full

    def _piece(self, state: Memory, change: Scalar) -> Memory:
        step = change / self.presliding
        direction = jnp.where(step == 0, state.direction, jnp.sign(step))
        turned = state.direction * direction < 0
        keep = turned & (state.top < self.memory)
        turns = (
            _put(state.turns[0], state.top, state.displacement, keep),
            _put(state.turns[1], state.top, state.force, keep),
        )
        at = state.displacement + step
        top = state.top + jnp.where(keep, 1, 0)
        top = _close_loops(jax.lax.stop_gradient((turns[0], state.base[0], at)), state.virgin, top)
        # the branch from the last reversal, or the oldest one
        scale = jnp.where(state.virgin & (top == 0), 1.0, 2.0).astype(at.dtype)
        last = jnp.maximum(top - 1, 0)
        origin, below = (
            jnp.where(top == 0, base, stack[last])
            for base, stack in zip(state.base, turns, strict=True)
        )
        reach = jnp.abs(at - origin) / scale
        slides = reach >= 1
        limit = self.loading(jnp.ones_like(at), self.shape)
        loaded = self.loading(jnp.where(slides, 0.5, reach), self.shape)
        # A sliding contact remembers nothing but where its way back would end.
        base = at - 2 * direction, -direction * limit
        return Memory(
            displacement=at,
            force=jnp.where(slides, direction * limit, below + direction * scale * loaded),
            direction=direction,
            base=(
                jnp.where(slides, base[0], state.base[0]),
                jnp.where(slides, base[1], state.base[1]),
            ),
            virgin=state.virgin & ~slides,
            turns=turns,
            top=jnp.where(slides, 0, top),
            full=state.full | (turned & ~keep),
        )


def _put(stack: Vector, slot: Count, value: Scalar, keep: Flag) -> Vector:
    slot = jnp.minimum(slot, stack.shape[0] - 1)
    return stack.at[slot].set(jnp.where(keep, value, stack[slot]))


def _close_loops(known: tuple[Vector, Scalar, Scalar], virgin: Flag, top: Count) -> Count:
    """How many reversals remain after a branch that goes on to `at` has closed its loops."""
    turns, base, at = known

    def closes(top: Count) -> Flag:
        last = turns[jnp.maximum(top - 1, 0)]
        # The loop of the first reversal ends at its mirror point on the curve of first loading.
        mirrored = virgin & (top == 1)
        before = jnp.where(mirrored, 2 * base - last, turns[jnp.maximum(top - 2, 0)])
        # The only reversal after sliding has no loop to close: its branch ends where all slides again.
        return (mirrored | (top > 1)) & (jnp.abs(at - last) >= jnp.abs(before - last))

    return loops.while_loop(closes, lambda top: jnp.maximum(top - 2, 0), top)


class Outline(eqx.Module):
    """Shape of a contact over its radius: g(x)/g(a) = smooth s(x/a) + (1 - smooth) (x/a)^hurst.

    flat: radius of the flat tip over contact radius; s is a flattened sphere's.
    smooth: share of the sphere in the indentation.
    hurst: exponent of the rough rest.
    """

    flat: Lanes
    smooth: Lanes
    hurst: Lanes

    def depth(self, x: Array) -> Array:
        """g(x a)/g(a) for x from 0 to 1."""
        beyond = (x - self.flat) * (x + self.flat)
        root = jnp.sqrt(jnp.where(beyond > 0, beyond, 1))
        sphere = jnp.where(beyond > 0, x * root, 0) / jnp.sqrt(1 - self.flat**2)
        return self.smooth * sphere + (1 - self.smooth) * _power(x, self.hurst)

    def area(self, x: Array) -> Array:
        """Integral of depth from 0 to x."""
        beyond = (x - self.flat) * (x + self.flat)
        sphere = jnp.where(beyond > 0, jnp.where(beyond > 0, beyond, 1) ** 1.5, 0)
        sphere = sphere / (3 * jnp.sqrt(1 - self.flat**2))
        return self.smooth * sphere + (1 - self.smooth) * _power(x, self.hurst + 1) / (
            self.hurst + 1
        )

    def radius(self, depth: Array) -> Array:
        """The x where depth(x) has a value from 0 to 1, without derivative."""
        flat, smooth, hurst, depth = jax.lax.stop_gradient(
            (self.flat, self.smooth, self.hurst, depth)
        )
        held = Outline(flat, smooth, hurst)
        # exact without roughness: x^2 (x^2 - flat^2) = depth^2 (1 - flat^2)
        square = 4 * depth**2 * (1 - flat**2)
        start = jnp.sqrt((flat**2 + jnp.sqrt(flat**4 + square)) / 2)
        eps = 8 * jnp.finfo(depth.dtype).eps

        def off(at: tuple) -> Array:
            low, high, x = at
            return (jnp.abs(held.depth(x) - depth) > eps) & (high - low > eps)

        def improve(at: tuple) -> tuple:
            low, high, x = at
            value, slope = jax.jvp(held.depth, (x,), (jnp.ones_like(x),))
            low, high = jnp.where(value < depth, x, low), jnp.where(value < depth, high, x)
            newton = x - (value - depth) / jnp.where(slope > 0, slope, 1)
            inside = (slope > 0) & (newton > low) & (newton < high)
            return low, high, jnp.where(inside, newton, (low + high) / 2)

        begin = (jnp.zeros_like(start), jnp.ones_like(start), start)
        return loops.while_loop(off, improve, begin)[2]


def _power(x: Array, exponent: Array) -> Array:
    return jnp.where(x > 0, jnp.where(x > 0, x, 1) ** exponent, 0)


def outline_loading(reach: Scalar, shape: Outline) -> Scalar:
    """First loading of any outline: the core that sticks, and the limits of the ring that slides.

    The core's radius makes the force an extremum, so that the derivative needs none of it.
    """
    core = shape.radius(1 - reach)
    return reach * core + (1 - core) - (shape.area(jnp.ones_like(core)) - shape.area(core))


def sphere_loading(reach: Scalar, shape: None = None) -> Scalar:
    """First loading of a sphere (Cattaneo-Mindlin), reach from 0 to 1."""
    del shape
    rest = 1 - reach
    return jnp.where(rest > 0, 2 / 3 * (1 - jnp.where(rest > 0, rest, 1) ** 1.5), 2 / 3)
