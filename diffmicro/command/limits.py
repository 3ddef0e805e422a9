"""The subcommand `boundaries`: where a device stops doing what it does, and what moves that place."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from diffmicro._device import Device
from diffmicro.boundary import Boundary, boundaries
from diffmicro.command import words
from diffmicro.command.options import note_cautions
from diffmicro.command.output import console
from diffmicro.command.sweeping import check_figure
from diffmicro.command.words import BadInput
from diffmicro.results import NoResult

OK, NOT_CONVERGED = 0, 3

SHOWN = 8
"""Most derivatives that are shown of a boundary where none were chosen: the largest elasticities."""


def run_boundaries(
    device: str,
    given: Mapping[str, str],
    along: str,
    grad: str | None,
    starts: bool,
    as_json: bool,
    plot: Path | None,
) -> int:
    """Find the boundaries and show them; 3 where nothing is settled at the point itself."""
    module = words.device(device)
    check_figure(plot)
    point = words.point(module, given)
    note_cautions(module, point)
    key, between = _range(module, along)
    words.check_varied(module, given, (key,))
    wrt = words.free_names(grad, module) or None
    try:
        found = boundaries(
            module,
            point.design,
            point.setting,
            along=key,
            wrt=wrt,
            between=between,
            starts=starts,
            steps=point.numerics.get("steps"),
        )
    except NoResult as problem:
        console(stderr=True).print(f"diffmicro: {problem}", soft_wrap=True)
        return NOT_CONVERGED
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    values = words.numbers(module, point)
    if as_json:
        for boundary in found:
            print(json.dumps(boundary.plain(), allow_nan=False))
    else:
        page = console()
        for part in boundary_tables(module, key, found, values, wrt):
            page.print(part)
    if plot:
        from diffmicro.plot.boundaries import plot_boundaries

        unit = module.parameters[key].unit
        plot_boundaries(found, key, unit, values).savefig(plot, dpi=150)
    return OK


def _range(module: Device, text: str) -> tuple[str, tuple[float, float] | None]:
    """`key` or `key=low:high`."""
    key, equals, ends = text.partition("=")
    words.free_names(key, module)
    if not equals:
        return key, None
    known = module.parameters[key]
    parts = ends.split(":")
    if len(parts) != 2:
        raise BadInput(f"--along {text}: write key, or key=low:high.")
    low, high = (words.one_number(known, part) for part in parts)
    return key, (low, high)


def boundary_tables(
    module: Device,
    key: str,
    found: Sequence[Boundary],
    values: Mapping[str, float],
    wrt: Sequence[str] | None,
) -> list[Table | Text]:
    """All boundaries, and the derivatives of those at which the motion ends, or of all where `wrt` was chosen."""
    if not found:
        return [Text(f"no boundary along {key} in this range")]
    unit = module.parameters[key].unit.replace("-", "")
    table = Table(
        "side", "kind", f"{key} {unit}".strip(), "away", "", "beyond", "verdict", box=None
    )
    for b in found:
        ends = "ends" if b.ends else ""
        away = f"{100 * b.distance:.3g} %"
        row = (b.side, b.kind, f"{b.at:.8g}", away, ends, b.beyond, b.certificate.verdict)
        table.add_row(*map(Text, row))
    shown: list[Table | Text] = [table]
    for b in found:
        if b.grad and (b.ends or wrt):
            shown += [Text(), _slopes(key, b, values, module, wrt is None)]
    shown += [
        Text(
            f"{b.kind} at {b.at:.8g}: {b.certificate.verdict}. {b.certificate.reason}", style="dim"
        )
        for b in found
        if b.certificate.verdict != "certified"
    ]
    return shown


def _slopes(
    key: str, boundary: Boundary, values: Mapping[str, float], module: Device, few: bool
) -> Table:
    """Derivatives of one boundary, the most important ones first."""
    title = f"what moves the {boundary.kind} at {boundary.at:.8g}"
    table = Table(
        "parameter", "derivative", "unit", "elasticity", title=title, title_justify="left", box=None
    )
    rows = []
    for name, slope in boundary.grad.items():
        if getattr(slope, "ndim", 0):
            rows.append((0.0, name, ", ".join(f"{x:.6g}" for x in slope.ravel()), "-"))
            continue
        share = float(slope) * values.get(name, 0.0) / boundary.at if boundary.at else 0.0
        rows.append((abs(share), name, f"{float(slope):.8g}", f"{share:.4g}"))
    rows.sort(key=lambda row: -row[0])
    for _, name, slope, share in rows[: SHOWN if few else None]:
        per = f"{module.parameters[key].unit} / ({module.parameters[name].unit})"
        table.add_row(*map(Text, (f"d{key}/d{name}", slope, per, share)))
    return table
