"""What to write instead: the ends of messages about words that mean nothing or are not allowed."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from diffmicro._device import Device
from diffmicro.devices import OWN
from diffmicro.devices import device as known_device
from diffmicro.parameters import Value, describe, within
from diffmicro.units import in_si, readable_unit


def unknown_key(module: Device, name: str, known: Sequence[str]) -> str:
    """What is wrong with a key: it is of the drawing, of another device, or not known at all."""
    if module.Layout is not None and name in describe(module.Layout):
        return (
            f"{name} is a dimension of the drawing (Layout), which changes no response here; `draw` takes it, and "
            "with --rules `optimize` and `tolerances`."
        )
    owners = [other for other in OWN if other != module.name and name in known_device(other).keys]
    if owners:
        return (
            f"Unknown key {name!r}: {module.name} has no such parameter, {' and '.join(owners)} "
            f"{'has' if len(owners) == 1 else 'have'} it. `diffmicro show {module.name}` lists its own."
        )
    return (
        f"Unknown key {name!r}{nearest(name, known)} `diffmicro show {module.name}` lists all keys."
    )


def through_alias(module: Device, given: Mapping[str, Value], complaint: str) -> str:
    """Which alias gave the value that is refused."""
    for key in given.keys() & module.aliases.keys():
        alias = module.aliases[key]
        if re.search(rf"\b{alias.of}\b", complaint):
            return f" It is {key} over {alias.times}, and {key}={given[key]} was given."
    return ""


def missing_unit(module: Device, given: Mapping[str, Value], complaint: str) -> str:
    """What to write in place of a number without a unit that is refused, and would be allowed with one."""
    for key, value in given.items():
        known = module.keys.get(key)
        if known is None or not isinstance(value, str) or not re.search(rf"\b{key}\b", complaint):
            continue
        sizes = [x for x in np.ravel([known.default]) if isinstance(x, float) and x]
        unit = readable_unit(sizes[0], known.unit).unit if sizes else known.unit
        try:
            number = float(value)
            small = in_si(f"{value}{unit}", known.unit)
        except ValueError:  # a list, a word, or a number with its unit
            continue
        if small != number and within(small, known):
            return f" Numbers without a unit are in SI; write {key}={value}{unit}."
    return ""


def nearest(name: str, known: Iterable[str]) -> str:
    """Which of the known names was probably meant, or what there is to choose from."""
    known = list(known)
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.4)
    return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(known)}."
