"""Friction laws with a single state behind one interface: Dahl, LuGre, elasto-plastic, CEIM.

A displacement x is part elastic, z, part plastic (MDR thesis, eqs. 2.3-2.5):

    F = k z + eta_1 dz/dt + eta_2 dx/dt,    dz/dx = 1 - alpha(z, dx/dt) z / z_ss,    k z_ss = F_ss(dx/dt).

| law | alpha | F_ss | viscous |
|---|---|---|---|
| `dahl` | 1 | Coulomb | none |
| `lugre` | 1 | Stribeck, between static and dynamic friction | eta_1, eta_2 |
| `elastoplastic` | 0 up to 0.7 z_ss, then a sine arc up to 1 at z_ss; 0 when unloading | as lugre | as lugre |
| `ceim` | the same from 0.5 z_ss on (Edeler: z_ss = 2 z_ps) | Coulomb, dynamic | none |

Where the thesis is silent: the stiffness is that of the contact without slip, 2 G* a, and the elastic limit of the
elasto-plastic law 0.7 of the steady displacement. Stribeck: F_ss = F_d + (F_s - F_d) exp(-(rate/stribeck)^2).
CEIM's presliding is "a function of the preload, E and nu as well as six fitting parameters", which the thesis
does not print: `fitted_presliding` is a form of ours with six, a scale and five powers.
All of it is one spot: none of the laws depends on the size of the contact, and Dahl and LuGre creep under any
oscillation, however small.
"""

import equinox as eqx
import jax.numpy as jnp
from jax import Array

from diffmicro import _loops as loops
from diffmicro._types import Lanes

SINGLE_STATE_LAWS = ("dahl", "lugre", "elastoplastic", "ceim")
"""Names of the laws."""

ELASTIC_SHARE = {"dahl": 0.0, "lugre": 0.0, "elastoplastic": 0.7, "ceim": 0.5}
"""Elastic limit over steady displacement."""

COULOMB = ("dahl", "ceim")
"""Laws whose steady force is Coulomb's, and that know no rate."""

PARTS = 2
"""Parts in which an elasto-plastic displacement is followed, each by the classical Runge-Kutta method."""

LONGEST_PART = 2.5
"""Most of a part, over the steady displacement: beyond it there is nothing left to follow."""


class SingleState(eqx.Module):
    """One contact. All contacts in one go: the same with leading axes.

    law: one of SINGLE_STATE_LAWS.
    stiffness: k.
    static, dynamic: steady force at rest and while sliding fast.
    stribeck: rate at which it falls from one to the other; inf: it does not.
    elastic_damping, viscous: eta_1, eta_2; None: no such force.
    """

    law: str = eqx.field(static=True)
    stiffness: Array
    static: Array
    dynamic: Array
    stribeck: Array
    elastic_damping: Array | None = None
    viscous: Array | None = None

    def rest(self) -> Array:
        """Elastic displacement without load."""
        return jnp.zeros_like(self.stiffness)

    def steady(self, rate: Lanes) -> Array:
        """Friction force at a steady rate."""
        if self.law in COULOMB:
            return self.dynamic
        return stribeck_curve(rate, self.static, self.dynamic, self.stribeck)

    def move(self, elastic: Array, changes: Array, rates: Array) -> Array:
        """Elastic displacement after monotone changes of the displacement, each at its rate."""
        for change, rate in zip(changes, rates, strict=True):
            elastic = self._piece(elastic, change, rate)
        return elastic

    def _piece(self, elastic: Array, change: Array, rate: Array) -> Array:
        limit = self.steady(rate) / self.stiffness
        direction = jnp.sign(change)
        # along the direction of motion: z grows from `elastic` towards the limit
        along, way = direction * elastic, jnp.abs(change)
        if ELASTIC_SHARE[self.law] == 0.0:
            return direction * (limit + (along - limit) * jnp.exp(-way / limit)) + elastic * (
                direction == 0
            )
        share = ELASTIC_SHARE[self.law]
        # elastic up to the limit of that, exactly; then in parts
        first = jnp.clip(share * limit - along, 0, way)
        along, way = along + first, way - first

        part = jnp.minimum(way / PARTS, LONGEST_PART * limit)

        def slope(z: Array) -> Array:
            return 1 - self._plastic(z / limit) * z / limit

        def follow(z: Array, _: None) -> tuple[Array, None]:
            above = z > limit
            low, high = jnp.where(above, limit, z), jnp.where(above, z, limit)

            def onward(mean: Array) -> Array:
                there = z + part * mean
                return jnp.where(there < low, low, jnp.where(there > high, high, there))

            first = slope(z)
            second = slope(onward(first / 2))
            third = slope(onward(second / 2))
            fourth = slope(onward(third))
            return onward((first + 2 * (second + third) + fourth) / 6), None

        along, _ = loops.scan(follow, along, None, length=PARTS)
        return jnp.where(direction == 0, elastic, direction * along)

    def force(self, elastic: Array, rate: Array) -> Array:
        """Friction force at a rate of the displacement."""
        force = self.stiffness * elastic
        if self.law in COULOMB:
            return force
        if self.elastic_damping is not None:
            limit = self.steady(rate) / self.stiffness
            ratio = jnp.sign(rate) * elastic / limit
            force = force + self.elastic_damping * rate * (1 - self._plastic(ratio) * ratio)
        return force if self.viscous is None else force + self.viscous * rate

    @property
    def jumps(self) -> bool:
        """Whether force jumps where the rate does."""
        return self.law not in COULOMB and not (self.elastic_damping is self.viscous is None)

    def overflowed(self, elastic: Array) -> Array:
        """Whether memory ran out: there is one state."""
        return jnp.zeros(elastic.shape, bool)

    def _plastic(self, ratio: Array) -> Array:
        """alpha at z/z_ss, counted along the motion."""
        share = ELASTIC_SHARE[self.law]
        if share == 0.0:
            return jnp.ones_like(ratio)
        arc = jnp.sin(jnp.pi * (jnp.clip(ratio, share, 1) - (1 + share) / 2) / (1 - share))
        return jnp.where(ratio <= share, 0, (1 + arc) / 2)


def single_state(
    law: str,
    *,
    stiffness: Array,
    static: Array,
    dynamic: Array | float = 1.0,
    stribeck: Array | float = jnp.inf,
    elastic_damping: Array | float | None = None,
    viscous: Array | float | None = None,
) -> SingleState:
    """A law by its name; `static` is the steady force at rest, `dynamic` its share while sliding fast."""
    if law not in SINGLE_STATE_LAWS:
        raise ValueError(f"single_state: law {law!r} is not one of {', '.join(SINGLE_STATE_LAWS)}.")

    def like(value: Array | float) -> Array:
        return jnp.broadcast_to(jnp.asarray(value, static.dtype), static.shape)

    sliding = like(dynamic) * static
    rated = [None if eta is None else like(eta) for eta in (elastic_damping, viscous)]
    return SingleState(law, stiffness, static, sliding, like(stribeck), *rated)


def stribeck_curve(
    rate: Lanes | float, slow: Lanes, fast: Lanes | float, scale: Lanes | float
) -> Lanes:
    """What falls from `slow` at rest to `fast` far above the rate `scale`, as a bell curve."""
    return fast + (slow - fast) * jnp.exp(-((rate / scale) ** 2))


def fitted_presliding(scale: Lanes, powers: Array, ratios: Array) -> Lanes:
    """CEIM's elastic displacement x_ps: scale times each ratio (the last axis) to its power."""
    return scale * jnp.exp(jnp.log(ratios) @ powers)
