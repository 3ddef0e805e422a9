"""Boundaries of the devices beside the WRMMA: derivatives against places found another way, over random designs.

Places and derivatives are those of `boundaries`. The truth of a place is a closed form in NumPy, SciPy's
event-driven tumbler (`tests.oracles.tumbler`), or, where neither is known, the device's own forward calculation
with SciPy's root finder: no derivative takes part. Its Richardson-extrapolated central difference along a random
direction of relative changes of all parameters is compared with the derivative, and the place itself. For motions
of the hybrid engine (`examples/`) the comparison is that of `boundary_truth`.
`python -m tests.physics.limit_truth [NAME ...]` prints the table."""

import dataclasses
import itertools
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from diffmicro import boundaries
from diffmicro.boundary.find import differentiated, span
from diffmicro.boundary.orbit import boundary_of, settled
from diffmicro.certificate import FLOOR
from diffmicro.devices import as_device
from diffmicro.parameters import as_arrays, get, put
from diffmicro.results import NoResult, word
from tests.oracles import tumbler as rolling
from tests.physics.boundary_truth import STEPS, SURE, Compared, changes_of, table
from tests.physics.boundary_truth import error as orbit_error

EXAMPLES = Path(__file__).parents[2] / "examples"
DESIGNS, WITHIN = 20, 0.1
"""Designs of each case, and how far each of their numbers is from the case's."""


class Case(NamedTuple):
    """A limit of a device. truth: the place, of a design and a setting, found another way, from a first guess.
    drawn: what is random. wrt: by what places are differentiated; by all numbers if None."""

    device: str
    kind: str
    along: str
    truth: Callable[[Any, Any, float], float]
    design: Mapping[str, Any] = {}
    setting: Mapping[str, Any] = {}
    drawn: tuple[str, ...] = ()
    between: tuple[float, float] | None = None
    wrt: tuple[str, ...] | None = None


def stall_field(design: Any, setting: Any, guess: float) -> float:
    """The balance of moments of a box about a corner, on a face and while it rises."""
    del guess
    weight = design.mass * setting.gravity
    press = weight * math.cos(setting.incline) + setting.electrostatic_force
    slope = weight * math.sin(setting.incline)
    moments = []
    for ahead, below in itertools.permutations((design.length / 2, design.thickness / 2)):
        face = setting.adhesion * 2 * ahead * design.width
        moments.append(ahead * (press + face) + below * slope)
        line = press + setting.adhesion * setting.edge_band * design.width

        def moment(angle: float, a: float = ahead, b: float = below, n: float = line) -> float:
            sine, cosine = math.sin(angle), math.cos(angle)
            return (a * cosine - b * sine) * n + (a * sine + b * cosine) * slope

        moments.append(_largest(moment, 0.0, math.pi / 2))
    return max(moments) / (design.magnetic_volume * design.magnetization)


def critical_incline(design: Any, setting: Any, guess: float) -> float:
    """Where SciPy's event-driven tumbler gains nothing in half a turn of the field."""

    def gained(incline: float) -> float:
        _, there = put(design, setting, {"incline": np.asarray(incline)})
        distance, end = rolling.half_turn(rolling.cuboid(design, there), phase=0.1)
        return distance if np.all(end[3:] == 0) else math.nan

    return _root(gained, guess - 5e-4, guess + 5e-4)


def coulomb_velocity(design: Any, setting: Any, guess: float) -> float:
    """Out of plane under Coulomb's law nothing is reduced from mu_0 dF_n / (m omega) on (eqs. 4.8 to 4.13)."""
    del guess
    push = setting.friction * setting.normal_force * setting.force_ratio
    return push / (design.probe_mass * 2 * math.pi * setting.frequency)


def spring_velocity(design: Any, setting: Any, guess: float) -> float:
    """Where the outermost spring never turns back: Hertz's sphere on a plane of the same steel, loaded by
    F (1 + r cos t). The largest of x'_rigid + mu E*/G* d'."""
    del guess
    modulus = design.young / 2 / (1 - design.poisson**2)
    shear = design.young / ((1 + design.poisson) * (2 - design.poisson))
    omega, ratio = 2 * math.pi * setting.frequency, setting.force_ratio
    depth = (3 * setting.normal_force / (4 * modulus * math.sqrt(design.radius))) ** (2 / 3)
    push = setting.friction * setting.normal_force * ratio / (design.probe_mass * omega)
    fall = setting.friction * modulus / shear * depth * omega

    def speed(phase: float) -> float:
        load = 1 + ratio * math.cos(phase)
        return (push - fall * 2 / 3 * ratio * load ** (-1 / 3)) * math.sin(phase)

    grid = np.linspace(0, 2 * np.pi, 400)
    top = grid[np.argmax([speed(t) for t in grid])]
    return _largest(speed, top - 0.02, top + 0.02)


def _largest(function: Callable[[float], float], low: float, high: float) -> float:
    found: Any = minimize_scalar(
        lambda x: -function(x), bounds=(low, high), method="bounded", options={"xatol": 1e-12}
    )
    return -found.fun


def zero_amplitude(design: Any, setting: Any, guess: float) -> float:
    """The stroke that the forward calculation ends at, wherever it is asked from."""
    del guess
    found = as_device("stickslip").respond(design, setting, extra=("zero_amplitude",))
    return float(found.zero_amplitude)


def limit_of_rotation(design: Any, setting: Any, guess: float) -> float:
    return _reached(design, setting, guess, lambda r: r.max_rotation - setting.rotation_limit)


def limit_of_stress(design: Any, setting: Any, guess: float) -> float:
    return _reached(design, setting, guess, lambda r: r.max_stress / setting.stress_limit - 1)


def _reached(design: Any, setting: Any, guess: float, room: Callable[[Any], Any]) -> float:
    gripper = as_device("gripper")

    def left(force: float) -> float:
        found = gripper.respond(design, put(design, setting, {"force": np.asarray(force)})[1])
        return float(room(found))

    return _root(left, guess * (1 - 5e-3), guess * (1 + 5e-3))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """The zero in a bracket, to the last digits."""
    found: Any = brentq(function, low, high, xtol=1e-18, rtol=np.float64(1e-13))
    return found


def end_of_path(design: Any, setting: Any, guess: float) -> float:
    """Where the equilibrium of the gripper stops to be found, by halves of the force."""
    gripper = as_device("gripper")
    inside, beyond = guess * (1 - 5e-3), guess * (1 + 5e-3)
    for _ in range(34):
        middle = (inside + beyond) / 2
        there = put(design, setting, {"force": np.asarray(middle)})[1]
        lost = word(gripper.respond(design, there, throw=False).result) == "past_fold"
        inside, beyond = (inside, middle) if lost else (middle, beyond)
    return inside


GRIPPED = ("beam_radius", "young", "section_width", "section_height")
CASES = {
    "stall": Case(
        "tumbler", "stall", "field", stall_field, setting=dict(incline=0.2),
        drawn=("length", "width", "thickness", "mass", "magnetization", "adhesion", "incline"),
        between=(1e-3, 20e-3),
    ),
    "climb": Case(
        "tumbler", "climb", "incline", critical_incline, setting=dict(incline=0.5),
        drawn=("length", "thickness", "mass", "friction", "adhesion", "field"),
        between=(0.3, 1.5),
        wrt=("length", "width", "thickness", "mass", "friction", "adhesion", "field",
             "magnetization", "electrostatic_force"),
    ),
    "critical_velocity": Case(
        "tribometer", "critical_velocity", "sliding_velocity", coulomb_velocity,
        setting=dict(drag_ratio=None, sliding_velocity=1e-3),
        drawn=("probe_mass", "normal_force", "friction", "force_ratio", "frequency"),
        between=(1e-4, 2e-2),
    ),
    "critical_velocity by springs": Case(
        "tribometer", "critical_velocity", "sliding_velocity", spring_velocity,
        setting=dict(drag_ratio=None, sliding_velocity=1e-2, law="mdr"),
        drawn=("probe_mass", "normal_force", "friction", "force_ratio", "frequency", "radius"),
        between=(1e-3, 1e-1),
    ),
    "zero_amplitude": Case(
        "stickslip", "zero_amplitude", "amplitude", zero_amplitude,
        design=dict(damping_ratio=0.1), setting=dict(period=2e-3),
        drawn=("radius", "runner_mass", "preload", "friction"),
        between=(1e-8, 2e-7),
    ),
    "past_fold": Case(
        "gripper", "past_fold", "force", end_of_path, setting=dict(model="partial", force=1e-3),
        drawn=("beam_radius", "young", "section_height"), between=(5e-4, 8e-3),
        wrt=GRIPPED,
    ),
    "rotation": Case(
        "gripper", "rotation", "force", limit_of_rotation,
        setting=dict(force=30e-6, rotation_limit=0.4),
        drawn=("beam_radius", "young", "section_height"), between=(1e-6, 2e-4), wrt=GRIPPED,
    ),
    "stress": Case(
        "gripper", "stress", "force", limit_of_stress, setting=dict(force=30e-6, stress_limit=3e8),
        drawn=("beam_radius", "young", "section_height"), between=(1e-6, 2e-4), wrt=GRIPPED,
    ),
}  # fmt: skip
ORBITS = {
    "capsule": (f"{EXAMPLES}/capsule/capsule.py:CAPSULE", "frequency", (60.0, 160.0)),
    "magnet": (f"{EXAMPLES}/magnet.py:MAGNET", "field", (1e-3, 4e-3)),
}
"""Robots of the hybrid engine, along what, and where."""


def examine(case: Case, count: int, seed: int = 2019) -> list[Compared]:
    """The limit of `count` random designs."""
    of = as_device(case.device)
    of = dataclasses.replace(of, limits=tuple(m for m in of.limits if m.name == case.kind))
    found = []
    for i in range(3 * count):
        if len(found) == count:
            break
        chance = np.random.default_rng((seed, i))
        point = of.published_design(**case.design), of.published_setting(**case.setting)
        moved = {
            name: np.asarray(get(*point, name)) * _scale(chance, np.shape(get(*point, name)))
            for name in case.drawn
        }
        design, setting = as_arrays(put(*point, moved))
        at = boundaries(of, design, setting, along=case.along, between=case.between, wrt=case.wrt)
        if at and at[0].grad:
            found.append(_compared(case, (design, setting), at[0], chance))
            print(f"{case.kind} {i}: {found[-1]}", file=sys.stderr, flush=True)
    return found


def _scale(chance: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return chance.uniform(1 - WITHIN, 1 + WITHIN, shape)


def _compared(case: Case, point: tuple[Any, Any], mine: Any, chance: Any) -> Compared:
    """Place and derivative of one boundary against the truth."""
    values = {name: np.asarray(get(*point, name)) for name in mine.grad}
    ways = {name: chance.normal(size=np.shape(value)) for name, value in values.items()}

    def place(step: float) -> float:
        moved = {name: value * (1 + step * ways[name]) for name, value in values.items()}
        ahead = sum(float(np.sum(mine.grad[n] * (moved[n] - values[n]))) for n in values)
        return case.truth(*put(*point, moved), mine.at + ahead)

    slope = sum(float(np.sum(mine.grad[name] * values[name] * ways[name])) for name in values)
    try:
        slopes = [(place(step) - place(-step)) / (2 * step) for step in STEPS]
        off = abs(place(0.0) / mine.at - 1)
    except RuntimeError:  # the event-driven tumbler found no law for one of its impacts
        return Compared(math.nan, mine.certificate.verdict)
    earlier, truth = (b + (b - a) / 3 for a, b in itertools.pairwise(slopes))
    size = max(abs(truth), FLOOR * abs(mine.at))
    if not abs(truth - earlier) <= SURE * size:
        return Compared(math.nan, mine.certificate.verdict)
    return Compared(max(abs(slope - truth) / size, off), mine.certificate.verdict)


def examine_orbits(
    name: str, key: str, between: tuple[float, float], count: int, seed: int = 2013
) -> dict[str, list[Compared]]:
    """Boundaries of random robots of the hybrid engine, by kind, `count` in all."""
    of = as_device(name)
    found: dict[str, list[Compared]] = {}
    numbers = [n for n, p in of.parameters.items() if p.differentiable]
    for i in range(2 * count):
        if sum(map(len, found.values())) >= count:
            break
        chance = np.random.default_rng((seed, i))
        point = of.published_design(), of.published_setting()
        moved = {n: np.asarray(get(*point, n)) * _scale(chance, ()) for n in numbers}
        moved[key] = np.clip(moved[key], *between)
        design, setting = as_arrays(put(*point, moved))
        low, high = span(of, design, setting, key, between)
        names = differentiated(of, design, setting, key, None)
        try:
            motion = settled(of, design, setting, key, low, high, None)
        except NoResult:
            continue
        for change in changes_of(motion):
            verdict = boundary_of(motion, change, "", names, look=False).certificate.verdict
            off = orbit_error(motion, change, names, chance.normal(size=len(names)))
            found.setdefault(change.kind, []).append(Compared(off, verdict))
            print(f"{of.name} {i}: {change.kind} {found[change.kind][-1]}", file=sys.stderr)
    return found


def main() -> None:
    """Print the table."""
    from diffmicro import configure

    configure(double=True)
    for name in sys.argv[1:] or [*CASES, *ORBITS]:
        if name in ORBITS:
            path, key, between = ORBITS[name]
            print(f"{name}:\n{table(examine_orbits(path, key, between, DESIGNS))}", flush=True)
        else:
            print(
                table({f"{CASES[name].device} {name}": examine(CASES[name], DESIGNS)}), flush=True
            )


if __name__ == "__main__":
    main()
