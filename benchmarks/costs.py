"""How the cost of a point grows with derivatives, steps, springs and modes, for each device.

A point is one lane of a batch of `LANES`, which differ by up to 1 % in one parameter and wait for the slowest;
seconds are the processor's.
Each quantity is varied alone. Derivatives are those of `value_and_gradient`, with their certificates, as
`sweep --grad` takes them; none is the response alone. Two laws are fitted: a line for derivatives and modes, and a
power for steps and springs; the table says how far off the worst measurement is. A point without derivatives,
n = 0, is measured and not fitted: the first derivative brings the looks of the certificate.

    python -m benchmarks.costs            # every device
    python -m benchmarks.costs gripper
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.timing import in_turn, table

LANES = 64
SPREAD = 0.01


class Growth(NamedTuple):
    """What is varied: fields or numerics of each variant, its size, and the law that is fitted."""

    what: str
    sizes: Sequence[int]
    variants: Sequence[Mapping[str, Any]]
    law: str


class Case(NamedTuple):
    """A device, what is moved from lane to lane, what is asked for, how it differs from the published point.

    wrt: parameters to differentiate by, the first n of them. numerics: of `respond`. grows: other quantities.
    """

    device: str
    moved: str
    of: str
    point: Mapping[str, Any]
    wrt: tuple[str, ...]
    grows: tuple[Growth, ...] = ()


def _by(what: str, name: str, sizes: Sequence[int]) -> Growth:
    return Growth(what, sizes, [{name: size} for size in sizes], "power")


def _modes(sizes: Sequence[int]) -> Growth:
    """The first modes of the published legs."""
    from diffmicro.devices import legs

    known = legs.published_design()
    fields = ("frequency", "damping", "gain", "mobility")
    variants = [{name: np.asarray(getattr(known, name))[:n] for name in fields} for n in sizes]
    return Growth("modes", sizes, variants, "line")


def cases() -> tuple[Case, ...]:
    """Of each device what is measured."""
    return (
        Case("tribometer", "vibration_velocity", "sliding_velocity", {},
             ("vibration_velocity", "friction", "probe_mass", "normal_force")),
        Case("wrmma", "mass_ratio", "velocity", {},
             ("mass_ratio", "rest_gap", "field", "friction", "restitution", "width", "load_factor",
              "frequency_ratio"),
             (_by("steps a period, method moreau", "steps", (500, 1000, 2000)),)),
        Case("gripper", "young", "tip_x", {"force": 20e-6},
             ("young", "section_width", "section_height", "force"),
             (_by("segments of an arc", "steps", (16, 32, 64)),)),
        Case("tumbler", "length", "speed", {}, ("length", "width", "mass", "friction")),
        Case("legs", "drive_frequency", "mean_height", {},
             ("drive_frequency", "voltage", "gap", "restitution"), (_modes((1, 2, 4, 6)),)),
        Case("stickslip", "radius", "force", {}, ("radius", "preload", "amplitude", "friction"),
             (_by("steps a period", "steps", (500, 1000, 2000)),
              _by("springs a contact, law mdr", "springs", (50, 100, 200, 400)))),
    )  # fmt: skip


DERIVATIVES = (0, 1, 2, 4, 8)


def rows_of(case: Case) -> Iterator[list[str]]:
    """A row for each quantity that is varied."""
    counts = [count for count in DERIVATIVES if count <= len(case.wrt)]
    variants = [{"wrt": case.wrt[:count]} for count in counts]
    for growth in (Growth("derivatives", counts, variants, "line"), *case.grows):
        calls = {
            str(size): _call(case, dict(v))
            for size, v in zip(growth.sizes, growth.variants, strict=True)
        }
        seconds = in_turn(calls, rounds=3)
        each = np.array([1e6 * seconds[str(size)] / LANES for size in growth.sizes])
        law, worst = fitted(growth, each)
        measured = ", ".join(f"{n}: {us:.3g}" for n, us in zip(growth.sizes, each, strict=True))
        yield [case.device, growth.what, measured, law, f"{100 * worst:.0f} %"]


def fitted(growth: Growth, each: np.ndarray) -> tuple[str, float]:
    """The law with its numbers, and the largest relative distance of a measurement from it."""
    sizes = np.array(growth.sizes, float)
    if growth.law == "power":
        power, size = np.polyfit(np.log(sizes), np.log(each), 1)
        return f"n^{power:.2f}", float(np.max(np.abs(np.exp(size) * sizes**power / each - 1)))
    some = sizes > 0  # the first derivative brings the looks of its certificate
    sizes, each = sizes[some], each[some]
    slope, start = np.polyfit(sizes, each, 1, w=1 / each)
    worst = float(np.max(np.abs((start + slope * sizes) / each - 1)))
    return f"{start:.3g} {'+' if slope >= 0 else '-'} {abs(slope):.3g} n us", worst


def _call(case: Case, variant: dict[str, Any]) -> Any:
    """What is timed: a batch of points, by a compiled function."""
    import jax
    import jax.numpy as jnp

    from diffmicro.certificate import value_and_gradient
    from diffmicro.devices import device
    from diffmicro.parameters import as_arrays, get, put

    robot, wrt = device(case.device), variant.pop("wrt", ())
    numerics = {key: variant.pop(key) for key in ("steps",) if key in variant}
    if "steps" in numerics and case.device == "wrmma":
        numerics["method"] = "moreau"
    point = put(robot.published_design(), robot.published_setting(), {**case.point, **variant})
    design, setting = as_arrays(point)
    middle = get(design, setting, case.moved)
    numerics = robot.asking_for((case.of,), numerics)

    def one(x: Any) -> Any:
        here = put(design, setting, {case.moved: x})
        if wrt:
            return value_and_gradient(robot, wrt, case.of, **numerics)(*here)[:3]
        return getattr(robot.respond(*here, throw=False, **numerics), case.of)

    batch = jax.jit(jax.vmap(one))
    lanes = middle * jnp.linspace(1 - SPREAD, 1 + SPREAD, LANES)
    return partial(lambda run, given: jax.block_until_ready(run(given)), batch, lanes)


HEADS = ["device", "n", "us a point", "law", "worst fit"]


def run(names: Sequence[str] = ()) -> list[str]:
    """Lines of the table."""
    rows = [row for case in cases() if not names or case.device in names for row in rows_of(case)]
    return table(HEADS, rows)


if __name__ == "__main__":
    import diffmicro

    diffmicro.configure()
    print(" | ".join(HEADS))
    for asked in cases():
        if not sys.argv[1:] or asked.device in sys.argv[1:]:
            for one in rows_of(asked):
                print(" | ".join(one), flush=True)
