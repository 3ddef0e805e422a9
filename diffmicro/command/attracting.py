"""The subcommand `basins`: motions that starts end in, their shares, and kicks that lose the wanted one."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from diffmicro._json import JsonObject
from diffmicro.command import words
from diffmicro.command.codes import Code
from diffmicro.command.options import note_cautions
from diffmicro.command.output import console
from diffmicro.command.sharing import ALONE, sharing
from diffmicro.command.sweeping import check_figure
from diffmicro.command.words import BadInput
from diffmicro.parameters import Value

if TYPE_CHECKING:
    from diffmicro.attraction import Basins


def run_basins(
    name: str,
    pairs: Sequence[str],
    box: Sequence[str],
    options: Mapping[str, Value],
    as_json: bool,
    plot: Path | None,
    others: tuple[int, str | None] = ALONE,
) -> int:
    """Calculate the basins and show them. others: --workers and --cluster."""
    from diffmicro.attraction import basins

    check_figure(plot)
    device = words.device(name)
    point = words.point(device, words.split(pairs))
    note_cautions(device, point)
    if point.numerics:
        raise BadInput(f"{', '.join(point.numerics)}: basins chooses its own numerics.")
    ends = dict(map(_ends, box))
    given: dict[str, Value] = dict(design=point.design, setting=point.setting, **options)
    with sharing(*others) as processes:
        found = basins(device, box=ends, **given, processes=processes)
    if plot is not None:
        from diffmicro.plot.basins import basins_figure

        basins_figure(found, device.name).savefig(plot)
    shown = _plain(found)
    units = {name: known.unit for name, known in device.responses.items()}
    print(json.dumps(shown, allow_nan=False)) if as_json else _print(found, units)
    return Code.OK


def _ends(text: str) -> tuple[str, tuple[float, float]]:
    """`gap=1e-6:40e-6` as name and ends, in SI: a state has no unit that is known here."""
    name, equals, ends = text.partition("=")
    low, colon, high = ends.partition(":")
    try:
        if not (name and equals and colon):
            raise ValueError
        return name, (float(low), float(high))
    except ValueError:
        raise BadInput(
            f"--box {text!r}: write state=low:high in SI, such as gap=1e-6:40e-6."
        ) from None


def _plain(found: "Basins") -> JsonObject:
    """What `--json` prints."""

    def finite(values: Mapping[str, float]) -> dict[str, float | None]:
        return {key: value if math.isfinite(value) else None for key, value in values.items()}

    motions = [
        m._asdict()
        | {"response": finite(m.response), "start": finite(m.start), "starts": list(m.starts)}
        for m in found.motions
    ]
    return {
        "motions": motions,
        "wanted": found.wanted,
        "state": found.own,
        "kicks": [kick._asdict() for kick in found.kicks],
        "box": {name: list(ends) for name, ends in found.box.items()},
        "count": len(found.states),
    }


def _print(found: "Basins", units: Mapping[str, str]) -> None:
    first = next(iter(found.motions[0].response))
    table = Table(
        "motion", "share of the box", "interval", f"{first} [{units[first]}]", "reached by start=",
        title=f"Motions that {len(found.states)} starts end in; * the setting's own",
    )  # fmt: skip
    for i, motion in enumerate(found.motions):
        mark = " *" if i == found.wanted else ""
        interval = f"{100 * motion.low:.3g} to {100 * motion.high:.3g} %"
        row = (motion.status + mark, f"{100 * motion.share:.3g} %", interval)
        value = f"{motion.response[first]:.4g}" if math.isfinite(motion.response[first]) else "-"
        table.add_row(*map(Text, (*row, value, ", ".join(motion.starts))))
    console().print(table)
    title = "Kicks at the start of a period that lose the setting's own motion [SI]"
    kicks = Table("state", "kept up to", "lost from", title=title)
    for kick in found.kicks:
        lost = "not in the box" if kick.lost is None else f"{kick.lost:+.5g}"
        kicks.add_row(*map(Text, (kick.state, f"{kick.kept:+.5g}", lost)))
    console().print(kicks)
    box = ", ".join(f"{name} {low:.3g} to {high:.3g}" for name, (low, high) in found.box.items())
    console().print(Text(f"box: {box}"))
