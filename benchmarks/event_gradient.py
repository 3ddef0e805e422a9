"""Velocity with its gradient to 8 parameters by the event method, against velocities alone in C.

Summed over the 75 frequencies of Fig. 5 of Nagy 2012 at load factors 8 and 32 (5 mT). The baseline
is the paper's procedure in scalar C, one design at a time: Moreau's stepping until two period
velocities agree, each frequency from rest. (With the state carried, as the paper does, it is about
as long, and stands beside it.)

The event method runs with numerics made for speed, one design at a time and in batches of 256
designs (mass ratios within 1 %) per frequency, 64 of them abreast, as more leave the cache. What they
do not accept needs a second pass with the default ones, which is not in these times. Errors of
gradients are those to the default numerics, |dg| / max(|g|, 1e-3 |v / p|).
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import baseline
from benchmarks.moreau_sweep import parameters_of
from benchmarks.timing import in_turn, once, table
from diffmicro.devices.wrmma import published_design, published_setting, respond
from diffmicro.dynamics.orbits import Search

RATIOS = np.linspace(0.3, 2.2, 75)
LOADS = (8.0, 32.0)
LANES = 256
ABREAST = 64
QUICK = dict(
    search=Search(warmup=10, verify=0, newton=8, multiples=False, twins=0),
    tolerance=1e-7,
    window=0,
)
SURE = dict(search=Search(multiples=False, twins=0), window=0)

DESIGN = ("mass_ratio", "device_length", "width", "rest_gap", "tethered_frequency")
SETTING = ("field", "load_factor", "frequency_ratio")
WRT = (*DESIGN, *SETTING)


def values_of(mass_ratio: float, load: float, ratio: float) -> np.ndarray:
    """The eight parameters of one point."""
    known = vars(published_design()) | vars(published_setting())
    known |= dict(mass_ratio=mass_ratio, load_factor=load, frequency_ratio=ratio)
    return np.array([known[name] for name in WRT])


def velocity_and_gradient(numerics: dict):
    """The compiled function of one point's eight parameters."""

    def velocity(values):
        known = dict(zip(WRT, values, strict=True))
        design = published_design(**{name: known[name] for name in DESIGN})
        setting = published_setting(**{name: known[name] for name in SETTING})
        return respond(design, setting, throw=False, **numerics).velocity

    return jax.value_and_grad(velocity)


def errors(point: np.ndarray, velocity, gradient, reference) -> np.ndarray:
    """Largest error of each point's gradient."""
    scale = np.maximum(np.abs(reference), 1e-3 * np.abs(velocity[:, None] / point))
    return np.max(np.abs(gradient - reference) / scale, axis=1)


def run() -> list[str]:
    """Lines of the tables."""
    points = np.array([values_of(1.5, load, ratio) for load in LOADS for ratio in RATIOS])
    count = len(points)
    draws = np.linspace(0.99, 1.01, LANES)
    lanes = np.repeat(points[:, None], LANES, axis=1)
    lanes[:, :, 0] *= draws

    quick, sure = velocity_and_gradient(QUICK), velocity_and_gradient(SURE)
    single, exact = jax.jit(quick), jax.jit(jax.vmap(sure))
    batch = jax.jit(lambda lanes: jax.lax.map(quick, lanes, batch_size=ABREAST))

    # Accuracy, on the published design.
    answers = [jax.tree.map(np.asarray, single(point)) for point in points]
    first = jax.tree.map(lambda *x: np.stack(x), *answers)
    second = jax.tree.map(np.asarray, exact(jnp.asarray(points)))
    good = np.isfinite(second[0])
    solved = np.isfinite(first[0]) & good
    error = errors(points[solved], second[0][solved], first[1][solved], second[1][solved])

    lines = _timed(points, lanes, single, batch)
    within = 100 * float(np.mean(error < 1e-4))
    return [
        *lines,
        "",
        f"Of {count} points {int(good.sum())} have an orbit by the default numerics; "
        f"the quick ones solve {int(solved.sum())} of them, "
        f"{within:.1f} % with gradients within 1e-4 (goal 95 %), "
        f"median error {np.median(error):.1e}, largest {error.max():.1e}.",
    ]


def _timed(points: np.ndarray, lanes: np.ndarray, single: Callable, batch: Callable) -> list[str]:
    """The table of times beside C's."""
    published = {"load_factor": np.array([8.0, 32.0])}
    rows = parameters_of(published, len(LOADS))
    steps = {True: 0, False: 0}
    for carry in steps:
        steps[carry] = sum(baseline.procedure(row, RATIOS, carry)[1] for row in rows)

    def theirs(carry):
        for row in rows:
            baseline.procedure(row, RATIOS, carry)

    def one_at_a_time():
        for point in points:
            jax.block_until_ready(single(point))

    def in_batches():
        for row in lanes:
            jax.block_until_ready(batch(row))

    seconds = in_turn(
        {
            "C, from rest": lambda: theirs(False),
            "C, carried": lambda: theirs(True),
            "event method, one at a time": one_at_a_time,
        },
        rounds=5,
    )
    jax.block_until_ready(batch(lanes[0]))
    seconds["event method, batch of 256, per lane"] = once(in_batches) / LANES
    basis = seconds["C, from rest"]
    goals = {
        "event method, one at a time": "at most 0.5",
        "event method, batch of 256, per lane": "at most 0.15",
    }
    each = {"C, from rest": basis / steps[False], "C, carried": seconds["C, carried"] / steps[True]}
    return table(
        ["program", "seconds", "over C from rest", "goal", "ns per step"],
        [
            [
                name,
                f"{s:.4f}",
                f"{s / basis:.2f}",
                goals.get(name, ""),
                f"{1e9 * each[name]:.1f}" if name in each else "",
            ]
            for name, s in seconds.items()
        ],
    )
