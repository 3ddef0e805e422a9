"""`--data data.csv` of the subcommands that draw: measured points over their figure."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from diffmicro._device import Device
from diffmicro.command.identifying import data_from
from diffmicro.command.words import BadInput, Point

if TYPE_CHECKING:
    from diffmicro.plot.measured import Measured


def points_over(
    module: Device,
    table: Path | None,
    plot: Path | None,
    point: Point,
    keys: Sequence[str],
    responses: Sequence[str] = (),
) -> "Measured | None":
    """The points of a file, checked before anything is calculated.

    keys: columns that the figure needs. responses: those that it can show; none: it shows no response.
    """
    if table is None:
        return None
    from diffmicro.plot.measured import measured_points

    if plot is None:
        raise BadInput(f"--data {table}: it is drawn over the figure; add --plot FILE.png.")
    data = data_from(module, table)
    found = measured_points(data, module, point.design, point.setting)
    for name in keys:
        if name not in found.columns:
            raise BadInput(
                f"--data {table}: the figure shows {name}, of which there is no column; there are "
                f"{', '.join(found.columns)}."
            )
    if responses and not set(responses) & set(found.responses):
        raise BadInput(
            f"--data {table}: it has {', '.join(found.responses)}, but the figure can show {', '.join(responses)}."
        )
    return found
