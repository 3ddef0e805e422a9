"""The stick-slip drive against C with the same springs: steps, the exact law, and whole force points.

Steps: periods of the drive from rest. Force point: 10 ms, 200 springs a contact (200 on half a contact); scalar C
goes there by brute force, period after period, until a period gains less than 1e-7 of presliding.
"""

import ctypes
from collections.abc import Iterator
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.compiled import compiled
from benchmarks.timing import in_turn, table
from diffmicro.devices import stickslip
from diffmicro.devices.stickslip.lumped import FAST, Lumped, lump, motion, statics
from diffmicro.parameters import as_arrays

SCALAR = ("-O3", "-fno-tree-vectorize", "-fno-tree-slp-vectorize")
SIMD = ("-O3", "-march=native", "-ffast-math")
PERIODS, BATCH = 20, 64
FAST_STEPS = 2 * max(stickslip.STEPS // FAST, 4)
"""Of the back step and of the shaped move after it."""


@cache
def library(flags: tuple[str, ...]) -> ctypes.CDLL:
    """The compiled baseline."""
    loaded = compiled("stickslip", flags)
    loaded.drive.restype = ctypes.c_double
    return loaded


def brute_force(
    numbers: Lumped, springs: int, periods: int, flags: tuple[str, ...]
) -> tuple[float, float]:
    """Mean position and step in the last of some periods from rest, by C."""
    place = (np.arange(springs) + 0.5) / springs
    limits = np.concatenate([float(u) * (1 - place**2) for u in numbers.presliding])
    share = np.asarray(numbers.share, float)
    slow, fast = (float(numbers.turns * t) for t in (1 - numbers.fall, numbers.fall))
    double, pointer = ctypes.c_double, ctypes.POINTER(ctypes.c_double)
    step = double()
    mean = library(flags).drive(
        springs,
        limits.ctypes.data_as(pointer),
        share.ctypes.data_as(pointer),
        double(float(numbers.sensor)),
        double(float(numbers.damping)),
        double(slow),
        double(fast),
        double(float(numbers.stroke)),
        stickslip.STEPS,
        FAST_STEPS,
        periods,
        ctypes.byref(step),
    )
    return mean, step.value


def run() -> Iterator[str]:
    """Lines of the tables."""
    design, setting = as_arrays((stickslip.Design(damping_ratio=0.03), stickslip.Setting()))
    numbers = lump(design, setting, statics(design, setting))
    yield from _steps(setting, numbers)
    yield ""
    yield from _points(design, setting, numbers)


def _steps(setting: stickslip.Setting, numbers: Lumped) -> Iterator[str]:
    """Steps of the motion."""

    def steps_of(law: str, springs: int) -> Any:
        words = eqx.tree_at(lambda s: s.preload, setting, setting.preload)
        words = stickslip.Setting(**{**vars(words), "law": law, "springs": springs})

        @jax.jit
        def periods(numbers: Lumped) -> Any:
            system = motion(numbers, words, stickslip.STEPS)

            def period(at: Any, _: None) -> Any:
                state, place = at
                state, seen = system.period(state, place)
                return (state, place + seen.step), None

            begin = (system.rest(), jnp.zeros_like(numbers.turns))
            return jax.lax.scan(period, begin, None, length=PERIODS)[0][1]

        return lambda: periods(numbers).block_until_ready()

    times = in_turn(
        {
            "springs": steps_of("mdr", 200),
            "masing": steps_of("masing", 200),
            "c200": lambda: brute_force(numbers, 200, PERIODS, SIMD),
            "c1000": lambda: brute_force(numbers, 1000, PERIODS, SIMD),
        },
        rounds=5,
    )
    count = PERIODS * (stickslip.STEPS + FAST_STEPS)
    rows = [
        [
            "MDR, 2 x 200 springs, against SIMD C",
            f"{1e9 * times['springs'] / count:.0f} ns",
            f"{times['c200'] / times['springs']:.2f}",
            "at least 0.6 (holds 0.23)",
        ],
        [
            "masing against SIMD C with 2 x 1000 springs",
            f"{1e9 * times['masing'] / count:.0f} ns",
            f"{times['c1000'] / times['masing']:.2f}",
            "at least 0.8 (holds 0.55)",
        ],
    ]
    yield from table(["steps", "a step", "times C", "goal"], rows)


def _points(design: stickslip.Design, setting: stickslip.Setting, numbers: Lumped) -> Iterator[str]:
    """Whole points, and their derivatives."""
    needed = 200
    while brute_force(numbers, 200, needed, SIMD)[1] > 1e-7:
        needed *= 2

    def force(x: jax.Array) -> jax.Array:
        put = eqx.tree_at(lambda d: d.radius, design, x[0])
        drive = eqx.tree_at(lambda s: (s.preload, s.friction, s.amplitude), setting, tuple(x[1:]))
        return stickslip.respond(put, drive, throw=False).force

    x = jnp.stack([design.radius, setting.preload, setting.friction, setting.amplitude])
    many = x * (1 + 0.1 * jax.random.uniform(jax.random.key(0), (BATCH, 4), x.dtype, -1, 1))
    one, batch = jax.jit(force), jax.jit(jax.vmap(force))

    def twice(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        value = force(x)
        return value, value

    both = jax.jit(jax.jacfwd(twice, has_aux=True))
    times = in_turn(
        {
            "one": lambda: one(x).block_until_ready(),
            "batch": lambda: batch(many).block_until_ready(),
            "gradient": lambda: both(x)[0].block_until_ready(),
            "c": lambda: brute_force(numbers, 200, needed, SCALAR),
        },
        rounds=3,
    )
    each = times["batch"] / BATCH
    rows = [
        [
            "one force point",
            f"{1e3 * times['one']:.1f} ms",
            f"{times['c'] / times['one']:.1f}",
            "at least 2",
        ],
        [
            f"each of {BATCH}",
            f"{1e3 * each:.1f} ms",
            f"{times['c'] / each:.1f}",
            "at least 10",
        ],
        [
            "with four derivatives",
            f"{1e3 * times['gradient']:.1f} ms",
            f"{times['c'] / times['gradient']:.1f}",
            "",
        ],
    ]
    heads = [f"whole points, scalar C in {needed} periods", "time", "times C", "goal"]
    yield from table(heads, rows)
    yield ""
    ratio = f"{times['gradient'] / times['one']:.1f}"
    yield from table(
        ["gradient", "over the value", "goal"],
        [["four derivatives and value", ratio, "at most 2.5"]],
    )
