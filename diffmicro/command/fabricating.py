"""The subcommand `tolerances`: what deviates from words, the yield as a table, as JSON and as a figure."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from diffmicro._device import Device
from diffmicro.command import words
from diffmicro.command.output import console
from diffmicro.command.sweeping import check_files
from diffmicro.command.words import BadInput
from diffmicro.parameters import Parameter
from diffmicro.tolerance import Tolerance
from diffmicro.units import in_si

if TYPE_CHECKING:
    from diffmicro.design import Constraint
    from diffmicro.fabrication import Yield

OK = 0


def run_tolerances(
    subject: str,
    pairs: Sequence[str],
    scatter: Sequence[str],
    common: Sequence[str],
    limits: Sequence[str],
    options: Mapping[str, Any],
    as_json: bool,
    plot: Path | None,
) -> int:
    """Calculate the yield and show it. subject: a device, or the folder of an optimization."""
    from diffmicro.fabrication import tolerances

    check_files(None, plot)
    given = words.split(pairs)
    name, kept, bounds = _of_run(Path(subject)) if Path(subject).is_dir() else (subject, {}, [])
    device = words.device(name)
    point = words.point(device, {**kept, **given})
    if point.numerics:
        raise BadInput(f"{', '.join(point.numerics)}: tolerances chooses its own numerics.")
    deviating = [scatter_of(device, text) for text in scatter] + [
        common_of(device, t) for t in common
    ]
    deviating = deviating or list(device.process)
    if not deviating:
        raise BadInput(
            f"Nothing deviates: {device.name} has no process of its own; give --scatter key=2%."
        )
    every = [limit_of(device, text) for text in (*bounds, *limits)]
    try:
        found = tolerances(
            device, deviating, every, design=point.design, setting=point.setting, **options
        )
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    shown = _plain(device, found, deviating, every, point)
    if plot is not None:
        from diffmicro.plot.tolerances import tolerances_figure

        tolerances_figure(shown).savefig(plot)
    print(json.dumps(shown, allow_nan=False)) if as_json else _print(shown)
    return OK


def scatter_of(device: Device, text: str) -> Tolerance:
    """`key=1um` (standard deviation), `key=2%` (of the value), `key=+-1um` (interval)."""
    where = f"--scatter {text!r}"
    found = re.fullmatch(r"\s*([\w\[\]:]+)\s*=\s*(\S.*?)\s*", text)
    if not found:
        raise BadInput(f"{where}: write key=2% or key=1um, or key=+-1um for an interval.")
    known = _field(device, found[1])
    return _tolerance(where, found[1], found[2], known.unit)


def common_of(device: Device, text: str) -> Tolerance:
    """`etch=0.3um:section_height-2,hinge_gap+2`: one cause that moves several fields by so many times its size."""
    where = f"--common {text!r}"
    found = re.fullmatch(r"\s*(\w+)\s*=\s*([^:]+):(.+)", text)
    moves = [
        re.fullmatch(r"\s*([\w\[\]:]+?)\s*([+-][\d.]*)\s*", part)
        for part in (found[3] if found else "").split(",")
    ]
    if not found or not all(moves):
        raise BadInput(
            f"{where}: write cause=size:field+2,field-2; each number says by how many times the size the "
            "cause moves the field."
        )
    if found[1] in device.parameters:
        raise BadInput(f"{where}: {found[1]} is a parameter; give the cause a name of its own.")
    pairs = [(m[1], m[2]) for m in moves if m]
    units = {_field(device, key).unit for key, _ in pairs}
    if len(units) > 1:
        raise BadInput(f"{where}: the fields have different units ({', '.join(sorted(units))}).")
    shares = [(key, float(times + "1" if times in "+-" else times)) for key, times in pairs]
    return _tolerance(where, found[1], found[2], units.pop(), tuple(shares))


def limit_of(device: Device, text: str) -> "Constraint":
    """`velocity>8mm/s` as a constraint."""
    from diffmicro.design import Constraint

    where = f"--subject {text!r}"
    found = re.fullmatch(r"\s*(\w+)\s*([<>])=?\s*(\S.*?)\s*", text)
    if not found:
        raise BadInput(f"{where}: write response>value, for instance min_gap>1um.")
    words.names(found[1], device.responses, "response")
    value = _number(where, found[3], device.responses[found[1]].unit)
    return Constraint(found[1], "<=" if found[2] == "<" else ">=", value)


def _tolerance(
    where: str, name: str, size: str, unit: str, moves: tuple[tuple[str, float], ...] = ()
) -> Tolerance:
    interval = size.startswith("+-")
    size = size.removeprefix("+-").strip()
    relative = size.endswith("%")
    value = _number(where, size.removesuffix("%"), "-" if relative else unit)
    kind = "interval" if interval else "normal"
    try:
        return Tolerance(name, value * (0.01 if relative else 1.0), relative, kind, moves)
    except ValueError as complaint:
        raise BadInput(f"{where}: {complaint}") from None


def _field(device: Device, key: str) -> Parameter:
    name = key.partition("[")[0]
    words.free_names(name, device)
    return device.parameters[name]


def _number(where: str, text: str, unit: str) -> float:
    try:
        return in_si(text, unit.split(", ")[0])
    except ValueError as problem:
        raise BadInput(f"{where}: {problem}.") from None


def _of_run(folder: Path) -> tuple[str, dict[str, Any], list[str]]:
    """Device, values of all fields and limits of an optimization's result."""
    try:
        config = json.loads((folder / "config.json").read_text())
        result = json.loads((folder / "result.json").read_text())
        (point,) = config["about"]["points"]
        best = result["optimized"]
        fields = {**best["design"], **best["setting"]}
        return point["device"], fields, list(result["constraints"])
    except (OSError, ValueError, KeyError, TypeError):
        raise BadInput(
            f"{folder} is no folder of a finished optimization of one device; it needs config.json and "
            "result.json."
        ) from None


def _plain(
    device: Device,
    found: "Yield",
    deviating: Sequence[Tolerance],
    limits: Sequence["Constraint"],
    point: words.Point,
) -> dict[str, Any]:
    """What `--json` prints."""
    from diffmicro.fabrication import scatter

    spread = scatter(device, point.design, point.setting, deviating)
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
        "device": device.name,
        "yield": found.share,
        "low": found.low,
        "high": found.high,
        "parts": found.parts,
        "method": found.method,
        "causes": found.causes,
        "nearest": nearest,
        "note": found.note,
        "limits": [str(limit) for limit in limits],
        "tolerances": [
            {
                "variable": t.variable,
                "size": t.size,
                "relative": t.relative,
                "kind": t.kind,
                "moves": dict(t.moves),
            }
            for t in deviating
        ],
    }


def _print(shown: Mapping[str, Any]) -> None:
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
        table = Table("bad by", "share of all parts", title="What the bad parts fail by")
        for cause, share in shown["causes"].items():
            table.add_row(Text(cause), f"{100 * share:.4g} %")
        console().print(table)
    nearest = shown["nearest"]
    if nearest:
        title = (
            f"Most probable bad part: {nearest['cause']}, {nearest['distance']:.3g} deviations away"
        )
        table = Table("cause", "deviations", title=title)
        for cause, size in nearest["deviations"].items():
            table.add_row(Text(cause), f"{size:+.3g}")
        console().print(table)
