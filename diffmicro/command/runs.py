"""What the folder of an optimization holds, for commands that go on from its result."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from diffmicro._device import Device
from diffmicro._json import Json
from diffmicro.command.words import BadInput
from diffmicro.parameters import Value


class Kept(NamedTuple):
    """What a command goes on from. fields: of design and setting. limits: of responses. layout: fields of the
    drawing's. rules: of a process, as a table; None where the run had none."""

    device: str
    fields: Mapping[str, Value] = {}
    limits: tuple[str, ...] = ()
    layout: Mapping[str, Value] = {}
    rules: Mapping[str, Json] | None = None


def kept(subject: str) -> Kept:
    """What a command goes on from: the folder of an optimization, or a device at its published values."""
    return of_run(Path(subject)) if Path(subject).is_dir() else Kept(subject)


def fields_with(run: Kept, device: Device, given: Mapping[str, Value]) -> dict[str, Value]:
    """The fields of a run with words in their place; an alias takes the place of the field that it gives."""
    named = {device.aliases[key].of for key in given if key in device.aliases}
    return {**{key: value for key, value in run.fields.items() if key not in named}, **given}


def of_run(folder: Path) -> Kept:
    """Device, values of all fields, limits, layout and rules of an optimization's result."""
    try:
        config = json.loads((folder / "config.json").read_text())
        result = json.loads((folder / "result.json").read_text())
        about = config["about"]
        (point,) = about["points"]
        best = result["optimized"]
        of_rules = {text for text, c in result["constraints"].items() if "rule" in c}
        # A search for a yield keeps more of a limit than its parts have to.
        kept = about.get("limits", list(result["constraints"]))
        limits = tuple(t for t in kept if t not in of_rules and not t.startswith("margin("))
        fields = {**best["design"], **best["setting"]}
        return Kept(point["device"], fields, limits, about.get("layout", {}), about.get("rules"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(
            f"{folder} is no folder of a finished optimization of one device; it needs config.json and "
            "result.json."
        ) from None
