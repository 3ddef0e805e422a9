"""A branch of periodic motions along a line in the space of all parameters, with its sequence of events.

It is a `branches.Curve` whose smooth pieces are those of one sequence of events, and which knows the
derivatives by every parameter, not by the one that it is followed along alone."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from jax.typing import ArrayLike

from diffmicro.dynamics.branches import Curve, Point
from diffmicro.dynamics.periodic import Look, Lump, Periodic, look, same_sequence
from diffmicro.parameters import Fields, get, put

WIDE = 10.0
"""Length of the range of the parameter beside states [natural units]: velocities of some units are common."""


Unravel = Callable[[Array], dict[str, Array]]
"""From a vector to the numbers by their names."""


class Line(eqx.Module):
    """Designs and settings along a line: the fields named by `direction` are origin + s direction."""

    design: Fields
    setting: Fields
    origin: dict[str, Array]
    direction: dict[str, Array]

    def at(self, s: Array | float) -> tuple[Fields, Fields]:
        """Design and setting at s."""
        moved = {name: self.origin[name] + s * way for name, way in self.direction.items()}
        return put(self.design, self.setting, moved)


def along(design: Fields, setting: Fields, key: str) -> Line:
    """The line on which s is the value of one field."""
    value = jnp.asarray(get(design, setting, key))
    return Line(design, setting, {key: jnp.zeros_like(value)}, {key: jnp.ones_like(value)})


class Events:
    """A sequence of events that is equal to another one wherever counting begins."""

    def __init__(self, seen: Look):
        self.seen = seen

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Events) and same_sequence(self.seen, other.seen)

    __hash__ = None  # pyright: ignore[reportAssignmentType]


class Course(Curve):
    """The equations of periodic motions along a line, for s in [low, high]. The last entry of a point is s,
    counted so that the range has the length `WIDE`."""

    fine = 1e-12

    def __init__(
        self,
        family: Periodic,
        line: Line,
        low: float,
        high: float,
        periods: int = 1,
        tolerance: float = 1e-9,
    ):
        self.motions, self.line = family, line
        self.low, self.span = low, (high - low) / WIDE
        self.periods, self.tolerance = periods, tolerance

    def inside(self, at: np.ndarray) -> bool:
        """Whether a point lies in the range."""
        return bool(0 <= at[-1] <= WIDE)

    def value(self, at: np.ndarray) -> float:
        """s of a point."""
        return self.low + self.span * float(at[-1])

    def parameters(self, s: float) -> tuple[Array, np.ndarray]:
        """q and its derivative by s."""
        q, rate = _on_line(self.motions.lump, self.line, jnp.asarray(s, float))
        return q, np.asarray(rate)

    def seen(self, at: np.ndarray) -> Look:
        """One pass from a point."""
        q, _ = self.parameters(self.value(at))
        return look(self.motions, q, at[:-1], self.periods, self.tolerance)

    def by_point(self, seen: Look, at: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Derivatives by the point, from those by state and parameters."""
        del seen
        _, rate = self.parameters(self.value(at))
        size = len(at) - 1
        return np.column_stack([rows[:, :size], rows[:, size:] @ rate * self.span])

    def evaluate(self, at: np.ndarray) -> tuple[np.ndarray, Look, np.ndarray]:
        """P z - z, the pass, and the matrix of P z - z by the point."""
        seen = self.seen(at)
        matrix = self.by_point(seen, at, seen.matrix)
        size = len(at) - 1
        matrix[:, :size] -= np.eye(size)
        return seen.after - at[:-1], seen, matrix

    def events(self, observed: Look) -> Events:
        """What does not change along a smooth piece: the sequence of events."""
        return Events(observed)

    def settle(self, z: ArrayLike, s: float) -> Point | None:
        """The motion near the state z at s, its tangent toward larger s."""
        guess = np.append(np.asarray(z, float), (s - self.low) / self.span)
        upward = np.zeros(len(guess))
        upward[-1] = 1.0
        return self.correct(guess, upward)


def by_parameters(
    family: Periodic, design: Fields, setting: Fields, names: tuple[str, ...]
) -> tuple[np.ndarray, Unravel]:
    """dq/d(theta) of the named fields, raveled in the order of their names sorted, and the way back."""
    values = {name: jnp.asarray(get(design, setting, name), float) for name in names}
    x, unravel = ravel_pytree(values)
    return np.asarray(_by_all(family.lump, design, setting, x, unravel)), unravel


@eqx.filter_jit
def _by_all(lump: Lump, design: Fields, setting: Fields, x: Array, unravel: Unravel) -> Array:
    return jax.jacfwd(lambda x: lump(*put(design, setting, unravel(x))))(x)


@eqx.filter_jit
def _on_line(lump: Lump, line: Line, s: Array) -> tuple[Array, Array]:
    return jax.jvp(lambda s: lump(*line.at(s)), (s,), (jnp.ones_like(s),))
