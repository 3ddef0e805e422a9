"""The subcommand `identify`: parameters from a table of measurements, as text, as JSON and in a folder.

The folder holds the question (`config.json`, `environment.json`), the object that `--json` prints
(`result.json`) and the figure (`identification.png`)."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from diffmicro._device import Device
from diffmicro._files import replace
from diffmicro.command import words
from diffmicro.command.axes import is_range
from diffmicro.command.codes import OF_SEARCH
from diffmicro.command.estimates import show, unit_of
from diffmicro.command.measuring import data_from
from diffmicro.command.options import note_cautions
from diffmicro.command.progress import progress
from diffmicro.command.sharing import ALONE, sharing
from diffmicro.command.sweeping import check_figure
from diffmicro.command.words import BadInput
from diffmicro.parameters import Value

if TYPE_CHECKING:
    from diffmicro.design.run import Folder
    from diffmicro.identification import Data


class Options(NamedTuple):
    """Options of `identify`, apart from the device, the data and the words. others: --workers and --cluster."""

    free: Sequence[str] = ()
    errors: Sequence[str] = ()
    loss: str = "linear"
    starts: int | None = None
    seed: int = 0
    ignore: str | None = None
    upcoming: bool = False
    out: Path | None = None
    json: bool = False
    plot: Path | None = None
    others: tuple[int, str | None] = ALONE


def run_identify(device: str, table: Path, pairs: Sequence[str], options: Options) -> int:
    """Fit and show; 3 where nothing was found."""
    from diffmicro.identification import identify
    from diffmicro.identification.upcoming import next_measurement

    check_figure(options.plot)
    module = words.device(device)
    data = data_from(module, table, options.ignore, options.errors)
    free, ranges = _ranges(module, data, [*options.free, *filter(is_range, pairs)])
    if ranges and not options.upcoming:
        raise BadInput(
            f"{', '.join(ranges)}: a column of the data is known, so it cannot be free. A range of it says "
            "where to measure next: add --next."
        )
    point = _point(module, data, [pair for pair in pairs if not is_range(pair)], free)
    note_cautions(module, point, free)
    asked = dict(loss=options.loss, starts=options.starts, seed=options.seed)
    folder = _folder(module, table, data, free, point, asked, options.out)
    try:
        with (
            sharing(*options.others) as processes,
            progress("identify, looks at all rows", None) as advance,
        ):
            point_of = dict(design=point.design, setting=point.setting, watch=advance)
            found = identify(
                module, data, free, processes=processes, **point_of, **asked, **point.numerics
            )  # type: ignore[arg-type]
        after = next_measurement(found, ranges) if options.upcoming and found.ended else None
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    content = found.json() | {"next": None if after is None else after.json()}
    figures = [options.plot] if options.plot else []
    figures += [folder.path / "identification.png"] if folder else []
    if figures and found.ended is not None:
        from diffmicro.plot.identification import identification_figure

        for path in figures:
            identification_figure(found, after).savefig(path)
    if folder is not None:
        # The last file: with it the folder counts as finished.
        replace(folder.path / "result.json", (json.dumps(content, allow_nan=False) + "\n").encode())
    print(json.dumps(content, allow_nan=False)) if options.json else show(found, after)
    return OF_SEARCH[found.status]


Ranges = dict[str, tuple[float, float]]


def _ranges(module: Device, data: "Data", texts: Sequence[str]) -> tuple[Ranges, Ranges]:
    """The free keys, and the columns of the data in which to look for the next measurement."""
    from diffmicro.design import parse_free

    free: Ranges = {}
    ranges: Ranges = {}
    for text in texts:
        try:
            key, low, high = parse_free(text, partial(unit_of, module))
        except BadInput:
            raise
        except ValueError as complaint:
            raise BadInput(str(complaint)) from None
        if key in free or key in ranges:
            raise BadInput(f"{key} is given a range twice.")
        (ranges if key in data.keys else free)[key] = (low, high)
    if not free:
        raise BadInput("Nothing is free: give --free key=low:high, the parameters to find.")
    return free, ranges


def _point(module: Device, data: "Data", pairs: Sequence[str], free: Ranges) -> words.Point:
    """What the words fix, with the first row's values: from these a device may derive what is not given."""
    given = words.split(pairs)
    for key in given:
        if key in data.keys or key in free:
            where = "is a column of the data" if key in data.keys else "is free"
            raise BadInput(f"{key}={given[key]}: {key} {where}; leave the word out.")
    first = {key: column[0] for key, column in data.keys.items()}
    middle = {key: (low + high) / 2 for key, (low, high) in free.items() if _unset(module, key)}
    aliased = {module.aliases[key].of for key in first if key in module.aliases}
    for key in aliased & (given.keys() | free.keys()):
        raise BadInput(f"{key} follows from a column of the data; leave it out.")
    return words.point(module, {**given, **first, **middle})


def _unset(module: Device, key: str) -> bool:
    """Whether the published point has no value of a parameter that is free."""
    known = module.parameters[key.partition("[")[0]]
    return known.default is None


def _folder(
    module: Device,
    table: Path,
    data: "Data",
    free: Ranges,
    point: words.Point,
    asked: Mapping[str, Value],
    out: Path | None,
) -> "Folder | None":
    """The folder of this question; one that holds something else is refused."""
    if out is None:
        return None
    from diffmicro.design.run import Folder, FolderRefused

    if (out / "result.json").exists():
        raise BadInput(f"The folder {out} has a result already. Choose another, or delete it.")
    about = {
        "device": module.name,
        "data": table.name,
        "columns": {name: column.tolist() for name, column in {**data.keys, **data.values}.items()},
        "standard errors": {
            name: None if column is None else column.tolist()
            for name, column in data.errors.items()
        },
        "ways": data.ways.tolist(),
        "free": {key: list(ends) for key, ends in free.items()},
        "design": vars(point.design),
        "setting": vars(point.setting),
        **asked,
        **point.numerics,
    }
    try:
        return Folder(out, about, False)
    except FolderRefused as complaint:
        raise BadInput(str(complaint)) from None
