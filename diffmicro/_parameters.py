"""Parameters of a device: what is known of each field beside its value, in one place.

A `Design` or `Setting` documents each field in its docstring as `name: meaning [unit].`; `parameter` adds
symbol, source and range. From both come the table of `diffmicro show`, the checks of values, and the
messages about them.
"""

import dataclasses
import math
import re
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax import Array


class Parameter(NamedTuple):
    """One field of a Design, Setting or Response."""

    name: str
    meaning: str
    unit: str
    default: Any
    symbol: str
    source: str
    low: float
    high: float
    open_low: bool
    words: tuple[str, ...]
    shapes: tuple[tuple[int | str, ...], ...]

    @property
    def size(self) -> str:
        """The shapes in words: empty for a number, else as `4` or `1 or 4`, `feet x modes`."""
        shapes = [" x ".join(str(n) for n in shape) or "1" for shape in self.shapes]
        return "" if shapes == ["1"] else " or ".join(shapes)

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape may be the value."""
        return any(
            len(shape) == len(own)
            and all(isinstance(n, str) or n == m for n, m in zip(own, shape, strict=True))
            for own in self.shapes
        )


def parameter(
    default: Any,
    symbol: str = "",
    source: str = "",
    *,
    low: float = -math.inf,
    high: float = math.inf,
    above: float | None = None,
    words: tuple[str, ...] = (),
    shapes: tuple[tuple[int | str, ...], ...] | None = None,
) -> Any:
    """A field with its default, symbol, source and range: [low, high], or (above, high].

    `words` are the values of a static field that takes words. The default of a vector or table is a
    tuple. `shapes` lists the shapes that are allowed, the default's alone if not given; a size may be
    a name, which stands for any number.
    """
    known = dict(symbol=symbol, source=source, high=high, words=words)
    known |= dict(low=low if above is None else above, open_low=above is not None)
    known |= dict(shapes=(np.shape(default),) if shapes is None else shapes)
    options = {} if known["shapes"] == ((),) else {"converter": _vector}
    return eqx.field(default=default, static=bool(words), metadata={"parameter": known}, **options)


def _vector(value: Any) -> Any:
    """Tuples and lists as arrays of the default precision; everything else as it is."""
    if not isinstance(value, tuple | list):
        return value
    return jnp.asarray(value) if is_traced(*jax.tree.leaves(value)) else np.asarray(value, float)


def describe(kind: type) -> dict[str, Parameter]:
    """The fields of a class made of `parameter`s, or of any documented class, by name."""
    entries = re.findall(
        r"^\s*(\w+): ([^\[\n]*?)(?: ?\[([^\]]*)\](.*?))?\.\s*$", kind.__doc__ or "", re.MULTILINE
    )
    meanings = {name: (meaning + more, unit) for name, meaning, unit, more in entries}
    table = {}
    for field in dataclasses.fields(kind):
        known = dict(symbol="", source="", low=-math.inf, high=math.inf, open_low=False, words=())
        known |= dict(shapes=((),))
        known |= field.metadata.get("parameter", {})
        meaning, unit = meanings.get(field.name, ("", ""))
        table[field.name] = Parameter(field.name, meaning, unit, default=field.default, **known)
    return table


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


def as_arrays(tree: Any) -> Any:
    """The tree with every number as an array of the default precision, so that none is static."""

    def convert(x: Any) -> Any:
        return jnp.asarray(x, jnp.result_type(x, float))

    return jax.tree.map(convert, tree)


def is_traced(*values: Any) -> bool:
    """Whether any of the values is not known before the calculation runs."""
    return any(isinstance(value, jax.core.Tracer) for value in values)


def check(where: str, *trees: Any) -> None:
    """Raise ValueError for what is known to be bad; traced values are left to `valid`."""
    for tree in trees:
        for known in describe(type(tree)).values():
            value = getattr(tree, known.name)
            if value is None:
                continue
            if known.words:
                if value not in known.words:
                    raise ValueError(_complaint(where, tree, known, value))
                continue
            if not known.fits(np.shape(value)):
                raise ValueError(
                    f"{where}: {type(tree).__name__}.{known.name} has the shape {np.shape(value)}; it "
                    f"has to be {known.size or 'one number'}. For many designs at once use jax.vmap."
                )
            if not is_traced(value) and not np.all(_inside(np.asarray(value), known, np)):
                raise ValueError(_complaint(where, tree, known, value))


def valid(*trees: Any) -> Array:
    """True where all values are finite and in range, for traced values."""
    good = jnp.asarray(True)
    for tree in trees:
        for known in describe(type(tree)).values():
            value = getattr(tree, known.name)
            if value is not None and not known.words:
                good = good & jnp.all(_inside(jnp.asarray(value), known, jnp))
    return good


def _inside(value: Any, known: Parameter, lib: Any) -> Any:
    above = value > known.low if known.open_low else value >= known.low
    return lib.isfinite(value) & above & (value <= known.high)


def _complaint(where: str, tree: Any, known: Parameter, value: Any) -> str:
    unit = f" {known.unit}" if known.unit not in ("", "-") else ""
    return (
        f"{where}: {type(tree).__name__}.{known.name} = {value}{unit} is not allowed; "
        f"it has to be {range_text(known)}. {known.meaning[:1].upper()}{known.meaning[1:]}; "
        f"the default is {known.default}."
    )


def whole_number(name: str, value: int | None, default: int, low: int, high: int) -> int:
    """A whole number that fixes the shape of a calculation, or its default."""
    if value is None:
        return default
    if isinstance(value, bool) or int(value) != value or not low <= value <= high:
        raise ValueError(
            f"{name} = {value} is not allowed; it has to be a whole number from {low} to {high}. "
            f"The default is {default}."
        )
    return int(value)
