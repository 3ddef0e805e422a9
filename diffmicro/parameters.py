"""Parameters of a device: what is known of each field beside its value, in one place.

`parameter` makes a field of a `Design` or `Setting`, `output` one of a `Response`: default, meaning, unit,
symbol, source, range. From them come the tables of `diffmicro show`, the checks of values, and the messages
about them. `get` and `put` reach a field by its name, in whichever of Design and Setting it stands.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import PyTree

from diffmicro.units import readable

Fields = eqx.Module
"""A Design, a Setting or a Layout of any device: an `eqx.Module` of `parameter`s."""

DesignT = TypeVar("DesignT", bound=eqx.Module)
SettingT = TypeVar("SettingT", bound=eqx.Module)

Value = Any
"""The value of a field: a number, an array, a tuple of numbers, a word, None."""


class Parameter(NamedTuple):
    """One field of a Design, Setting or Response.

    whole: a whole number that fixes the size of a calculation. optional: None is allowed.
    unless: name of a parameter that takes this one's place where it is given. needs: of one without which this one
    does nothing.
    """

    name: str
    default: Value = None
    meaning: str = ""
    unit: str = ""
    symbol: str = ""
    source: str = ""
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    words: tuple[str, ...] = ()
    shapes: tuple[tuple[int | str, ...], ...] = ((),)
    whole: bool = False
    optional: bool = False
    unless: str = ""
    needs: str = ""

    @property
    def size(self) -> str:
        """The shapes in words: empty for a number, else as `4` or `1 or 4`, `feet x modes`."""
        shapes = [" x ".join(str(n) for n in shape) or "1" for shape in self.shapes]
        return "" if shapes == ["1"] else " or ".join(shapes)

    @property
    def differentiable(self) -> bool:
        """Whether it is a number, or several, that a response may have a derivative by."""
        return not self.words and not self.whole

    @property
    def usual(self) -> str:
        """The default, a number in a unit that reads well."""
        if isinstance(self.default, float):
            return readable(self.default, self.unit.split(", ")[0])
        return str(self.default)

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape may be the value."""
        return any(
            len(shape) == len(own)
            and all(
                m > 0 if isinstance(n, str) else n == m for n, m in zip(own, shape, strict=True)
            )
            for own in self.shapes
        )


def parameter(
    default: Value,
    meaning: str,
    unit: str = "",
    *,
    symbol: str = "",
    source: str = "",
    low: float = -math.inf,
    high: float = math.inf,
    above: float | None = None,
    words: tuple[str, ...] = (),
    shapes: tuple[tuple[int | str, ...], ...] | None = None,
    whole: bool = False,
    unless: str = "",
    needs: str = "",
) -> Any:
    """A field of a Design or Setting: default, meaning, unit ("-" for a pure number), symbol, source, range.

    The range is [low, high], or (above, high]. `words` are the values of a static field that takes words.
    `whole`: a static whole number. The default of a vector or table is a tuple. `shapes` lists the shapes that
    are allowed, the default's alone if not given; a size may be a name, which stands for any number from 1 on.
    `unless`, `needs`: see `Parameter`.
    """
    shapes = (np.shape(default),) if shapes is None else shapes
    known = dict(meaning=meaning, unit=unit, symbol=symbol, source=source, high=high, words=words)
    known |= dict(low=low if above is None else above, open_low=above is not None)
    known |= dict(shapes=shapes, whole=whole, unless=unless, needs=needs)
    options = {} if shapes == ((),) else {"converter": _vector}
    options |= {"converter": _counted} if whole else {}
    static = bool(words) or whole
    return eqx.field(default=default, static=static, metadata={"parameter": known}, **options)


def output(
    meaning: str,
    unit: str = "",
    *,
    low: float = -math.inf,
    high: float = math.inf,
    default: Value = dataclasses.MISSING,
) -> Any:
    """A field of a Response: meaning and unit ("-" for a pure number; none for what is no number to show).

    No response that is `ok` lies outside [low, high]: a share is between 0 and 1, a mass is not below 0.
    """
    options = {} if default is dataclasses.MISSING else {"default": default}
    known = dict(meaning=meaning, unit=unit, low=low, high=high)
    return eqx.field(metadata={"parameter": known}, **options)


def _vector(value: Value) -> Value:
    """Tuples and lists as arrays of the default precision; everything else as it is."""
    if not isinstance(value, tuple | list):
        return value
    return jnp.asarray(value) if is_traced(*jax.tree.leaves(value)) else np.asarray(value, float)


def _counted(value: Value) -> Value:
    if is_traced(value) or not np.issubdtype(np.asarray(value).dtype, np.number):
        return value  # `check` judges what is no number
    return int(value) if np.size(value) == 1 and int(value) == value else value


@cache
def describe(kind: type) -> Mapping[str, Parameter]:
    """The fields of a class made of `parameter`s or `output`s, by name."""
    hints = typing.get_type_hints(kind)
    table = {}
    for field in dataclasses.fields(kind):
        known = field.metadata.get("parameter", {})
        optional = type(None) in typing.get_args(hints[field.name])
        table[field.name] = Parameter(field.name, field.default, optional=optional, **known)
    return types.MappingProxyType(table)


def get(design: Fields, setting: Fields, name: str) -> Value:
    """The value of a field of Design or Setting."""
    return getattr(design if name in describe(type(design)) else setting, name)


def idle(design: Fields, setting: Fields, name: str) -> str:
    """Why a parameter has no part in this point; empty where it has."""
    known = {**describe(type(design)), **describe(type(setting))}[name]
    if get(design, setting, name) is None:
        return "has no value of its own here"
    if known.unless and get(design, setting, known.unless) is not None:
        return f"is not used where {known.unless} is given"
    if known.needs and get(design, setting, known.needs) is None:
        return f"is used only where {known.needs} is given"
    return ""


def one_number(where: str, design: Fields, setting: Fields, key: str) -> tuple[Parameter, float]:
    """The parameter of this name and its value, one number of this point; ValueError where it is not."""
    table = {**describe(type(design)), **describe(type(setting))}
    numbers = [n for n, known in table.items() if known.differentiable and () in known.shapes]
    if key not in numbers:
        raise ValueError(
            f"{where}: {key!r} is not a parameter that is a number; take one of {', '.join(numbers)}."
        )
    why, value = idle(design, setting, key), get(design, setting, key)
    if why or np.ndim(value):
        raise ValueError(
            f"{where}: {key} {why or 'is several numbers here'}; take another parameter."
        )
    return table[key], float(value)


def entry_of(key: str) -> tuple[str, str]:
    """Field and entry that a key means: `hinge[3]` is ("hinge", "3"), `hinge[:]` all alike, `hinge` the field."""
    field, _, entry = key.partition("[")
    return field, entry.removesuffix("]")


def put(
    design: DesignT, setting: SettingT, values: Mapping[str, Value]
) -> tuple[DesignT, SettingT]:
    """Design and setting with the named fields, or entries of them (`hinge[3]`, row by row), replaced."""
    fields: dict[str, Value] = {}
    for key, value in values.items():
        name, entry = entry_of(key)
        if entry:
            value = _with_entry(fields.get(name, get(design, setting, name)), entry, value)
        fields[name] = value
    values = fields
    own = describe(type(design))
    in_design = {name: value for name, value in values.items() if name in own}
    in_setting = {name: value for name, value in values.items() if name not in own}
    return dataclasses.replace(design, **in_design), dataclasses.replace(setting, **in_setting)


def _with_entry(whole: Value, entry: str, value: Value) -> Array | np.ndarray:
    whole = jnp.asarray(whole, float) if is_traced(whole, value) else np.asarray(whole, float)
    chosen = [entry == ":" or i == int(entry) for i in range(whole.size)]
    lib = jnp if is_traced(whole, value) else np
    return lib.where(np.reshape(chosen, whole.shape), value, whole)


def range_text(known: Parameter) -> str:
    """The range in words: `above 0`, `0 to 1`, `one of square, sine`."""
    if known.words:
        return "one of " + ", ".join(known.words)
    low, high = known.low, known.high
    if math.isinf(low) and math.isinf(high):
        return "any finite number"
    bottom = f"above {low:g}" if known.open_low else f"at least {low:g}"
    if math.isinf(high):
        return bottom
    return f"at most {high:g}" if math.isinf(low) else f"{bottom} and at most {high:g}"


def units_of_fields(kind: type) -> dict[str, str]:
    """Units of the fields of a NamedTuple that are written `name: Annotated[Array, "m/s"]`."""
    hints = typing.get_type_hints(kind, include_extras=True)
    marked = {name: typing.get_args(hint)[1:] for name, hint in hints.items()}
    return {name: found[0] for name, found in marked.items() if found and isinstance(found[0], str)}


def as_arrays(tree: PyTree) -> PyTree:
    """The tree with every number as an array of the default precision, so that none is static."""

    def convert(x: ArrayLike) -> Array:
        return jnp.asarray(x, jnp.result_type(x, float))

    return jax.tree.map(convert, tree)


def is_traced(*values: object) -> bool:
    """Whether any of the values is not known before the calculation runs."""
    return any(isinstance(value, jax.core.Tracer) for value in values)


def check(where: str, *trees: Fields) -> None:
    """Raise ValueError for what is known to be bad; traced values are left to `valid`."""
    _check_kinds(where, trees)
    for tree in trees:
        for known in describe(type(tree)).values():
            value = getattr(tree, known.name)
            if value is None:
                continue
            if known.words:
                if value not in known.words:
                    raise ValueError(_complaint(where, tree, known, value))
                continue
            if known.whole and not isinstance(value, int):
                raise ValueError(
                    f"{where}: {type(tree).__name__}.{known.name} = {value} is not allowed; it has to be a whole "
                    "number, because it fixes the size of the calculation."
                )
            if not is_traced(value) and not _is_numeric(value):
                raise ValueError(
                    f"{where}: {type(tree).__name__}.{known.name} = {value!r} is not allowed; it has to be "
                    f"{'numbers' if known.size else 'a number'}, not {type(value).__name__}: "
                    f"{range_text(known)}. The default is {known.usual}."
                )
            if not known.fits(np.shape(value)):
                raise ValueError(
                    f"{where}: {type(tree).__name__}.{known.name} has the shape {np.shape(value)}; it "
                    f"has to be {known.size or 'one number'}. For many designs at once use jax.vmap."
                )
            if not is_traced(value) and not np.all(_inside(np.asarray(value), known, np)):
                raise ValueError(_complaint(where, tree, known, value))


def _check_kinds(where: str, trees: tuple[Fields, ...]) -> None:
    """Raise ValueError where a Design and a Setting were meant and something else came, or they are swapped."""
    kinds = [type(tree).__name__ for tree in trees]
    if kinds == ["Setting", "Design"]:
        raise ValueError(f"{where}: design and setting are swapped; the design comes first.")
    for tree, name in zip(trees, ("design", "setting"), strict=False):
        if not dataclasses.is_dataclass(tree) or isinstance(tree, type):
            raise ValueError(
                f"{where}: {name} is {tree!r:.60}, of type {type(tree).__name__}; it has to be a "
                f"{name.capitalize()}, such as published_{name}() gives."
            )
    if len(trees) == 2 and type(trees[0]) is type(trees[1]):
        raise ValueError(f"{where}: design and setting are both of type {kinds[0]}.")


def _is_numeric(value: Value) -> bool:
    """Whether a value is a number, or an array or list of numbers."""
    try:
        return jnp.issubdtype(np.asarray(value).dtype, np.number)
    except (TypeError, ValueError):  # no array can be made of it
        return False


def valid(*trees: Fields) -> Array:
    """True where all values are finite and in range, for traced values."""
    good = jnp.asarray(True)
    for tree in trees:
        for known in describe(type(tree)).values():
            value = getattr(tree, known.name)
            if value is not None and not known.words:
                good = good & jnp.all(_inside(jnp.asarray(value), known, jnp))
    return good


def within(value: Value, known: Parameter) -> bool:
    """Whether known numbers are finite and in the range of their field."""
    return bool(np.all(_inside(np.asarray(value, float), known, np)))


def _inside(value: Array | np.ndarray, known: Parameter, lib: ModuleType) -> ArrayLike:
    above = value > known.low if known.open_low else value >= known.low
    return lib.isfinite(value) & above & (value <= known.high)


def _complaint(where: str, tree: Fields, known: Parameter, value: Value) -> str:
    unit = f" {known.unit}" if known.unit not in ("", "-") else ""
    ends = unit if any(end and math.isfinite(end) for end in (known.low, known.high)) else ""
    return (
        f"{where}: {type(tree).__name__}.{known.name} = {value}{unit} is not allowed; "
        f"it has to be {range_text(known)}{ends}. {known.meaning[:1].upper()}{known.meaning[1:]}; "
        f"the default is {known.usual}."
    )


def whole_number(
    name: str, value: Value, default: int | None, low: int, high: int | None = None
) -> int:
    """A whole number that fixes the shape of a calculation, or its default where it is None."""
    if value is None and default is not None:
        return default
    plain = _unpacked(value)
    counts = isinstance(plain, int | float) and not isinstance(plain, bool) and plain % 1 == 0
    if not counts or plain < low or (high is not None and plain > high):
        bounds = f"of at least {low}" if high is None else f"from {low} to {high}"
        usual = "" if default is None else f" The default is {default}."
        raise ValueError(
            f"{name} = {value!r} is not allowed; it has to be a whole number {bounds}.{usual}"
        )
    return int(plain)


def _unpacked(value: Value) -> Value:
    """An array of one number as that number, everything else as it is."""
    array = isinstance(value, np.generic | np.ndarray | Array) and not is_traced(value)
    return value.item() if array and value.size == 1 else value
