"""Lines of a file of points, drawn from what a device says about its parameters: units, ranges, words, shapes.

Three kinds. `usual`: numbers off by factors of 0.01 to 100, some of them as words with a unit. `extreme`: a few
numbers at the ends of the number format or of their range. `wrong`: what can be no value of its key, or words that
do not go together; every such line has to be refused, with the key's name.

A skin is what a compiled calculation is for: words, whole numbers, and which of the optional parameters are given.
"""

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from diffmicro import Device
from diffmicro.command.words import BadInput, point
from diffmicro.parameters import Parameter
from diffmicro.units import SYMBOLS

KINDS = {"usual": 0.7, "extreme": 0.15, "wrong": 0.15}
"""Shares of the kinds among the lines of a skin."""

TOUCHED = 0.3
"""Share of the parameters that a usual line changes."""

SWITCHED_ON = 0.05
"""Share of those that are zero, which it gives a value."""

SMALL = {"start_periods": (1, 30), "springs": (20, 50), "memory": (64, 512)}
"""Whole numbers that set the size of a calculation are drawn from these."""

QUICK: Mapping[str, Mapping[str, Any]] = {
    "legs": {"settle": 0.02, "window": 0.06},
    "stickslip": {"springs": 20, "steps": 100, "damping_ratio": 0.03},
}
"""Numbers that make one calculation cheap; the first skin of a device has them too."""

EDGES = (0.0, -0.0, 5e-324, 1e-310, 1e-300, 1e-30, 1e30, 1e300, 1.7e308, -1.0, -1e-300, -1e300)


class Line(NamedTuple):
    """One line of the file. keys: those that are wrong, one of which the complaint has to name."""

    kind: str
    text: str
    keys: tuple[str, ...] = ()


def skins(device: Device, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """The usual words first, then all combinations that the device allows, in a random order."""
    yield dict(QUICK.get(device.name, {}))
    found = list(itertools.product(*_choices(device, rng).values()))
    keys = list(_choices(device, rng))
    for at in rng.permutation(len(found)):
        given = dict(QUICK.get(device.name, {})) | dict(zip(keys, found[at], strict=True))
        given = {key: value for key, value in given.items() if value is not ...}
        if allowed(device, given):
            yield given


def allowed(device: Device, given: Mapping[str, Any]) -> bool:
    """Whether these words go together."""
    try:
        point(device, given)
    except BadInput:
        return False
    return True


def contradictions(device: Device, rng: np.random.Generator) -> Iterator[Line]:
    """Lines of words in every combination that the device does not allow."""
    choices = _choices(device, rng)
    for values in itertools.product(*choices.values()):
        given = dict(zip(choices, values, strict=True))
        given = {key: value for key, value in given.items() if value is not ...}
        if not allowed(device, given):
            yield Line("wrong", json.dumps(given))


def _choices(device: Device, rng: np.random.Generator) -> dict[str, Sequence[Any]]:
    """By key what a skin chooses from; ... stands for not given."""
    found: dict[str, Sequence[Any]] = {}
    if len(device.methods) > 1:
        found["method"] = tuple(m.name for m in device.methods if not m.scheme)
    for name, known in device.parameters.items():
        if known.words:
            found[name] = known.words + ((None,) if known.optional else ())
        elif known.whole:
            found[name] = SMALL.get(name, (known.default,))
        elif known.optional:
            found[name] = (..., _plain(_given(known, rng)))
    return found


def usual(device: Device, skin: Mapping[str, Any], rng: np.random.Generator) -> Line:
    """Numbers off by factors of 0.01 to 100."""
    given = dict(skin)
    for name, known in _numbers(device, skin).items():
        absent = not np.any(_value(device, skin, known))
        if rng.random() > (SWITCHED_ON if absent else TOUCHED):
            continue
        value = _scaled(device, skin, known, rng)
        if np.ndim(value) == 0 and known.unit in SYMBOLS and rng.random() < 0.1:
            given[name] = f"{float(value)!r}{known.unit if known.unit not in ('-', '1') else ''}"
        elif np.ndim(value) and rng.random() < 0.1:
            given.pop(name, None)
            given[f"{name}[{rng.integers(np.size(value))}]"] = float(np.ravel(value)[0])
        else:
            given[name] = _plain(value)
    return Line("usual", json.dumps(given))


def extreme(device: Device, skin: Mapping[str, Any], rng: np.random.Generator) -> Line:
    """A usual line of which up to three numbers are at an end of the number format or of their range."""
    given = json.loads(usual(device, skin, rng).text)
    numbers = _numbers(device, skin)
    for name in rng.choice(list(numbers), size=rng.integers(1, 4), replace=False):
        known = numbers[name]
        ends = [x for x in (known.low, known.high) if math.isfinite(x)]
        edges = [*EDGES, *ends, *(np.nextafter(x, s * math.inf) for x in ends for s in (-1, 1))]
        value = float(rng.choice(edges))
        shape = np.shape(_value(device, skin, known))
        given[name] = _plain(np.full(shape, value)) if shape else value
        given = {k: v for k, v in given.items() if not k.startswith(f"{name}[")}
    return Line("extreme", json.dumps(given))


def wrong(device: Device, skin: Mapping[str, Any], rng: np.random.Generator) -> Line:
    """A line that means nothing, by one key or as a whole."""
    numbers = _numbers(device, skin)
    name = str(rng.choice(list(numbers)))
    several = numbers[name].shapes != ((),)
    worded = [n for n, known in device.parameters.items() if known.words]
    nonsense = ["abc", "", "1e", "0x1p3", "1,5e", "20 parsec", "NaN", "inf", "1__0", "π"]
    nonsense += [True, {"a": 1}, [], [[]], ["a"], [None], 10**400, float("nan"), -math.inf]
    nonsense += ["3m^9", [1.0, [2.0]], [0.1] * 77, [[[1.0]]], "1;2,3", " ", "None None"]
    value = nonsense[rng.integers(len(nonsense))]
    broken = ["{", "[1, 2]", "null", '{"a": 1,}', "7", '"text"', "\x00", '{"a" 1}', "[" * 5000]
    number = ["steps", name][int(rng.integers(2))]
    ways = [
        ({name: value}, (name,)),
        ({name + "x": 1.0}, (name + "x",)),
        ({f"{name}[{99 if several else 0}]": 1.0}, (name,)),
        ({f"{name}[-1]": 1.0}, (name,)),
        ({"method": ["nonsense", 3, None, ""][rng.integers(4)]}, ("method",)),
        ({number: [0.5, -3, 0, "many", True, 1e400][rng.integers(6)]}, (number,)),
        (None, ()),
    ]
    ways += [({w: ["nonsense", 1.0, True, [1]][rng.integers(4)]}, (w,)) for w in worded]
    given, keys = ways[rng.integers(len(ways))]
    if given is None:
        return Line("wrong", broken[rng.integers(len(broken))])
    if number in given and not _refusable(device, numbers, number, given[number]):
        return wrong(device, skin, rng)
    return Line("wrong", json.dumps(dict(skin) | given), keys)


def _refusable(device: Device, numbers: Mapping[str, Parameter], name: str, value: Any) -> bool:
    """Whether this can be no value of the number."""
    if name not in numbers:
        return name == "steps" and not isinstance(value, int | float)
    if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > 1e308:
        return True
    known = numbers[name]
    return value < known.low or value > known.high or (known.open_low and value <= known.low)


def _numbers(device: Device, skin: Mapping[str, Any]) -> dict[str, Parameter]:
    """The parameters with a value here that are numbers."""
    return {
        name: known
        for name, known in device.parameters.items()
        if known.differentiable and _value(device, skin, known) is not None
    }


def _value(device: Device, skin: Mapping[str, Any], known: Parameter) -> Any:
    if known.name in skin:
        return skin[known.name]
    kinds = (device.published_design(), device.published_setting())
    tree = kinds[0] if known.name in vars(kinds[0]) else kinds[1]
    return getattr(tree, known.name)


def _scaled(device: Device, skin: Mapping[str, Any], known: Parameter, rng: Any) -> Any:
    """A value off by 0.01 to 100, entry by entry; another one where there is zero or none."""
    value = np.asarray(_value(device, skin, known), float)
    factor = 10.0 ** rng.uniform(-2, 2, value.shape)
    return np.where(value == 0, _given(known, rng, value.shape), value * factor)


def _given(known: Parameter, rng: Any, shape: tuple[int, ...] | None = None) -> Any:
    """A value for a parameter without one: even in its range, over twelve decades where that is open."""
    if shape is None:
        shape = tuple(n if isinstance(n, int) else 3 for n in known.shapes[0])
    if math.isfinite(known.low) and math.isfinite(known.high):
        return rng.uniform(known.low, known.high, shape)
    sign = 1 if known.low >= 0 else rng.choice((-1, 1), shape)
    return sign * 10.0 ** rng.uniform(-11, 1, shape)


def _plain(value: Any) -> Any:
    return np.asarray(value).tolist()


MAKERS = {"usual": usual, "extreme": extreme, "wrong": wrong}


def lines(
    device: Device, skin: Mapping[str, Any], count: int, rng: np.random.Generator
) -> list[Line]:
    """So many lines of one skin."""
    kinds = rng.choice(list(KINDS), size=count, p=list(KINDS.values()))
    return [MAKERS[kind](device, skin, rng) for kind in kinds]
