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
import numpy as np
from jaxtyping import PyTree

from diffmicro import _loops as loops
from diffmicro._types import Count, Flag, Scalar, Vector

WATCHED = 3
"""Branches of one way whose mean force is known: few steps of a motion close more than one loop."""

GAUSS = np.array([0.5 - 0.5 / np.sqrt(3), 0.5 + 0.5 / np.sqrt(3)])
"""Shares of a way at which Gauss's rule looks."""


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

    def breaks(self, before: Memory, after: Memory) -> Flag:
        """Whether a loop closes or all slides on a way without reversal: there the slope of the force jumps."""
        broken = (after.top != before.top) | (after.base[0] != before.base[0])
        return broken & (after.direction == before.direction)

    def mean(self, before: Memory, after: Memory) -> tuple[Scalar, Flag]:
        """Mean force over a way without reversal, through loops that close and into sliding; whether it is known.

        Each branch on the way is integrated for itself, by Gauss's rule with two points.
        """
        direction, end = after.direction, after.displacement
        points = jnp.asarray(GAUSS, end.dtype)
        # no reversal was added on the way, and one stack need not be kept beside the other
        before = eqx.tree_at(lambda memory: memory.turns, before, after.turns)

        def branch(at: tuple, _: None) -> tuple[tuple, None]:
            here, top, area = at[:3]
            closes, closure = _closure(before.turns[0], before.base[0], before.virgin, top)
            origin, below, scale = _branch(before, top)
            last = jnp.where(closes, closure, origin + direction * scale)
            passes = direction * (end - last) >= 0
            there = jnp.where(passes, last, end)
            reach = jnp.abs(here + (there - here) * points - origin) / scale
            loaded = jax.vmap(self.loading, (0, None))(jnp.minimum(reach, 1), self.shape)
            area = area + (there - here) * (below + direction * scale * jnp.mean(loaded))
            top = jnp.where(passes & closes, jnp.maximum(top - 2, 0), top)
            return (there, top, area, passes, closes), None

        no, start = jnp.asarray(False), before.displacement
        begun = (start, before.top, jnp.zeros_like(start), no, no)
        (here, _, area, passes, closes), _ = loops.scan(branch, begun, None, length=WATCHED)
        area = area + (end - here) * direction * self.loading(jnp.ones_like(end), self.shape)
        way = jnp.where(end == start, 1.0, end - start)
        return self.stiffness * self.presliding * area / way, ~closes | ~passes

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
        origin, below, scale = _branch(eqx.tree_at(lambda s: s.turns, state, turns), top)
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


def _branch(state: Memory, top: Count) -> tuple[Scalar, Scalar, Scalar]:
    """Origin, force there and scale of the branch from a reversal, the last of `top`, or of the oldest one."""
    scale = jnp.where(state.virgin & (top == 0), 1.0, 2.0).astype(state.displacement.dtype)
    last = jnp.maximum(top - 1, 0)
    origin, below = (
        jnp.where(top == 0, base, stack[last])
        for base, stack in zip(state.base, state.turns, strict=True)
    )
    return origin, below, scale


def _closure(turns: Vector, base: Scalar, virgin: Flag, top: Count) -> tuple[Flag, Scalar]:
    """Whether the branch from the last of `top` reversals has a loop to close, and where it does."""
    last = turns[jnp.maximum(top - 1, 0)]
    # The loop of the first reversal ends at its mirror point on the curve of first loading.
    mirrored = virgin & (top == 1)
    before = jnp.where(mirrored, 2 * base - last, turns[jnp.maximum(top - 2, 0)])
    # The only reversal after sliding has no loop to close: its branch ends where all slides again.
    return mirrored | (top > 1), before


def _close_loops(known: tuple[Vector, Scalar, Scalar], virgin: Flag, top: Count) -> Count:
    """How many reversals remain after a branch that goes on to `at` has closed its loops."""
    turns, base, at = known

    def closes(top: Count) -> Flag:
        has_one, closure = _closure(turns, base, virgin, top)
        last = turns[jnp.maximum(top - 1, 0)]
        return has_one & (jnp.abs(at - last) >= jnp.abs(closure - last))

    return loops.while_loop(closes, lambda top: jnp.maximum(top - 2, 0), top)
