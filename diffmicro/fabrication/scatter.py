"""Fabricated parts of a design as points of a standard-normal space: one coordinate for each cause of deviations.

The nominal part is the origin, and its distance says how rare a part is. Causes are independent of each other; a
cause that moves several fields makes these deviate together.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.stats import norm
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro.design.devices import Entry, entries
from diffmicro.parameters import Fields, as_arrays, get, put
from diffmicro.tolerance import Tolerance


class Scatter(NamedTuple):
    """A nominal design in its setting, and what deviates.

    causes: names of the coordinates. moved: for each cause its tolerance, and the entries that it moves by shares.
    """

    design: Fields
    setting: Fields
    causes: tuple[str, ...]
    moved: tuple[tuple[Tolerance, tuple[tuple[Entry, float], ...]], ...]

    def part(self, place: Array) -> tuple[PyTree, PyTree]:
        """Design and setting of the part at this place."""
        fields = {
            e.field: jnp.asarray(get(self.design, self.setting, e.field)) for e in self._entries()
        }
        for (tolerance, targets), normal in zip(self.moved, place, strict=True):
            deviation = normal if tolerance.kind == "normal" else 2 * norm.cdf(normal) - 1
            for entry, share in targets:
                size = tolerance.size * share * (entry.value if tolerance.relative else 1.0)
                own = fields[entry.field]
                if entry.number is None:
                    fields[entry.field] = own + size * deviation
                else:
                    flat = own.ravel().at[entry.number].add(size * deviation)
                    fields[entry.field] = flat.reshape(own.shape)
        return put(self.design, self.setting, fields)

    def values(self, place: Array | np.ndarray) -> dict[str, float]:
        """The deviating numbers of one part, by their names."""
        design, setting = self.part(jnp.asarray(place))
        found = {}
        for entry in self._entries():
            value = np.asarray(get(design, setting, entry.field))
            found[entry.variable] = float(
                value if entry.number is None else value.ravel()[entry.number]
            )
        return found

    def parts(self, places: np.ndarray) -> tuple[PyTree, PyTree]:
        """Design and setting of many parts, with a leading axis on every number."""
        return jax.tree.map(np.asarray, _parts(self, jnp.asarray(places)))

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that deviate, sorted."""
        return tuple(sorted({entry.field for entry in self._entries()}))

    def deviating(self, place: Array) -> dict[str, Array]:
        """The deviating fields of the part at this place."""
        point = self.part(place)
        return {field: get(*point, field) for field in self.fields}

    def slope(self, gradient: Mapping[str, Array | np.ndarray], place: Array) -> Array:
        """The slope at this place, of what has this gradient by the deviating fields."""
        moves = jax.jacfwd(self.deviating)(place)
        each = (jnp.tensordot(gradient[f], moves[f], jnp.ndim(gradient[f])) for f in self.fields)
        return jnp.asarray(sum(each))

    def _entries(self) -> list[Entry]:
        return [entry for _, targets in self.moved for entry, _ in targets]


def scatter(
    device: Device, design: Fields, setting: Fields, tolerances: Sequence[Tolerance]
) -> Scatter:
    """What deviates. Each entry of a vector field has a cause of its own; `field[:]` is one for all of them."""
    if not tolerances:
        raise ValueError(
            f"scatter: nothing deviates; give a tolerance, for {device.name} of a number."
        )
    design, setting = as_arrays((design, setting))
    causes: list[str] = []
    moved = []
    for tolerance in tolerances:
        targets = [
            (entry, share)
            for name, share in tolerance.moves
            for entry in entries(device, design, setting, name.removesuffix("[:]"))
        ]
        together = tolerance.common or tolerance.variable.endswith("[:]")
        made = [(tolerance.variable, targets)]
        if not together:
            made = [(entry.variable, [(entry, share)]) for entry, share in targets]
        for cause, targets in made:
            if cause in causes:
                raise ValueError(f"scatter: {cause} deviates twice; give one tolerance for it.")
            if tolerance.relative and not all(entry.value for entry, _ in targets):
                raise ValueError(
                    f"scatter: {cause} is zero, of which a share is nothing; give an absolute size."
                )
            causes.append(cause)
            moved.append((tolerance, tuple(targets)))
    return Scatter(design, setting, tuple(causes), tuple(moved))


@eqx.filter_jit
def _parts(of: Scatter, places: Array) -> tuple[PyTree, PyTree]:
    return jax.vmap(of.part)(places)
