"""The rules of a process as bounds of a design's features.

| kind of feature | has to be |
|---|---|
| width | at least `minimum_width`, and so wide on the mask (value + 2 b) as `resolution` |
| gap | at least `minimum_gap`, and so wide on the mask (value - 2 b) as `resolution` |
| radius | at least `minimum_radius`, and the bias, by which the radius on the mask differs |
| thickness | in the range `thickness` |
| released | at most 2 `undercut`: the release etch comes from both sides |
| anchored | at least `minimum_width` + 2 `undercut`: what is left below |

Of two lower bounds the larger one is kept: the rule that it comes from is named.
"""

import math
from typing import Literal, NamedTuple

import equinox as eqx

from diffmicro._device import Device, hooked
from diffmicro.devices import as_device
from diffmicro.parameters import Fields
from diffmicro.process.values import LayerRules, Process
from diffmicro.shapes.features import ANCHORED, GAP, RADIUS, RELEASED, THICKNESS, WIDTH, Feature


class Limit(NamedTuple):
    """feature: as `gap(rest_gap)`. number: of the feature in its tuple. rule: name of what sets the bound [m]."""

    feature: str
    number: int
    sense: Literal[">=", "<="]
    bound: float
    rule: str
    layer: str

    def room(self, value: float) -> float:
        """What is left; negative where the rule is broken [m]."""
        return value - self.bound if self.sense == ">=" else self.bound - value


def features(
    device: Device | str, design: Fields | None = None, layout: Fields | None = None
) -> tuple[Feature, ...]:
    """What of a design rules are about; differentiable. ValueError for a device that does not say."""
    device = as_device(device)
    if device.features is None or device.Layout is None:
        raise ValueError(
            f"{device.name} does not say what of it the rules of a process are about. Give its Device features=, "
            "beside geometry= and Layout=; see docs/drawing.md."
        )
    design, layout = device.part(design, layout)
    found = tuple(hooked(device.features)(design, layout))
    names = [str(feature) for feature in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{device.name}.features: {name} is there twice; rename one.")
    return found


def kinds(
    device: Device | str, design: Fields | None = None, layout: Fields | None = None
) -> tuple[Feature, ...]:
    """The features without their values: names, kinds and layers, for which nothing is calculated."""
    return eqx.filter_eval_shape(lambda: features(device, design, layout))


def limits(process: Process, found: tuple[Feature, ...]) -> tuple[Limit, ...]:
    """The bounds of these features."""
    made = []
    for number, feature in enumerate(found):
        rules = process.of(feature.layer)
        if rules is None:
            continue
        at = (str(feature), number)
        lower = [(bound, rule) for bound, rule in _lower(feature.kind, rules) if bound > 0]
        if lower:
            made.append(Limit(*at, ">=", *max(lower), feature.layer.name))
        upper = _upper(feature.kind, rules)
        if upper:
            made.append(Limit(*at, "<=", *upper, feature.layer.name))
    return tuple(made)


def _lower(kind: str, rules: LayerRules) -> list[tuple[float, str]]:
    bias = rules.etch_bias
    if kind == WIDTH:
        mask = (rules.resolution - 2 * bias, "resolution")
        return [(rules.minimum_width, "minimum_width"), mask]
    if kind == GAP:
        mask = (rules.resolution + 2 * bias, "resolution" if rules.resolution else "etch_bias")
        return [(rules.minimum_gap, "minimum_gap"), mask]
    if kind == RADIUS:
        return [(rules.minimum_radius, "minimum_radius"), (abs(bias), "etch_bias")]
    if kind == THICKNESS:
        return [(rules.thickness[0], "thickness")]
    if kind == ANCHORED and rules.undercut is not None:
        return [(rules.minimum_width + 2 * rules.undercut, "undercut")]
    return []


def _upper(kind: str, rules: LayerRules) -> tuple[float, str] | None:
    if kind == THICKNESS and math.isfinite(rules.thickness[1]):
        return rules.thickness[1], "thickness"
    if kind == RELEASED and rules.undercut is not None:
        return 2 * rules.undercut, "undercut"
    return None
