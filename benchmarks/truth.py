"""Gradients of random designs of every device: verdicts, errors against the truth, and what certificates see.

Truth shares nothing with the library: `tests/oracles` integrate each motion event by event, or solve for it, and
are differenced along a random direction of relative changes, with an estimate of their own error by the fourth
and the second order. Draws that a program cannot follow (its value is another one, or its differences do not
agree with each other) are not compared, and are counted. False is a certified derivative off by more than 1 %; the
bound is the upper end of the 95 % interval of its share (Clopper and Pearson, one-sided).

`python -m benchmarks truth --count 1000` is the whole; the usual count takes minutes. Legs have verdicts here and
no errors: their program of truth follows transients, not the steady motion.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta

from benchmarks import planted_faults
from benchmarks.timing import table
from diffmicro.certificate import FLOOR
from diffmicro.devices import OWN, tumbler
from diffmicro.parameters import get
from diffmicro.reasons import VERDICTS
from tests.oracles import gripper as gripper_oracle
from tests.oracles import stickslip as stickslip_oracle
from tests.oracles import tumbler as tumbler_oracle
from tests.oracles.vibrated_probe import coulomb_velocity
from tests.physics import gradient_truth, motion_verdicts

WRONG = 1e-2
"""A certified derivative with a larger error is false."""

FOLLOWED = 1e-4
"""Largest relative difference of the values where the program of truth follows the same motion."""

LONGEST = 2e-3
"""Longest period of stick-slip that is compared [s]."""

Point = Mapping[str, Any]


class Draw(NamedTuple):
    """Verdict of one draw; error of its derivative, NaN where it was not compared; why not."""

    verdict: str
    error: float = np.nan
    why: str = ""


class Truth(NamedTuple):
    """A program of truth. values: of points, all lanes at once, and a guess each. keys: what it is moved by.
    step: of differences, relative. sure: how well differences of two orders have to agree."""

    values: Callable[[list[Point], list[float]], np.ndarray]
    keys: tuple[str, ...]
    step: float = 1e-4
    sure: float = 1e-4


def _tribometer(points: list[Point], guesses: list[float]) -> np.ndarray:
    """Out of plane, Coulomb."""
    del guesses
    found = []
    for p in points:
        share = (p["drag_ratio"] - (1 - p["force_ratio"])) / p["force_ratio"]
        unit = p["friction"] * p["force_ratio"] * p["normal_force"] / p["probe_mass"]
        found.append(coulomb_velocity(share) * unit / (2 * np.pi * p["frequency"]))
    return np.array(found)


def _gripper(points: list[Point], guesses: list[float]) -> np.ndarray:
    """The tip of the exact model."""
    del guesses
    found = []
    for p in points:
        # micronewtons and millimeters
        second = p["section_width"] * p["section_height"] ** 3 / 12
        bending = np.full(4, float(p["young"] * second * 1e12))
        g = gripper_oracle.Gripper(1e3 * p["beam_radius"], p["beam_angle"], bending=bending)
        state = gripper_oracle.exact_state(g, 1e6 * float(p["force"]))
        found.append(1e-3 * gripper_oracle.tips(g, state[:9])[0, 0])
    return np.array(found)


def _stickslip(points: list[Point], guesses: list[float]) -> np.ndarray:
    """The law mdr, from a sawtooth, periods up to 2 ms; all points have one period and one number of springs."""
    names = ("radius", "preload", "friction", "amplitude", "damping_ratio", "runner_mass")
    given = {name: np.array([float(p[name]) for p in points]) for name in names}
    first = points[0]
    if first["period"] > LONGEST:
        raise ValueError("its steps of 0.012 rad would take minutes")
    periods = int(np.clip(4 / first["damping_ratio"] / 20, 8, 30))
    return stickslip_oracle.force(
        given, np.array(guesses), float(first["period"]), int(first["springs"]), periods
    )


def _tumbler(points: list[Point], guesses: list[float]) -> np.ndarray:
    """A box that rests on its long face once in every half turn."""
    del guesses
    found = []
    for p in points:
        own = {k: v for k, v in p.items() if k in tumbler.Design.__dataclass_fields__}
        rest = {k: v for k, v in p.items() if k in tumbler.Setting.__dataclass_fields__}
        robot = tumbler_oracle.cuboid(
            tumbler.published_design(**own), tumbler.published_setting(**rest)
        )
        distance, end = tumbler_oracle.half_turn(robot, phase=0.1)
        at_rest = np.all(end[3:] == 0)
        found.append(2e-3 * distance * float(p["field_frequency"]) if at_rest else np.nan)
    return np.array(found)


TUMBLER = ("length", "thickness", "mass", "friction", "field", "adhesion")

TRUTHS: dict[str, Truth] = {
    "tumbler": Truth(_tumbler, TUMBLER, step=1e-5),
    "stickslip": Truth(_stickslip, motion_verdicts.STICKSLIP, step=5e-3, sure=1e-3),
    "tribometer": Truth(_tribometer, tuple(n for n in motion_verdicts.TRIBOMETER if n != "radius")),
    "gripper": Truth(_gripper, motion_verdicts.GRIPPER, step=1e-3),
}
"""The WRMMA's is `tests.physics.gradient_truth`."""


def tumbler_draw(rng: np.random.Generator) -> tuple[Any, Any]:
    """Boxes within a third of the published one, on paper and aluminum, 1 to 15 Hz, up to 20 degrees."""
    aluminum = rng.random() < 0.5
    surface = dict(electrostatic_force=0.0, friction=0.5359, adhesion=26.1771) if aluminum else {}
    design = tumbler.published_design(
        length=0.8e-3 * 1.33 ** rng.uniform(-1, 1), thickness=0.1e-3 * 1.33 ** rng.uniform(-1, 1)
    )
    setting = tumbler.published_setting(
        **surface,
        field=20e-3 * 1.3 ** rng.uniform(-1, 1),
        field_frequency=rng.uniform(1, 15),
        incline=rng.uniform(0, np.deg2rad(20)),
    )
    return design, setting


def drawn(name: str, count: int, seed: int) -> Iterator[tuple[Any, Any]]:
    """Random designs and settings; each has its own random numbers."""
    for i in range(count):
        rng = np.random.default_rng((seed, i))
        if name == "tumbler":
            yield tumbler_draw(rng)
        elif name == "stickslip":
            yield stickslip_draw(rng)
        else:
            yield motion_verdicts.DRAWN[name][1](rng)


def stickslip_draw(rng: np.random.Generator) -> tuple[Any, Any]:
    """Those of `motion_verdicts` by the law mdr."""
    return motion_verdicts.stickslip_draw(rng, "mdr", 50)


def compared(truth: Truth, point: Point, value: float, slopes: Point, direction: Point) -> Draw:
    """A certified gradient along a direction of relative changes, held to differences of the truth."""
    shares = truth.step * np.array([0, -2, -1, 1, 2])
    near: list[Point] = [
        {**point, **{k: point[k] * (1 + s * d) for k, d in direction.items()}} for s in shares
    ]
    mine = sum(float(np.sum(slopes[k] * point[k] * d)) for k, d in direction.items())
    try:
        found = truth.values(near, [value + s * mine for s in shares])
    except (RuntimeError, ValueError, np.linalg.LinAlgError):
        return Draw("certified", why="not followed")
    if not np.isfinite(found).all() or abs(found[0] - value) > FOLLOWED * abs(value):
        return Draw("certified", why="not followed")
    one = (found[3] - found[2]) / (2 * truth.step)
    wide = (found[4] - found[1]) / (4 * truth.step)
    slope = (4 * one - wide) / 3
    scale = max(abs(slope), FLOOR * abs(value))
    if abs(slope - one) > truth.sure * scale:
        return Draw("certified", why="differences do not agree")
    return Draw("certified", abs(mine - slope) / scale)


def draws(name: str, count: int, seed: int) -> Iterator[Draw]:
    """The steady motions among so many draws."""
    if name == "wrmma":
        for one in gradient_truth.examine_many(count, seed):
            if one.status == "ok":
                unlike = one.verdict == "certified" and not np.isfinite(one.error)
                yield Draw(one.verdict, one.error, "not followed" if unlike else "")
        return
    truth = TRUTHS.get(name)
    points = list(drawn(name, count, seed))
    if name == "tumbler":
        device, wrt, of = tumbler.DEVICE, TUMBLER, "speed"
    else:
        device, _, wrt, of = motion_verdicts.DRAWN[name]
    judged = motion_verdicts.verdicts(device, points, wrt, of)
    for i, ((design, setting), one) in enumerate(zip(points, judged, strict=True)):
        if not motion_verdicts.well_posed(one.response):
            continue
        verdict = VERDICTS[int(one.certificate.verdict)]
        if verdict != "certified" or truth is None:
            yield Draw(verdict, why="no truth" if truth is None else "")
            continue
        point = {n: get(design, setting, n) for n in device.parameters}
        rng = np.random.default_rng((seed, i, 1))
        direction = {key: float(rng.normal()) for key in truth.keys}
        yield compared(truth, point, float(one.value), one.gradient, direction)


def row(name: str, found: list[Draw]) -> list[str]:
    """A line of the table."""
    verdicts = Counter(draw.verdict for draw in found)
    errors = np.array([draw.error for draw in found if np.isfinite(draw.error)])
    left = Counter(draw.why for draw in found if draw.why)
    n, false = len(errors), int(np.sum(errors > WRONG))
    bound = beta.ppf(0.95, false + 1, n - false) if n > false else 1.0
    quantiles = [f"{q:.1e}" for q in np.quantile(errors, [0.5, 0.99, 1.0])] if n else ["-"] * 3
    shares = [f"{verdicts[word]}" for word in VERDICTS]
    why = "; ".join(f"{count} {word}" for word, count in left.items())
    bounded = f"{false} of {n}, below {bound:.1%}" if n else "-"
    return [name, str(len(found)), *shares, *quantiles, bounded, why]


def run(count: int = 20, seed: int = 31, names: tuple[str, ...] = tuple(OWN)) -> Iterator[str]:
    """Verdicts and errors of all devices, then which planted faults their certificates see."""
    head = [
        "device",
        "steady",
        *VERDICTS,
        "error, median",
        "99 %",
        "largest",
        "false",
        "not compared",
    ]
    yield from table(head, [row(name, list(draws(name, count, seed))) for name in names])
    yield ""
    yield from planted_faults.run(max(1, count // 100))
