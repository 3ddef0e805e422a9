"""Piezo legs: exact modal stepping against scalar C with the same scheme, and whole bouncing motions.

The comparison is of steps in the air: six modes by their propagators, steady response, mean and highest point.
The second table is what a designer waits for: one second of the hexapod with impacts for 256 parameter sets.
"""

import ctypes
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.compiled import compiled
from benchmarks.timing import in_turn, table
from diffmicro.devices import legs
from diffmicro.devices.legs import motion as legs_motion
from diffmicro.devices.legs import stepping as legs_stepping
from diffmicro.devices.legs.lumped import lump
from diffmicro.devices.legs.steady import pack
from diffmicro.dynamics.kernel import kernel
from diffmicro.mechanics.modes import propagator
from diffmicro.parameters import as_arrays

LANES, CHUNK, STEPS = 256, 64, 20000
"""Chunks of 64 lanes: their propagators and states fit the first cache."""

GOAL = 5


@cache
def library() -> ctypes.CDLL:
    """The compiled baseline."""
    return compiled("legs_modes")


def parameter_sets(count: int) -> list[tuple[legs.Design, legs.Setting]]:
    """Designs with frequencies and gains up to 10 % off, at 6 to 12 V."""
    rng = np.random.default_rng(0)
    known = legs.published_design()
    return [
        (
            legs.published_design(
                frequency=known.frequency * rng.uniform(0.9, 1.1, 6),
                gain=known.gain * rng.uniform(0.9, 1.1, 6),
            ),
            legs.published_setting(voltage=rng.uniform(6, 12)),
        )
        for _ in range(count)
    ]


def stacked(trees: list) -> object:
    """Many trees of numbers as one of arrays."""
    return jax.tree.map(lambda *x: jnp.stack([jnp.asarray(v, float) for v in x]), *trees)


@jax.jit
def in_the_air(systems):
    """Mean and highest point of the foot over STEPS steps of 1/400 period, lane by lane."""

    def one(system):
        n, kern = system.modes(), kernel()
        step = 1.0 / 400
        move = [propagator(system.frequency[j], system.damping[j], step) for j in range(n)]
        drive, start = system.drive(), system.rest()
        turn = jnp.sin(2 * jnp.pi * step), jnp.cos(2 * jnp.pi * step)
        zero = jnp.zeros_like(system.gap)

        def advance(_, carry):
            x, v, phase, area, peak = carry
            both = [m(a, b) for m, a, b in zip(move, x, v, strict=True)]
            x, v = zip(*both, strict=True)
            phase = phase.later(*turn)
            height = system.gap + sum(x) + drive.real * phase.sine + drive.imaginary * phase.cosine
            kept = kern.keep([*x, *v, height])
            height = kept[-1]
            return (
                tuple(kept[:n]),
                tuple(kept[n : 2 * n]),
                phase,
                area + height,
                jnp.maximum(peak, height),
            )

        phase = legs_motion.phase_at(zero)
        end = jax.lax.fori_loop(0, STEPS, advance, (start.x, start.v, phase, zero, zero - jnp.inf))
        return end[3] / STEPS, end[4]

    chunks = jax.tree.map(lambda x: x.reshape(-1, CHUNK, *x.shape[1:]), systems)
    return jax.tree.map(jnp.ravel, jax.lax.map(jax.vmap(one), chunks))


def scalar(systems) -> np.ndarray:
    """The same by C."""

    def numbers(system):
        move = propagator(system.frequency, system.damping, 1.0 / 400)
        drive = system.drive()
        return jnp.stack(move), pack(system.rest()), jnp.stack([drive.real, drive.imaginary])

    moves, states, steadies = (np.ascontiguousarray(x) for x in jax.vmap(numbers)(systems))
    angle = 2 * np.pi / 400
    turns = np.tile([np.cos(angle), np.sin(angle)], (len(states), 1))
    out = np.zeros((len(states), 2))
    gap = ctypes.c_double(float(systems.gap[0]))
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (moves, states, steadies, turns)]
    sizes = [ctypes.c_long(k) for k in (len(states), states.shape[1] // 2, STEPS)]
    library().modal_steps(*pointers, gap, *sizes, out.ctypes.data_as(ctypes.c_void_p))
    return out


@jax.jit
def bouncing(systems):
    """Mean height over 92 periods from rest, with impacts."""

    def one(system):
        record = legs_motion.blank(system.gap)
        count = system.steps(24, 1e-9)
        flight = legs_stepping.run(system, system.rest(), jnp.asarray(92), count, record)
        return flight.record.height / 92, flight.advances

    return jax.vmap(one)(systems)


def run() -> list[str]:
    """Lines of the tables."""
    sets = parameter_sets(LANES)
    systems = stacked([lump(*as_arrays(pair))[0] for pair in sets])
    # One gap in natural units for all, so that C and we do the same.
    flying = legs_motion.LegsMotion(**{**vars(systems), "gap": jnp.full(LANES, 10.0)})
    ours, theirs = np.stack(in_the_air(flying), axis=1), scalar(flying)
    same = float(np.max(np.abs(ours - theirs)))
    seconds = in_turn(
        {
            "C, scalar": lambda: scalar(flying),
            "diffmicro": lambda: jax.block_until_ready(in_the_air(flying)),
        }
    )
    rows = []
    for name, each in seconds.items():
        ratio = seconds["C, scalar"] / each
        ours_here = name == "diffmicro"
        rows.append([name, f"{1e9 * each / (LANES * STEPS):.2f}", f"{ratio:.1f}",
                     f"at least {GOAL}" if ours_here else "", f"{same:.0e}" if ours_here else ""])  # fmt: skip
    heads = ["program", "ns per step and lane", "times scalar C", "goal", "largest difference"]
    lines = table(heads, rows)
    _, advances = jax.block_until_ready(bouncing(systems))
    whole = in_turn({"diffmicro": lambda: jax.block_until_ready(bouncing(systems))}, rounds=3)
    each = whole["diffmicro"]
    lines += [""] + table(
        ["one second of the hexapod with impacts", "seconds", "ns per tried step and lane"],
        [
            [
                f"{LANES} parameter sets",
                f"{each:.2f}",
                f"{1e9 * each / float(jnp.sum(advances)):.0f}",
            ]
        ],
    )
    return lines
