"""Parameters of the hexapod that come close to Table 3 of Ryou 2014, within physical bounds.

Motions of the three cases can be chaotic, so there is no gradient to follow: covariance matrix adaptation (the
package `cma`) of the rms deviation of the nine numbers, means over starts. Frequencies are those of Table 1.
Bounds: the film of a disc of 0.06 to 0.33 mm radius (K = 3 pi mu r^4 / 2), the attraction of a face of 0.02 to
2 mm^2 (half the permittivity of air times the area), offsets of 0.5 to 5 um, damping of 0.5 to 15 %, the measured
restitution with its uncertainty, 0.51 +- 0.11, a drive between mode 1 and 98 Hz. At 10 V and 89.5 Hz the foot may
not swing by more than 25 um in the air, as over that gap it does not reach the ground (Fig. 14).

24 parameters for nine numbers: a set that fits is not identified by that. Sets from other seeds differ.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from diffmicro.devices import legs
from diffmicro.devices.legs.measured import (
    identified_design,
    identified_setting,
    starts,
    table3_deviation,
    table3_numbers,
)

MODES = 6

BOUNDS: dict[str, tuple[float, float, int, bool]] = {
    "damping": (0.005, 0.15, MODES, True),
    "gain": (-4e-7, 4e-7, MODES, False),
    "mobility": (1e3, 3e6, MODES, True),
    "film": (1e-21, 1e-18, 1, True),
    "film_offset": (5e-7, 5e-6, 1, True),
    "electrostatic": (1e-19, 1e-17, 1, True),
    "electrostatic_offset": (5e-7, 5e-6, 1, True),
    "drive_frequency": (89.5, 98.0, 1, False),
    "restitution": (0.40, 0.62, 1, False),
}
"""Lowest, highest, how many, and whether the logarithm is searched."""

IN_SETTING = ("drive_frequency", "restitution")
FREE_MOST = 25e-6
"""Largest amplitude in the air at 10 V and 89.5 Hz [m]."""

PENALTY = 10.0
"""Deviation that a free amplitude twice too large counts as."""

POPULATION, SPREAD = 24, 0.03
"""Candidates of a generation; width of the first one about the identified set, share of the box."""

STARTS = 4


def values_of(unit: Any) -> dict[str, Any]:
    """The parameters at a point of the unit cube."""
    found, at = {}, 0
    for name, (low, high, count, logarithmic) in BOUNDS.items():
        share = unit[at : at + count]
        value = low * (high / low) ** share if logarithmic else low + (high - low) * share
        found[name] = value if count > 1 else value[0]
        at += count
    return found


def unit_of(values: dict[str, Any]) -> np.ndarray:
    """The point of the unit cube of these parameters."""
    shares = []
    for name, (low, high, _, logarithmic) in BOUNDS.items():
        value = np.atleast_1d(np.asarray(values[name], float))
        if logarithmic:
            shares.append(np.log(value / low) / np.log(high / low))
        else:
            shares.append((value - low) / (high - low))
    return np.clip(np.concatenate(shares), 0.0, 1.0)


def fitted() -> np.ndarray:
    """The published design and setting as a point of the unit cube."""
    return _point(legs.published_design(), legs.published_setting())


def identified() -> np.ndarray:
    """The set that an earlier search found, as a point of the unit cube."""
    return _point(identified_design(), identified_setting())


def _point(design: legs.Design, setting: legs.Setting) -> np.ndarray:
    return unit_of({n: getattr(setting if n in IN_SETTING else design, n) for n in BOUNDS})


def _split(unit: Any) -> tuple[legs.Design, dict[str, Any]]:
    values = values_of(unit)
    setting = {name: values.pop(name) for name in IN_SETTING}
    return legs.published_design(**values), setting


@eqx.filter_jit
def _numbers(units: Any, begin: Any, window: Any, tolerance: Any) -> Any:
    def one(unit: Any) -> Any:
        design, setting = _split(unit)
        return table3_numbers(design, begin, tolerance=tolerance, window=window, **setting)

    return jax.vmap(one)(units)


def nine_numbers(
    units: np.ndarray, begin: np.ndarray, window: float, tolerance: float
) -> np.ndarray:
    """(candidates, 3 numbers, 3 cases, starts) of Table 3."""
    arrays = (jnp.asarray(x, float) for x in (units, begin, window, tolerance))
    return np.asarray(_numbers(*arrays))


@jax.jit
def free_amplitudes(units: Any) -> Any:
    """Amplitude in the air at 10 V and 89.5 Hz [m]."""
    setting = legs.published_setting(drive_frequency=89.5)
    return jax.vmap(lambda unit: legs.free_amplitude(_split(unit)[0], setting))(units)


def costs(units: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """What the search makes small; large where there is no motion."""
    deviations = table3_deviation(nine_numbers(units, begin, 1.0, 1e-8).mean(-1))
    deviations = np.where(np.isfinite(deviations), deviations, 10.0)
    excess = np.maximum(0.0, np.asarray(free_amplitudes(jnp.asarray(units))) / FREE_MOST - 1)
    return deviations + PENALTY * excess


def search(seed: int, generations: int) -> dict[str, Any]:
    """The best set found around the identified one, judged over 4 s from other starts beside both known ones."""
    try:
        import cma
    except ImportError:
        raise ValueError(
            "Table 3's search needs the package cma. Install it (pip install cma)."
        ) from None
    known, best, history = fitted(), identified(), []
    options = dict(bounds=[0, 1], seed=seed + 1, popsize=POPULATION, verbose=-9)
    strategy = cma.CMAEvolutionStrategy(best, SPREAD, options)
    begin = starts(100 + seed, STARTS)
    least = float(costs(best[None], begin)[0])
    for _ in range(generations):
        candidates = np.array(strategy.ask())
        found = costs(candidates, begin)
        strategy.tell(list(candidates), list(found))
        if found.min() < least:
            best, least = candidates[found.argmin()], float(found.min())
        history.append(least)
    judged = nine_numbers(np.stack([known, identified(), best]), starts(7 + seed, 6), 4.0, 1e-9)
    before, earlier, after = (float(x) for x in table3_deviation(judged.mean(-1)))
    values = {name: np.asarray(value).tolist() for name, value in values_of(best).items()}
    return dict(
        fitted=before, identified=earlier, rms=after, numbers=judged[2].mean(-1).tolist(),
        spread=judged[2].std(-1, ddof=1).tolist(), history=history, parameters=values,
    )  # fmt: skip
