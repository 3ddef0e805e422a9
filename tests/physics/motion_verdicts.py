"""Verdicts on gradients of random designs of a device: the share certified, and what it is that fails.

`python -m tests.physics.motion_verdicts stickslip 60 --law mdr --springs 200 --seed 11` prints the table for 60
draws, `... legs 40 --seed 3` for legs, and so for `tribometer` and `gripper`. Draws that do not move, or do not
bounce once a period, are left out.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from diffmicro import configure
from diffmicro.certificate import value_and_gradient
from diffmicro.devices import gripper, legs, stickslip, tribometer
from diffmicro.parameters import as_arrays
from diffmicro.reasons import REASONS, VERDICTS
from diffmicro.results import word

STICKSLIP = ("radius", "preload", "friction", "amplitude")
LEGS = ("voltage", "gap", "restitution", "drive_frequency", "film", "damping")

TRIBOMETER = ("radius", "probe_mass", "normal_force", "force_ratio", "friction", "drag_ratio")
GRIPPER = ("beam_radius", "beam_angle", "young", "section_height", "section_width", "force")


def tribometer_draw(rng: np.random.Generator) -> tuple[Any, Any]:
    """Out of plane, Coulomb: any drag between stall and full friction, most others by a factor of two."""
    ratio = rng.uniform(0.1, 0.95)
    design = tribometer.Design(
        radius=3.5e-3 * 2 ** rng.uniform(-1, 1), probe_mass=2.1e-3 * 2 ** rng.uniform(-1, 1)
    )
    setting = tribometer.Setting(
        normal_force=9.5 * 2 ** rng.uniform(-1, 1),
        force_ratio=ratio,
        friction=rng.uniform(0.1, 0.8),
        frequency=30e3 * 2 ** rng.uniform(-1, 1),
        drag_ratio=1 - ratio * rng.uniform(0, 1),
    )
    return design, setting


def gripper_draw(rng: np.random.Generator) -> tuple[Any, Any]:
    """Arcs within 10 % of the published ones, silicon within a factor of 1.5, opened or closed by up to 60 uN."""
    known = gripper.published_design()
    design = gripper.Design(
        beam_radius=jnp.asarray(known.beam_radius) * rng.uniform(0.9, 1.1, 4),
        beam_angle=jnp.asarray(known.beam_angle) * rng.uniform(0.9, 1.05, 4),
        young=known.young * 1.5 ** rng.uniform(-1, 1),
        section_height=known.section_height * rng.uniform(0.9, 1.1),
        section_width=known.section_width * rng.uniform(0.8, 1.2),
    )
    return design, gripper.Setting(force=rng.uniform(-60e-6, 60e-6))


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


class Judged(NamedTuple):
    """What the library says of a draw, and how long it took [s]."""

    value: Any
    gradient: Any
    certificate: Any
    response: Any
    seconds: float


def verdicts(device: Any, points: list, wrt: tuple[str, ...], of: str) -> Iterator[Judged]:
    """Each draw judged; compiled once."""
    points = [as_arrays(point) for point in points]
    call = jax.jit(value_and_gradient(device, wrt=wrt, of=of)).lower(*points[0]).compile()
    for point in points:
        begin = time.perf_counter()
        value, gradient, certificate, response = jax.block_until_ready(call(*point))
        yield Judged(value, gradient, certificate, response, time.perf_counter() - begin)


def well_posed(response: Any) -> bool:
    """A drive that moves; legs that bounce with the drive's period."""
    if isinstance(response, legs.Response):
        return float(response.period_multiple) == 1 and float(response.impacts) > 0
    return word(response.result) == "ok"


DRAWN: dict[str, tuple[Any, Any, tuple[str, ...], str]] = {
    "stickslip": (stickslip.DEVICE, stickslip_draw, STICKSLIP, "force"),
    "legs": (legs.DEVICE, legs_draw, LEGS, "mean_height"),
    "tribometer": (tribometer.DEVICE, tribometer_draw, TRIBOMETER, "sliding_velocity"),
    "gripper": (gripper.DEVICE, gripper_draw, GRIPPER, "tip_x"),
}
"""Device, how it is drawn, the parameters of the gradient, the response that it is of."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("device", choices=tuple(DRAWN))
    parser.add_argument("draws", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--law", default="mdr", help="of stickslip")
    parser.add_argument("--springs", type=int, default=200, help="of stickslip")
    parser.add_argument("--of", default="")
    given = parser.parse_args()
    configure(double=True)
    rng = np.random.default_rng(given.seed)
    device, draw, wrt, of = DRAWN[given.device]
    words = (given.law, given.springs) if given.device == "stickslip" else ()
    points = [draw(rng, *words) for _ in range(given.draws)]
    found = verdicts(device, points, wrt, given.of or of)
    counted = [(one.certificate, one.seconds) for one in found if well_posed(one.response)]
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
