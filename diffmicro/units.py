"""Numbers with units, as people write them: `20um`, `5mT`, `27deg`, `200MPa`, `3mm/s`, `5%`.

`in_si` turns such a word into the SI number of a field and refuses one of another dimension. A number without a
unit is SI already. `readable` is the way back: a number in the unit that reads well.
Of units outside SI there are gauss and rpm, which laboratories have. Left out: inches, and temperatures.
"""

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from typing import NamedTuple


class Unit(NamedTuple):
    """factor: to SI [-]. powers: of kg, m, s and A."""

    factor: float
    powers: tuple[int, int, int, int] = (0, 0, 0, 0)

    def times(self, other: "Unit", power: int) -> "Unit":
        powers = tuple(a + power * b for a, b in zip(self.powers, other.powers, strict=True))
        return Unit(self.factor * other.factor**power, powers)  # pyright: ignore[reportArgumentType]


SYMBOLS = {
    "m": Unit(1.0, (0, 1, 0, 0)),
    "g": Unit(1e-3, (1, 0, 0, 0)),
    "s": Unit(1.0, (0, 0, 1, 0)),
    "A": Unit(1.0, (0, 0, 0, 1)),
    "Hz": Unit(1.0, (0, 0, -1, 0)),
    "N": Unit(1.0, (1, 1, -2, 0)),
    "Pa": Unit(1.0, (1, -1, -2, 0)),
    "J": Unit(1.0, (1, 2, -2, 0)),
    "W": Unit(1.0, (1, 2, -3, 0)),
    "V": Unit(1.0, (1, 2, -3, -1)),
    "C": Unit(1.0, (0, 0, 1, 1)),
    "F": Unit(1.0, (-1, -2, 4, 2)),
    "T": Unit(1.0, (1, 0, -2, -1)),
    "G": Unit(1e-4, (1, 0, -2, -1)),
    "gauss": Unit(1e-4, (1, 0, -2, -1)),
    "rpm": Unit(1 / 60, (0, 0, -1, 0)),
    "rad": Unit(1.0),
    "deg": Unit(math.pi / 180),
    "%": Unit(0.01),
    "-": Unit(1.0),
    "1": Unit(1.0),
}
"""Units by their symbols; an angle is a pure number, a turn a minute is 1/60 Hz."""

PREFIXES = {"f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "c": 1e-2, "k": 1e3}
PREFIXES |= {"\u00b5": 1e-6, "\u03bc": 1e-6, "M": 1e6, "G": 1e9, "T": 1e12}
LADDER = (("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("u", 1e-6), ("n", 1e-9))
LADDER += (("p", 1e-12), ("f", 1e-15))
"""The prefixes that readable numbers have, the largest first."""

WITHOUT_PREFIX = ("deg", "%", "-", "1", "rad")

SHOWN_SI = ("m", "s", "A", "Hz", "N", "Pa", "V", "T", "kg", "rad")
"""Units that SI numbers in messages have."""

NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(1/.*?|[^\W\d].*?|%)?\s*")


class UnitError(ValueError):
    """A unit that is not known, or of another dimension than the field."""


def in_si(text: str, unit: str) -> float:
    """The number of a word such as `20um` in SI, for a field whose SI unit is `unit`.

    What is no number, with or without a unit, is a plain ValueError.
    """
    found = NUMBER.fullmatch(text)
    if not found and re.fullmatch(r"\s*[+-]?\d+,\d+\s*[^\W\d].*", text):
        raise UnitError(
            f"write a decimal point instead of the comma: {text.strip().replace(',', '.')}"
        )
    if not found or found[2] is None:
        return float(text)
    given, wanted = parsed(found[2]), parsed(unit or "-")
    if given.powers != wanted.powers:
        name = "a pure number" if unit in ("", "-") else f"in {unit}"
        raise UnitError(f"{text.strip()} has another dimension; it has to be {name}")
    power = round(math.log10(given.factor))
    if math.isclose(given.factor, 10.0**power, rel_tol=1e-12):  # `40um` is 40e-6 to the last bit
        return float(Decimal(found[1]).scaleb(power))
    return float(found[1]) * given.factor


def last_alone_has_unit(texts: Sequence[str]) -> bool:
    """Whether only the last of several numbers has a unit, as in `1,2um`, which may be meant for all or not."""
    found = [NUMBER.fullmatch(text) for text in texts]
    plain = [bool(known and known[2] is None) for known in found[:-1]]
    last = found[-1]
    some = any(float(text) for text, known in zip(texts, plain, strict=False) if known)
    return some and all(plain) and bool(last and last[2])


@cache
def parsed(text: str) -> Unit:
    """`um`, `mm/s`, `kg/m^3`, `N s/m` as factor and powers; `/` divides by the one unit after it."""
    whole, parts = Unit(1.0), re.findall(r"[/*]?\s*[^\s/*]+", text)
    if "".join("".join(parts).split()) != "".join(text.split()):
        raise _unknown(text)
    for part in parts:
        found = re.fullmatch(r"([/*]?)\s*([^\s\d^/*-]+|-|1)(?:\^?(-?\d))?", part)
        if not found:
            raise _unknown(text)
        power = int(found[3] or 1) * (-1 if found[1] == "/" else 1)
        whole = whole.times(_symbol(found[2], text), power)
    return whole


def _symbol(symbol: str, text: str) -> Unit:
    symbol = symbol.replace("Gauss", "gauss")
    if symbol in SYMBOLS:
        return SYMBOLS[symbol]
    prefix, rest = symbol[:1], symbol[1:]
    if prefix in PREFIXES and rest in SYMBOLS and rest not in WITHOUT_PREFIX:
        return SYMBOLS[rest]._replace(factor=PREFIXES[prefix] * SYMBOLS[rest].factor)
    raise _unknown(text)


def _unknown(text: str) -> UnitError:
    known = ", ".join(s for s in SYMBOLS if s not in ("-", "1"))
    return UnitError(
        f"{text!r} is no unit that is known here; known are {known}, with the prefixes "
        f"{' '.join(p for p in PREFIXES if p.isascii())}, as in 20um, 5mT, 3mm/s"
    )


class Shown(NamedTuple):
    """How numbers of one unit are shown: `number * factor` in `unit`."""

    factor: float
    unit: str


def readable_unit(size: float, unit: str) -> Shown:
    """The unit in which a number of this size reads well: between 1 and 1000 where a prefix can do that."""
    size = abs(size)
    if unit == "rad":
        return Shown(180 / math.pi, "deg")
    if unit in ("", "-") or not size or not math.isfinite(size):
        return Shown(1.0, "" if unit == "-" else unit)
    found = re.fullmatch(r"(k(?=g))?([^\W\d]+)(.*)", unit)
    # Powers keep their unit: a prefix in front of m^3 or kg/m^3 does not read well. So do lists of units.
    if (
        not found
        or "^" in unit
        or "," in unit
        or found[2] not in SYMBOLS
        or found[2] in WITHOUT_PREFIX
    ):
        return Shown(1.0, unit)
    own = 1e3 if found[1] else 1.0
    for prefix, step in LADDER:
        if size * own >= (1 - 5e-10) * step:
            return Shown(own / step, prefix + found[2] + found[3])
    return Shown(1.0, unit)


def readable(value: float, unit: str, digits: int = 6) -> str:
    """`20 um` for 2e-5 m: what `in_si` understands, with so many digits."""
    shown = readable_unit(value, unit)
    return f"{value * shown.factor:.{digits}g} {shown.unit}".strip()


def in_readable_units(text: str) -> str:
    """A text with its SI numbers in units that read well: `0.0004 m` becomes `400 um`."""

    def shown(found: re.Match[str]) -> str:
        return readable(float(found[1]), found[2]) if found[2] in SHOWN_SI else found[0]

    return re.sub(
        r"(?<![\w.+-])([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?) ([A-Za-z]+)(?![\w/^])", shown, text
    )


def round_below(limit: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above a limit: the length of a scale bar.

    A limit that is such a number but for rounding counts as that number.
    """
    power = 10.0 ** math.floor(math.log10(limit))
    return next(k for k in (10, 5, 2, 1) if k * power <= limit * (1 + 1e-9)) * power


def exact(value: float, unit: str) -> str:
    """`20um` for 2e-5 m: a word that `in_si` reads as this very number; in SI where no unit gives it."""
    for digits in (6, 12, 15, 17):
        text = readable(value, unit, digits).replace(" ", "")
        try:
            if in_si(text, unit) == value:
                return text
        except ValueError:  # of a unit that is written with a space
            break
    return repr(value)
