"""What subcommands share about `--rules`: the file as a process, its layers, prices of rules."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from jaxtyping import PyTree
from rich.console import Console
from rich.text import Text

from diffmicro._device import Device
from diffmicro._json import Json, JsonObject
from diffmicro.command.output import console
from diffmicro.command.words import BadInput
from diffmicro.parameters import Fields
from diffmicro.units import readable

if TYPE_CHECKING:
    from diffmicro.process import Process
    from diffmicro.shapes import Layer


def process_of(path: Path | None) -> "Process | None":
    """The process of a file; None without one."""
    from diffmicro.process import read_process

    if path is None:
        return None
    try:
        return read_process(path)
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None


def check_layers(device: Device, process: "Process", layers: "tuple[Layer, ...]") -> None:
    """`BadInput` for rules of a layer that the device does not have; a note about layers without rules."""
    known = ", ".join(dict.fromkeys(layer.name for layer in layers))
    unknown = process.unknown(layers)
    if unknown:
        raise BadInput(
            f"--rules: {device.name} has no layer {', '.join(unknown)}; its layers are {known}. Name the "
            "layers of the rules so, or by their numbers, and leave out those that this device does not have."
        )
    without = dict.fromkeys(process.without_rules(layers))
    if without:
        text = f"no rules for {', '.join(without)}: nothing is judged there, and no etch is made up for."
        console(stderr=True).print(Text(text), soft_wrap=True)


def layers_of(device: Device, design: Fields, layout: Fields | None) -> "tuple[Layer, ...]":
    """The layers of a design's features and of its drawing; `BadInput` for a device that names none."""
    from diffmicro.drawing import geometry
    from diffmicro.process import kinds

    try:
        of_features = tuple(feature.layer for feature in kinds(device, design, layout))
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    try:
        return (*of_features, *geometry(device, design, layout).layers)
    except ValueError:  # features are formulas, also of a design that cannot be drawn
        return of_features


def check_drawn(device: Device, design: Fields, layout: Fields | None, process: "Process") -> None:
    """`BadInput` for a design that crosses itself or whose parts touch, which formulas of features do not see."""
    from diffmicro.drawing import geometry

    try:
        geometry(device, design, layout, process)
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None


def print_narrow(
    page: Console, device: Device, process: "Process", design: PyTree, layout: PyTree
) -> None:
    """The places of a design that break the rules about widths and gaps, by a check of its polygons."""
    from diffmicro.drawing import narrow_places

    found = narrow_places(device, process, design, layout)
    if found:
        many = "1 place breaks" if len(found) == 1 else f"{len(found)} places break"
        page.print(Text(f"{many} the rules; what is drawn cannot be made by this process:"))
    for place in found:
        page.print(Text(f"  {place}"), soft_wrap=True)


def is_rule(constraint: Mapping[str, Json]) -> bool:
    """Whether a constraint of a result comes from the rules of a process."""
    return "rule" in constraint


def rule_texts(constraints: Mapping[str, JsonObject], objective: str, unit: str) -> list[str]:
    """The rules that bind with their prices, and the one of the others with the least room."""
    own = [c for c in constraints.values() if is_rule(c)]
    found = []
    for c in own:
        if c["binds"]:
            found.append(
                f"rule {c['rule']} of {c['layer']} binds: {c['of']} is {readable(c['value'], 'm')}, allowed "
                f"{readable(c['bound'], 'm')}. 1 um of the rule is worth {readable(c['per_um'], unit)} "
                f"of {objective}"
            )
    loose = [c for c in own if not c["binds"] and c["slack"] is not None]
    if loose:
        nearest = min(loose, key=lambda c: c["slack"] / abs(c["bound"]))
        found.append(
            f"{len(loose)} rules do not bind; the nearest is {nearest['rule']} of {nearest['layer']}: "
            f"{nearest['of']} is {readable(nearest['value'], 'm')}, allowed {readable(nearest['bound'], 'm')}"
        )
    return found
