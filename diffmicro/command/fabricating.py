"""The subcommand `tolerances`: what deviates from words, the yield as a table, as JSON and as a figure."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rich.table import Table
from rich.text import Text

from diffmicro._device import Device
from diffmicro._json import Json, JsonObject
from diffmicro.command import words
from diffmicro.command.codes import Code
from diffmicro.command.options import note_cautions
from diffmicro.command.output import console, note
from diffmicro.command.progress import progress
from diffmicro.command.ruling import check_layers, layers_of, process_of
from diffmicro.command.runs import Kept, of_run
from diffmicro.command.sharing import ALONE, sharing
from diffmicro.command.sweeping import check_figure
from diffmicro.command.words import BadInput
from diffmicro.parameters import Value
from diffmicro.tolerance import Tolerance

if TYPE_CHECKING:
    from diffmicro.design import Constraint
    from diffmicro.fabrication import Scatter, Yield


def run_tolerances(
    subject: str,
    pairs: Sequence[str],
    scatter: Sequence[str],
    common: Sequence[str],
    limits: Sequence[str],
    options: Mapping[str, Value],
    as_json: bool,
    plot: Path | None,
    rules: Path | None = None,
    others: tuple[int, str | None] = ALONE,
) -> int:
    """Calculate the yield and show it. subject: a device, or the folder of an optimization. rules: file.
    others: --workers and --cluster."""
    from diffmicro.fabrication import tolerances
    from diffmicro.fabrication.scatter import scatter as scattered
    from diffmicro.process import etch_tolerances

    check_figure(plot)
    given = words.split(pairs)
    run = of_run(Path(subject)) if Path(subject).is_dir() else Kept(subject)
    device, process, layout = words.device(run.device), process_of(rules), None
    if process is not None:
        layout, given = words.layout(device, {**run.layout, **given})
    point = words.point(device, {**run.fields, **given})
    note_cautions(device, point)
    if point.numerics:
        raise BadInput(f"{', '.join(point.numerics)}: tolerances chooses its own numerics.")
    deviating = [scatter_of(device, text) for text in scatter] + [
        common_of(device, t) for t in common
    ]
    moved = [name for one in deviating for name, _ in one.moves]
    words.check_varied(device, given, moved)
    if process is not None:
        check_layers(device, process, layers_of(device, point.design, layout))
        deviating += _said(etch_tolerances, device, process, point.design, layout)
    deviating = deviating or list(device.process)
    if not deviating:
        raise BadInput(
            f"Nothing deviates: {device.name} has no process of its own; give --scatter key=2%."
        )
    kept = [limit_of(device, text) for text in run.limits]
    left = [str(limit) for limit in kept if limit.response not in device.responses]
    if left:
        text = f"{', '.join(left)}: margins are of the design and judge no single part."
        note(text)
    every = [limit for limit in kept if limit.response in device.responses]
    every += [limit_of(device, text) for text in limits]
    place: dict[str, Value] = dict(design=point.design, setting=point.setting, **options)
    note("calculating parts; the first ones take longest, as their program is compiled ...")
    with sharing(*others) as processes, progress("parts", options.get("parts")) as advance:
        found = tolerances(device, deviating, every, **place, processes=processes, watch=advance)
    spread = scattered(device, point.design, point.setting, deviating)
    shown = _plain(device, found, deviating, every, spread)
    if plot is not None:
        from diffmicro.design.shown import with_units
        from diffmicro.plot.tolerances import tolerances_figure

        named = partial(with_units, device)
        tolerances_figure(shown, found, spread.causes, named).savefig(plot)
    print(json.dumps(shown, allow_nan=False)) if as_json else _print(device, shown)
    return Code.OK


def scatter_of(device: Device, text: str) -> Tolerance:
    """`key=1um` (standard deviation), `key=2%` (of the value), `key=+-1um` (interval)."""
    from diffmicro.design import parse_tolerance

    return _said(parse_tolerance, text, partial(words.unit_of_parameter, device), "--scatter")


def common_of(device: Device, text: str) -> Tolerance:
    """`etch=0.3um:section_height-2,hinge_gap+2`: one cause that moves several fields."""
    from diffmicro.design import parse_common

    found = _said(parse_common, text, partial(words.unit_of_parameter, device))
    if found.variable in device.parameters:
        raise BadInput(
            f"--common {text!r}: {found.variable} is a parameter; give the cause a name of its own."
        )
    return found


def limit_of(device: Device, text: str) -> "Constraint":
    """`velocity>8mm/s` as a constraint."""
    from diffmicro.design import parse_constraint

    return _said(parse_constraint, text, partial(words.unit_of_response, device))


Read = TypeVar("Read")


def _said(parse: Callable[..., Read], *given: object) -> Read:
    try:
        return parse(*given)
    except BadInput:
        raise
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None


def _plain(
    device: Device,
    found: "Yield",
    deviating: Sequence[Tolerance],
    limits: Sequence["Constraint"],
    spread: "Scatter",
) -> JsonObject:
    """What `--json` prints."""
    from diffmicro.fabrication.deviations import causes_plain

    return {
        "device": device.name,
        **yield_words(found, spread),
        "limits": [str(limit) for limit in limits],
        "tolerances": causes_plain(deviating),
    }


def yield_words(found: "Yield", spread: "Scatter") -> JsonObject:
    """A yield as plain Python values."""
    nearest = None
    if found.nearest is not None:
        nearest = {
            "cause": found.nearest.cause,
            "distance": found.nearest.distance,
            "found_by": found.nearest.way,
            "deviations": dict(zip(spread.causes, map(float, found.nearest.place), strict=True)),
            "values": spread.values(found.nearest.place),
        }
    return {
        "yield": found.share,
        "low": found.low,
        "high": found.high,
        "parts": found.parts,
        "method": found.method,
        "causes": found.causes,
        "nearest": nearest,
        "note": found.note,
    }


def _print(device: Device, shown: Mapping[str, Json]) -> None:
    from diffmicro.design.shown import with_units

    console().print(
        Text(
            f"yield of {shown['device']}: {100 * shown['yield']:.4g} % "
            f"({100 * shown['low']:.4g} to {100 * shown['high']:.4g} % at 95 %), "
            f"{shown['parts']} parts, {shown['method']}"
        )
    )
    if shown["note"]:
        console().print(Text(shown["note"]))
    if shown["causes"]:
        table = Table("reason", "share of all parts", title="Why parts are bad")
        for cause, share in shown["causes"].items():
            table.add_row(Text(with_units(device, cause)), f"{100 * share:.4g} %")
        console().print(table)
    nearest = shown["nearest"]
    if nearest:
        cause = with_units(device, nearest["cause"])
        title = f"Most probable bad part: {cause}, {nearest['distance']:.3g} deviations away"
        table = Table("cause", "deviations", title=title)
        for cause, size in nearest["deviations"].items():
            table.add_row(Text(cause), f"{size:+.3g}")
        console().print(table)
