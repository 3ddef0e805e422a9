"""What the page may look at, and what a question to it means.

A question has the words of the command line: device, `key=value`, response, along which key, between which ends.
They are read by the command line's own reader, so that the page refuses what the command refuses, in its words.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

import jax
from jaxtyping import PyTree

from diffmicro._device import Device
from diffmicro._json import Json, JsonObject
from diffmicro.devices import as_device
from diffmicro.explore.ranges import Range, range_of
from diffmicro.explore.turns import Task
from diffmicro.parameters import Fields, Parameter, Value, as_arrays, entry_of, get
from diffmicro.sweep.lanes import compiled, lane_function
from diffmicro.units import in_si

MOST_WORDS = 400
LONGEST_WORD = 4000
MOST_POINTS = 129
"""Limits of one question; more is not asked by the page."""

MOST_TIMES = 10
"""How many times its usual value a whole number that fixes the size of a calculation may be."""

POINTS = 65
"""Points of a curve: two to a power, and one, so that each pass halves the distance of the one before."""


@runtime_checkable
class Asked(Protocol):
    """A point as the reader of words gives it: see `Read`."""

    @property
    def design(self) -> Fields: ...
    @property
    def setting(self) -> Fields: ...
    @property
    def numerics(self) -> Mapping[str, Value]: ...
    @property
    def notes(self) -> Sequence[str]: ...


Found = TypeVar("Found")

Say = Callable[[JsonObject], None]
"""Sends a line of an answer."""

Read = Callable[[Device, Mapping[str, str]], Asked]
"""The reader of words: (device, {key: text}) -> design, setting, numerics, notes; ValueError for what is bad."""


class Question(NamedTuple):
    """What is asked, read and checked. given: the rest of it, as it came."""

    reference: str
    device: Device
    words: dict[str, str]
    point: Asked
    response: str
    along: str
    given: Mapping[str, Value]

    @property
    def arrays(self) -> tuple[Fields, Fields]:
        """Design and setting with every number as an array, so that none is compiled in."""
        return as_arrays((self.point.design, self.point.setting))

    @property
    def known(self) -> Parameter:
        """The parameter along which is looked."""
        return self.device.parameters[entry_of(self.along)[0]]

    @property
    def respond(self) -> Callable[[Fields, Fields], PyTree]:
        """(design, setting) -> response, compiled once for each set of words."""
        numerics = self.device.asking_for((self.response,), self.point.numerics)
        return compiled(lane_function(self.device.respond, **numerics))

    @property
    def ends(self) -> Range:
        """Between what is looked along the parameter: as given, else as the slider."""
        usual = range_of(self.known, number_at(self.point, self.along))
        low, high = (self._end(side, vars_of(usual)) for side in ("low", "high"))
        if not low < high:
            raise BadQuestion(
                f"{self.along}: the range from {low:g} to {high:g} is empty; its first end has to be "
                "the lower one.",
                self.along,
            )
        return Range(low, high, usual.how if usual else "as given")

    def _end(self, side: str, usual: Mapping[str, float]) -> float:
        text = str(self.given.get(side) or "")
        if not text and side not in usual:
            raise BadQuestion(
                f"{self.along} is 0 here and has no usual range; give both ends of the axis, or find a range.",
                self.along,
            )
        try:
            value = in_si(text, unit_of(self.known, self.along)) if text else usual[side]
        except ValueError as complaint:
            raise BadQuestion(f"End {text!r} of the axis: {complaint}.", self.along) from None
        if not math.isfinite(value):
            raise BadQuestion(f"End {text!r} of the axis has to be finite.", self.along)
        return min(max(value, self.known.low), self.known.high)


class BadQuestion(ValueError):
    """What is wrong with a question; `key`: the field that it is about, where one alone is."""

    def __init__(self, text: str, key: str = "") -> None:
        super().__init__(text)
        self.key = key


class Desk:
    """The devices that a page may switch between, by how they were named, and what has been compiled.

    devices: references, the first one first. words: to begin with, of the first.
    """

    def __init__(
        self, devices: Sequence[str], read: Read, words: Mapping[str, str] | None = None
    ) -> None:
        self.devices = tuple(dict.fromkeys(devices))
        self.words = dict(words or {})
        self._read = read
        self._ready: set[Hashable] = set()

    def device(self, reference: Json) -> Device:
        """One of the devices that were named; no other is loaded, whatever is asked."""
        if reference not in self.devices:
            raise BadQuestion(
                f"The device {reference!r} was not named; {', '.join(self.devices)} were."
            )
        return as_device(reference)

    def question(self, given: Mapping[str, Value]) -> Question:
        """A question, read; `BadQuestion` for what cannot be."""
        device = self.device(given.get("device"))
        words = given.get("words", {})
        if not isinstance(words, dict) or len(words) > MOST_WORDS:
            raise BadQuestion(f"words has to be an object of at most {MOST_WORDS} key: text.")
        for key, text in words.items():
            if not isinstance(text, str) or len(text) > LONGEST_WORD:
                raise BadQuestion(
                    f"{key}: a value is a text of at most {LONGEST_WORD} letters.", key
                )
        point = self._point(device, words)
        _check_size(device, point)
        response = given.get("response") or device.usual_responses[0]
        if response not in device.responses:
            raise BadQuestion(f"{response!r} is no response of {device.name}.")
        along = given.get("along") or ""
        if along:
            number_at(point, along)
        return Question(given["device"], device, words, point, response, along, given)

    def _point(self, device: Device, words: Mapping[str, str]) -> Asked:
        try:
            return self._read(device, words)
        except ValueError as complaint:
            raise BadQuestion(str(complaint), self._culprit(device, words)) from None

    def _culprit(self, device: Device, words: Mapping[str, str]) -> str:
        """The key whose word is refused alone, too; none where only several together are."""
        for key, text in words.items():
            try:
                self._read(device, {key: text})
            except ValueError:
                return key
        return ""

    def run(self, task: Task, say: Say, function: Callable[..., Found], *args: object) -> Found:
        """The function's value at some arrays, on the host, as a step; said where it is compiled first."""
        leaves, shape = jax.tree.flatten(args)
        kind = (function, shape, tuple((leaf.shape, str(leaf.dtype)) for leaf in leaves))
        if kind not in self._ready:
            say({"note": "compiling"})
        with task.step():
            found = jax.tree.map(jax.device_get, function(*args))
        self._ready.add(kind)
        return found


def _check_size(device: Device, point: Asked) -> None:
    """Refuse what would take a page far longer than usual; the command line takes it."""
    method = device.method(point.numerics.get("method"))
    sizes = {"steps": (point.numerics.get("steps"), method.steps)}
    for name, known in device.parameters.items():
        if known.whole:
            sizes[name] = (get(point.design, point.setting, name), known.default)
    for name, (value, usual) in sizes.items():
        if value is not None and usual and value > MOST_TIMES * usual:
            raise BadQuestion(
                f"{name} = {value} is too large for this page; it has to be at most {MOST_TIMES * usual}, "
                f"{MOST_TIMES} times the usual value. Use diffmicro evaluate for it.",
                name,
            )


def number_at(point: Asked, key: str) -> float:
    """The number that a key, or an entry of one, has at a point."""
    name, entry = entry_of(key)
    try:
        value = get(point.design, point.setting, name)
        return float(value.ravel()[int(entry)] if entry else value)
    except (AttributeError, TypeError, ValueError, IndexError):
        raise BadQuestion(f"{key} is not one number here; choose another parameter.", key) from None


def unit_of(known: Parameter, key: str) -> str:
    """SI unit of a parameter, or of an entry of it."""
    units = known.unit.split(", ")
    entry = entry_of(key)[1]
    return units[int(entry or 0) % len(units)]


def count_of(given: Mapping[str, Value], name: str, usual: int, least: int, most: int) -> int:
    """A whole number of a question, within what one question may cost."""
    value = given.get(name, usual)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadQuestion(
            f"{name} = {value!r} is not allowed; it has to be a whole number from {least} to {most}."
        )
    return value


def vars_of(found: Range | None) -> dict[str, float]:
    """Ends by name."""
    return {} if found is None else {"low": found.low, "high": found.high}


def finite(value: Value) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
