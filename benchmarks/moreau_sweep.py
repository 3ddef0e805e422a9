"""Moreau's stepping of many designs at once, against C.

16384 random designs and settings in chunks of 256, from rest, on one core. The hand-vectorized C is
the limit; the issue is the ratio to the scalar one.
"""

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import baseline
from benchmarks.timing import in_turn, table
from diffmicro.devices.wrmma import lump, published_design, published_setting
from diffmicro.devices.wrmma.motion import State
from diffmicro.devices.wrmma.scheme import periods_after
from diffmicro.dynamics.moreau import STEPS

BATCH, CHUNK, PERIODS = 16384, 256, 8
DRAWN = dict(
    mass_ratio=(0.5, 2.5), field=(2e-3, 6e-3), load_factor=(5, 60), frequency_ratio=(0.5, 2.1)
)
TARGETS = {"float32": 15, "float64": 9}


def draw(count: int) -> dict[str, np.ndarray]:
    """Random points, half of them clamped at any phase."""
    rng = np.random.default_rng(1)
    drawn = {name: rng.uniform(*ends, count) for name, ends in DRAWN.items()}
    clamped = (rng.uniform(size=count) < 0.5).astype(float)
    return drawn | {"clamp_force": clamped, "clamp_phase": rng.uniform(-np.pi, np.pi, count)}


def parameters_of(drawn: dict[str, np.ndarray], count: int) -> np.ndarray:
    """The same points as rows for C."""
    published = vars(published_design()) | vars(published_setting())
    columns = [np.full(count, drawn.get(n, published[n])) for n in baseline.PARAMETERS]
    return np.stack(columns, axis=1)


@jax.jit
def stepped(motions):
    """Displacement in the last period, chunk by chunk."""

    def one(motion):
        zero = jnp.zeros_like(motion.bound)
        state = periods_after(motion, State(zero + 1, zero, zero, zero), STEPS, PERIODS - 1)
        return periods_after(motion, state._replace(position=zero), STEPS).position

    return jax.lax.map(jax.vmap(one), motions)


def motions_of(drawn: dict[str, np.ndarray], precision: str):
    """Lumped numbers in chunks, and the unit of velocity."""

    def lumped(point):
        setting = {name: value for name, value in point.items() if name != "mass_ratio"}
        return lump(published_design(mass_ratio=point["mass_ratio"]), published_setting(**setting))

    motions = jax.vmap(lumped)(drawn)
    chunks = jax.tree.map(lambda x: x.reshape(-1, CHUNK).astype(precision), motions)
    design = published_design()
    return chunks, design.rest_gap * design.tethered_frequency * drawn["frequency_ratio"]


def run() -> list[str]:
    """Lines of the table."""
    drawn = draw(BATCH)
    numbers = baseline.lump(parameters_of(drawn, BATCH))
    rows = []
    for precision, target in TARGETS.items():
        motions, unit = motions_of(drawn, precision)
        low = numbers.astype(precision)
        ours = np.asarray(stepped(motions)).reshape(-1) * unit
        theirs = baseline.run("scalar", low, PERIODS, STEPS)
        share = float(np.mean(np.abs(ours - theirs) < 1e-4 * np.abs(theirs) + 1e-6))
        seconds = in_turn(
            {
                "C, scalar": lambda low=low: baseline.run("scalar", low, 1, STEPS),
                "C, vectorized by hand": lambda low=low: baseline.run("lanes", low, PERIODS, STEPS),
                "diffmicro": lambda m=motions: jax.block_until_ready(stepped(m)),
            }
        )
        nanoseconds = {
            name: 1e9 * s / (BATCH * STEPS * (1 if name == "C, scalar" else PERIODS))
            for name, s in seconds.items()
        }
        for name, each in nanoseconds.items():
            ratio = nanoseconds["C, scalar"] / each
            aim = f"at least {target}" if name == "diffmicro" else ""
            same = f"{100 * share:.1f} %" if name == "diffmicro" else ""
            rows.append([precision, name, f"{each:.3f}", f"{ratio:.1f}", aim, same])
    heads = ["precision", "program", "ns per step", "times scalar C", "goal", "same velocity"]
    return table(heads, rows)
