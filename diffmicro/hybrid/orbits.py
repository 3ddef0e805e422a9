"""The periodic motions of a device made by `device`, for their boundaries: see `dynamics.periodic`."""

from collections.abc import Callable, Mapping

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro._types import Real
from diffmicro.dynamics.periodic import Guard, Periodic
from diffmicro.dynamics.system import HybridSystem, State
from diffmicro.hybrid.motion import Motion
from diffmicro.hybrid.parts import Coulomb, Impact
from diffmicro.hybrid.steady import Robot, lump, lumped
from diffmicro.parameters import Fields, as_arrays, whole_number


class _Systems(eqx.Module):
    """From all numbers of design and setting to the system."""

    motion: Motion = eqx.field(static=True)
    unravel: Callable[[Array], tuple[Fields, Fields]] = eqx.field(static=True)

    def __call__(self, q: Array) -> HybridSystem:
        return self.motion.system(*self.unravel(q))


class _States(eqx.Module):
    """Between what repeats, in natural units, the engine's state and the states in SI units."""

    motion: Motion = eqx.field(static=True)

    def __call__(self, z: Array) -> State:
        count = len(self.motion.State._fields) - self.motion.repeating
        return self.motion.State(*z, *(jnp.zeros_like(z[0]) for _ in range(count)))

    def _units(self, design: Fields, setting: Fields) -> Array:
        units = self.motion.units(design, setting)
        return jnp.stack([jnp.asarray(units[n], float) for n in self.motion.names])

    def natural(self, design: Fields, setting: Fields, state: Mapping[str, Real]) -> Array:
        """z of a state."""
        values = jnp.stack([jnp.asarray(state[n], float) for n in self.motion.names])
        return values / self._units(design, setting)

    def physical(self, design: Fields, setting: Fields, z: Array) -> dict[str, Array]:
        """The states in SI units."""
        return dict(zip(self.motion.names, z * self._units(design, setting), strict=True))


def periodic(robot: Robot, design: Fields, setting: Fields, steps: int | None = None) -> Periodic:
    """The motions of all devices that have the words of this one."""
    motion = robot.motion
    design, setting = as_arrays((design, setting))
    states = _States(motion)
    guards: list[Guard] = []
    for contact in motion.contacts:
        rigid = "impact" if isinstance(contact, Impact) else "spring"
        friction = isinstance(contact, Coulomb)
        own = Guard(contact.name, "friction" if friction else rigid, contact.name)
        guards += [own] * (2 if friction else 1)
    return Periodic(
        system=_Systems(motion, lumped(design, setting)[1]),
        state=states,
        lump=lump,
        natural=states.natural,
        physical=states.physical,
        guards=tuple(guards),
        modes=tuple(motion.Mode._fields),
        steps=whole_number("steps", steps, 12, 4, 10**5),
    )
