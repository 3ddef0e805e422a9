"""Rules of a process as frozen values, by layer.

There are two geometries. The *etched* one is what comes out: the design's, which the model calculates with. The
*drawn* one is on the mask. Etching takes the bias b from every edge of what is drawn, so

    etched width = drawn width - 2 b,    etched gap = drawn gap + 2 b.

Smallest widths, gaps and radii, and thicknesses, are those of the etched part; `resolution` is about the mask.
Left out: rules between layers (overlap, enclosure), densities, and biases that depend on the neighborhood.
"""

import json
import math
from dataclasses import dataclass, fields
from typing import Literal

from diffmicro._json import JsonObject
from diffmicro.shapes import Layer
from diffmicro.units import in_si, readable


@dataclass(frozen=True)
class LayerRules:
    """What holds of one layer, in SI.

    minimum_width, minimum_gap, minimum_radius: of the etched part. resolution: smallest width and gap on the mask.
    etch_bias: what etching takes from every edge; negative where parts come out larger than drawn.
    etch_scatter: how far the bias deviates: a standard deviation, or at most, where etch_kind is interval.
    thickness: smallest and largest. undercut: how far the release etch comes under an edge; None: none.
    """

    minimum_width: float = 0.0
    minimum_gap: float = 0.0
    minimum_radius: float = 0.0
    resolution: float = 0.0
    etch_bias: float = 0.0
    etch_scatter: float = 0.0
    etch_kind: Literal["normal", "interval"] = "normal"
    thickness: tuple[float, float] = (0.0, math.inf)
    undercut: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("etch_kind", "thickness") or value is None:
                continue
            low = -math.inf if field.name == "etch_bias" else 0.0
            if not (math.isfinite(value) and value >= low):
                raise ValueError(
                    f"{field.name} = {readable(value, 'm')} is not allowed; it has to be "
                    f"{'a finite length' if low else 'at least 0 and finite'}."
                )
        low, high = self.thickness
        if not 0 <= low < high:
            raise ValueError(
                f"thickness = {readable(low, 'm')} to {readable(high, 'm')} is not allowed; the first has to be "
                "at least 0 and below the second."
            )
        if self.etch_kind not in ("normal", "interval"):
            raise ValueError(f"etch_kind {self.etch_kind!r} is not normal or interval.")


@dataclass(frozen=True)
class Process:
    """Rules of the layers by their names, or by their numbers in the mask as text."""

    layers: tuple[tuple[str, LayerRules], ...]
    name: str = ""

    def __post_init__(self) -> None:
        if not self.layers:
            raise ValueError("a process needs at least one layer.")

    def of(self, layer: Layer) -> LayerRules | None:
        """The rules of a layer; None where there are none."""
        for name, rules in self.layers:
            if name in (layer.name, str(layer.number)):
                return rules
        return None

    def bias(self, layer: Layer) -> float:
        """What etching takes from every edge of a layer [m]; zero where nothing is said."""
        rules = self.of(layer)
        return rules.etch_bias if rules else 0.0

    @property
    def scatters(self) -> bool:
        """Whether the etch of any layer does."""
        return any(rules.etch_scatter for _, rules in self.layers)

    def unknown(self, layers: tuple[Layer, ...]) -> tuple[str, ...]:
        """Names in the rules that none of these layers has."""
        own = {text for layer in layers for text in (layer.name, str(layer.number))}
        return tuple(name for name, _ in self.layers if name not in own)

    def without_rules(self, layers: tuple[Layer, ...]) -> tuple[str, ...]:
        """Names of layers that the rules say nothing about."""
        return tuple(layer.name for layer in layers if self.of(layer) is None)

    def plain(self) -> JsonObject:
        """As a file of rules has it, in words: what `process_from` takes."""
        return {
            **({"name": self.name} if self.name else {}),
            "layers": {name: _words(rules) for name, rules in self.layers},
        }

    def toml(self) -> str:
        """The text of a file that `read_process` reads."""
        lines = [f"name = {json.dumps(self.name)}"] if self.name else []
        for name, rules in self.layers:
            lines.append(f"[layers.{json.dumps(name)}]")
            lines += [f'{key} = "{value}"' for key, value in _words(rules).items()]
        return "\n".join(lines) + "\n"


def _words(rules: LayerRules) -> dict[str, str]:
    found = {}
    for field in fields(LayerRules):
        value = getattr(rules, field.name)
        if field.name == "etch_kind" or value == field.default:
            continue
        if field.name == "thickness":
            found["thickness"] = ":".join("" if math.isinf(x) else _length(x) for x in value)
            continue
        sign = "+-" if field.name == "etch_scatter" and rules.etch_kind == "interval" else ""
        found[field.name] = sign + _length(value)
    return found


def _length(value: float) -> str:
    """A length in words that are read as the same number to the last bit."""
    short = readable(value, "m", 12).replace(" ", "")
    return short if in_si(short, "m") == value else f"{value!r}m"
