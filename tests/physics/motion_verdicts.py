"""Verdicts on gradients of random stick-slip drives and legs: the share certified, and what it is that fails.

`python -m tests.physics.motion_verdicts stickslip 60 --law mdr --springs 200 --seed 11` prints the table for 60
draws, `... legs 40 --seed 3` for legs. Draws that do not move, or do not bounce once a period, are left out.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from diffmicro import configure
from diffmicro.certificate import value_and_gradient
from diffmicro.devices import legs, stickslip
from diffmicro.parameters import as_arrays
from diffmicro.reasons import REASONS, VERDICTS
from diffmicro.results import word

STICKSLIP = ("radius", "preload", "friction", "amplitude")
LEGS = ("voltage", "gap", "restitution", "drive_frequency", "film", "damping")


def stickslip_draw(rng: np.random.Generator, law: str, springs: int) -> tuple[Any, Any]:
    """Spheres of 0.25 to 2 mm, damping of 1 to 20 %, periods of 0.8 to 16 ms."""
    design = stickslip.Design(
        radius=10 ** rng.uniform(-3.6, -2.7),
        damping_ratio=10 ** rng.uniform(-2, -0.7),
        runner_mass=3e-3 * 10 ** rng.uniform(-0.3, 0.3),
    )
    setting = stickslip.Setting(
        preload=10 ** rng.uniform(-1, 0.3),
        friction=rng.uniform(0.15, 0.5),
        amplitude=10 ** rng.uniform(-7.5, -6.6),
        period=10 ** rng.uniform(np.log10(0.8e-3), np.log10(16e-3)),
        law=law,
        springs=springs,
    )
    return design, setting


def legs_draw(rng: np.random.Generator) -> tuple[Any, Any]:
    """The published legs, all modes varied, at half to twice the voltage over gaps up to 15 um."""
    known = legs.published_design()
    n = jnp.size(known.frequency)
    design = legs.Design(
        frequency=jnp.asarray(known.frequency) * rng.uniform(0.9, 1.1, n),
        damping=jnp.asarray(known.damping) * 10 ** rng.uniform(-0.2, 0.2, n),
        gain=jnp.asarray(known.gain) * rng.uniform(0.7, 1.3, n),
    )
    setting = legs.Setting(
        voltage=rng.uniform(5, 20),
        gap=rng.uniform(0, 15e-6),
        drive_frequency=rng.uniform(50, 150),
        restitution=rng.uniform(0.2, 0.8),
    )
    return design, setting


def verdicts(device: Any, points: list, wrt: tuple[str, ...], of: str) -> Iterator[tuple]:
    """Response, certificate and seconds of each draw; compiled once."""
    points = [as_arrays(point) for point in points]
    call = jax.jit(value_and_gradient(device, wrt=wrt, of=of)).lower(*points[0]).compile()
    for point in points:
        begin = time.perf_counter()
        _, _, certificate, response = jax.block_until_ready(call(*point))
        yield response, certificate, time.perf_counter() - begin


def well_posed(response: Any) -> bool:
    """A drive that moves; legs that bounce with the drive's period."""
    if isinstance(response, legs.Response):
        return float(response.period_multiple) == 1 and float(response.impacts) > 0
    return word(response.result) == "ok"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("device", choices=("stickslip", "legs"))
    parser.add_argument("draws", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--law", default="mdr")
    parser.add_argument("--springs", type=int, default=200)
    parser.add_argument("--of", default="")
    given = parser.parse_args()
    configure(double=True)
    rng = np.random.default_rng(given.seed)
    if given.device == "legs":
        points = [legs_draw(rng) for _ in range(given.draws)]
        found = verdicts(legs.DEVICE, points, LEGS, given.of or "mean_height")
    else:
        points = [stickslip_draw(rng, given.law, given.springs) for _ in range(given.draws)]
        found = verdicts(stickslip.DEVICE, points, STICKSLIP, given.of or "force")
    counted = [(c, seconds) for response, c, seconds in found if well_posed(response)]
    words = Counter(
        f"{VERDICTS[int(c.verdict)]}: {REASONS[int(c.reason)].name}" for c, _ in counted
    )
    for word_, count in words.most_common():
        print(f"{word_:28} {count:4} of {len(counted)}")
    for name in ("discrepancy", "mismatch"):
        values = [float(getattr(c, name)) for c, _ in counted]
        print(
            name,
            "median, 90 %, 99 %:",
            *(f"{q:.1e}" for q in np.nanquantile(values, [0.5, 0.9, 0.99])),
        )
    print(f"seconds for a draw, median: {np.median([s for _, s in counted]):.2f}")


if __name__ == "__main__":
    main()
