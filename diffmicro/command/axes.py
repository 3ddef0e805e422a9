"""The keys of a sweep that have several values, from words: a grid, or intervals to draw from."""

import itertools
from collections.abc import Mapping, Sequence

from diffmicro._device import Device
from diffmicro.command import words
from diffmicro.command.words import BadInput
from diffmicro.parameters import Value
from diffmicro.sweep import Interval
from diffmicro.sweep.grids import points_of


def is_range(pair: str) -> bool:
    """Whether a word is `key=low:high`; `key[:]=value` sets all entries of a vector."""
    return ":" in pair.partition("=")[2]


def grid_axes(
    module: Device, given: Mapping[str, str]
) -> tuple[dict[str, Value], dict[str, Value]]:
    """Words with several values as axes, the others as they are. Every value is checked here."""
    axes: dict[str, Value] = {}
    fixed: dict[str, Value] = {}
    for key, text in given.items():
        # Commas part values, but the numbers of what is a vector anyway.
        several = ":" in text or ("," in text and not words.is_vector(module, key))
        if key in words.NUMERICS:
            if several:
                raise BadInput(f"{key}={text}: {key} takes one value for the whole sweep.")
            fixed[key] = text
        elif several:
            values = words.axis(module, key, text)
            axes |= {key: values} if len(values) > 1 else {}
            fixed |= {key: values[0]} if len(values) == 1 else {}
        else:
            fixed[key] = text
    if not axes:
        raise BadInput("No key has several values; try key=start:stop:count or key=a,b,c.")
    for key in _dependent(module, fixed, axes):
        axes[key] = words.axis(module, key, fixed.pop(key))
    return axes, fixed


def _dependent(module: Device, fixed: Mapping[str, Value], axes: Mapping[str, Value]) -> list[str]:
    """Aliases with one value, whose parameter is another one at each point, as what it is made with varies."""
    return [key for key in fixed if key in module.aliases and module.aliases[key].times in axes]


def check_points(
    module: Device, axes: Mapping[str, Value], start: words.Point, wrt: Sequence[str] = ()
) -> None:
    """`BadInput` where a point of the sweep is out of range, contradicts itself, or does not depend on `wrt`.

    Ranges are intervals: where both ends of numbers lie inside, all of them do.
    """
    ends: dict[str, list[Value]] = {}
    others: dict[str, Sequence[Value]] = {}
    for key, values in axes.items():
        if all(isinstance(value, int | float) for value in values):
            ends[key] = [values[0], min(values), max(values)]
        else:
            others[key] = values
    for combination in itertools.product(*others.values()):
        chosen = {key: values[0] for key, values in ends.items()}
        chosen |= dict(zip(others, combination, strict=True))
        looked_at = [chosen, *(chosen | {key: end} for key in ends for end in ends[key][1:])]
        for (
            key,
            alias,
        ) in module.aliases.items():  # a quotient is largest and smallest where both are at ends
            both = [name for name in (key, alias.times) if key in ends and name in ends]
            corners = itertools.product(*(ends[name] for name in both))
            looked_at += [chosen | dict(zip(both, corner, strict=True)) for corner in corners]
        for point in looked_at:
            row = {key: [value] for key, value in point.items()}
            ((design, setting),) = points_of(module, row, start.design, start.setting)
            words.check_ranges(module, design, setting)
            words.check_free(design, setting, wrt)


def boxes(
    module: Device, given: Mapping[str, str]
) -> tuple[dict[str, Interval | Sequence[Value]], dict[str, Value]]:
    """Words `key=low:high` and `key=a,b,c` as what values are drawn from, the others as they are."""
    found: dict[str, Interval | Sequence[Value]] = {}
    fixed: dict[str, Value] = {}
    for key, text in given.items():
        if ":" in text and key not in words.NUMERICS:
            if text.count(":") > 1:
                raise BadInput(f"{key}={text}: values are drawn from key=low:high or key=a,b,c.")
            low, high = words.axis(module, key, f"{text}:2")
            if not low < high:
                raise BadInput(f"{key}={text}: the first value has to be below the second.")
            found[key] = Interval(low, high, words.known(module, key).whole)
        else:
            fixed[key] = text
    several = {key: text for key, text in fixed.items() if "," in text}
    for key in [key for key in several if key not in words.NUMERICS]:
        if not words.is_vector(module, key):
            found[key] = list(words.axis(module, key, fixed.pop(key)))
    if not found:
        raise BadInput("No key has values to draw from; try key=low:high or key=a,b,c.")
    for key in _dependent(module, fixed, found):
        found[key] = list(words.axis(module, key, fixed.pop(key)))
    return found, fixed


def ends_of(boxes: Mapping[str, Interval | Sequence[Value]]) -> dict[str, Sequence[Value]]:
    """The values of each key that decide whether all of them are allowed."""
    return {
        key: [box.low, box.high] if isinstance(box, Interval) else box for key, box in boxes.items()
    }
