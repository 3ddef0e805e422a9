"""The subcommand `map`: where the motions of a device end in the plane of two parameters."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from diffmicro._device import Device
from diffmicro.boundary.chart import Chart, chart
from diffmicro.command import words
from diffmicro.command.measuring import points_over
from diffmicro.command.options import note_cautions
from diffmicro.command.output import console
from diffmicro.command.progress import progress
from diffmicro.command.sweeping import check_files
from diffmicro.command.words import BadInput
from diffmicro.sweep import Table, writer

OK, NOT_CONVERGED = 0, 3


def run_map(
    device: str,
    given: Mapping[str, str],
    out: Path,
    plot: Path | None,
    rows: int,
    starts: int,
    data: Path | None = None,
) -> int:
    """Make the map and write its curves; 3 where no simulation found a periodic motion."""
    module = words.device(device)
    check_files(out, plot)
    ranges, fixed = _ranges(module, given)
    words.check_varied(module, fixed, ranges)
    first = words.point(module, fixed | {key: low for key, (low, _) in ranges.items()})
    words.point(module, fixed | {key: high for key, (_, high) in ranges.items()})
    note_cautions(module, first, ranges)
    measured = points_over(module, data, plot, first, tuple(ranges))
    numerics = dict(first.numerics)
    if numerics.pop("method", "event") != "event":
        raise BadInput("Maps are made by the method event; leave --method out.")
    try:
        with progress(f"map over {' and '.join(ranges)}, curves", None) as advance:
            found = chart(
                module,
                first.design,
                first.setting,
                ranges=ranges,
                rows=rows,
                starts=starts,
                watch=advance,
                **numerics,
            )
    except ValueError as complaint:
        raise words.refusal(module, complaint, numerics) or BadInput(str(complaint)) from None
    page = console(stderr=True)
    if not found.stretches:
        page.print(
            f"diffmicro: none of {found.simulations} simulations settles to a periodic motion, so "
            "there is nothing to draw, and nothing is written. Try other ranges, or more --starts.",
            soft_wrap=True,
        )
        return NOT_CONVERGED
    table = curves_table(module, found)
    writer(out)(table, out)
    if plot:
        from diffmicro.plot.chart import plot_chart

        labels = tuple(_label(module, key) for key in found.keys)
        plot_chart(found, (labels[0], labels[1]), measured=measured).savefig(plot, dpi=150)
    for number, curve in enumerate(found.curves, 1):
        kinds = ", ".join(dict.fromkeys(curve.kinds))
        ends = " to ".join(
            f"({place[0]:.6g}, {place[1]:.6g}) {end}"
            for place, end in zip(curve.places[[0, -1]], curve.ends, strict=True)
        )
        page.print(f"curve {number}: {kinds} of period {curve.periods}, {ends}", soft_wrap=True)
    count = f"{len(found.curves)} curves, {len(table)} points to {out}"
    page.print(f"{count}; {found.simulations} simulations", soft_wrap=True)
    return OK


def curves_table(module: Device, found: Chart) -> Table:
    """All curves as one table: both keys, `curve` (from 1), `kind`, `period` in drive periods."""
    columns: dict[str, np.ndarray] = {}
    for i, key in enumerate(found.keys):
        columns[key] = np.concatenate([curve.places[:, i] for curve in found.curves] or [[]])
    numbered = list(enumerate(found.curves, 1))
    columns["curve"] = np.concatenate([np.full(len(c.places), n) for n, c in numbered] or [[]])
    columns["kind"] = np.array([kind for c in found.curves for kind in c.kinds], str)
    columns["period"] = np.concatenate(
        [np.full(len(c.places), c.periods) for c in found.curves] or [[]]
    )
    units = {key: module.parameters[key].unit for key in found.keys}
    return Table(found.keys[:1], columns, np.arange(len(columns["kind"])), units)


def _label(module: Device, key: str) -> str:
    unit = module.parameters[key].unit
    return key.replace("_", " ") + ("" if unit in ("", "-") else f" [{unit}]")


def _ranges(
    module: Device, given: Mapping[str, str]
) -> tuple[dict[str, tuple[float, float]], dict[str, str]]:
    """The two words that are ranges, and the others as they are."""
    fixed = {key: text for key, text in given.items() if ":" not in text}
    ranges: dict[str, tuple[float, float]] = {}
    for key, text in given.items():
        if ":" not in text:
            continue
        words.free_names(key, module)
        ends = text.split(":")
        if len(ends) != 2:
            raise BadInput(
                f"{key}={text}: a range of a map is key=start:stop, without a count; it chooses its points itself."
            )
        low, high = (words.one_number(module.parameters[key], end) for end in ends)
        if not low < high:
            raise BadInput(f"{key}={text}: the start has to be below the stop.")
        ranges[key] = (low, high)
    if len(ranges) != 2:
        raise BadInput(
            f"Give exactly two keys with a range, key=start:stop; here are {len(ranges)}."
        )
    return ranges, fixed
