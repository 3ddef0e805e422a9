"""The subcommand `sweep`: axes from words, progress on the terminal, files and a figure at the end.

Finished chunks are kept beside the file (`FILE.part/`) until all are there, so that `--resume` goes on
after whatever stopped the sweep. One that is stopped by Ctrl-C, or loses a process, also writes the points
that are finished to the file, unless a whole table is there. A record next to the file identifies the sweep.
"""

import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from diffmicro._device import Device
from diffmicro._files import complaint_of
from diffmicro._json import Json
from diffmicro.command import words
from diffmicro.command.axes import boxes, check_points, ends_of, grid_axes
from diffmicro.command.codes import Code
from diffmicro.command.measuring import points_over
from diffmicro.command.options import note_cautions
from diffmicro.command.output import note
from diffmicro.command.progress import counted, duration, progress
from diffmicro.command.sharing import checked
from diffmicro.command.words import BadInput
from diffmicro.devices import OWN
from diffmicro.parameters import Value
from diffmicro.sweep import (
    ClusterError,
    Shard,
    Store,
    StoreError,
    Table,
    WorkerDied,
    beside,
    check_size,
    drawn,
    join,
    size,
    sweep,
    writer,
)
from diffmicro.sweep.cost import Cost, cost_of
from diffmicro.sweep.plan import Job, fingerprint
from diffmicro.sweep.record import SHARD, keep, record_of, recorded
from diffmicro.sweep.run import BYTES, WHOLE, job_of, rows_of
from diffmicro.sweep.store import differences

if TYPE_CHECKING:
    from diffmicro.plot.measured import Measured

DIRECTIONS = ("none", "up", "down", "both")


class Draw(NamedTuple):
    """How many points are drawn instead of a grid, and how."""

    count: int
    seed: int
    sobol: bool


class Options(NamedTuple):
    """Options of `sweep`, apart from the device and its parameters."""

    out: Path
    carry: str = "none"
    plot: Path | None = None
    response: str | None = None
    workers: int = 1
    resume: bool = False
    draw: Draw | None = None
    shard: Shard = WHOLE
    dry_run: bool = False
    data: Path | None = None
    grad: str | None = None
    of: str | None = None
    cluster: str | None = None


def draw_of(random: int | None, sobol: int | None, seed: int) -> Draw | None:
    """What `--random`, `--sobol` and `--seed` mean."""
    if random is not None and sobol is not None:
        raise BadInput("--random and --sobol are two ways to draw points; give one of them.")
    count = sobol if random is None else random
    return None if count is None else Draw(count, seed, random is None)


def shard_of(text: str | None) -> Shard:
    """What `--shard 2/5` means."""
    if text is None:
        return WHOLE
    found = re.fullmatch(r"([1-9]\d{0,5})/([1-9]\d{0,5})", text)
    if not found or int(found[1]) > int(found[2]):
        raise BadInput(
            f"--shard {text} is not allowed; it has to be I/N, such as 2/5, I at most N."
        )
    return Shard(int(found[1]), int(found[2]))


def run_sweep(device: str, given: Mapping[str, str], options: Options) -> int:
    """Run the sweep and write it; 130 when it was interrupted, 1 when a process died."""
    module = words.device(device)
    _check_carry(module, options.carry)
    check_files(options.out, options.plot)
    plan = _planned(module, device, given, options)
    if options.dry_run:
        note(_cost(cost_of(plan.job, options.shard), options.workers))
        return Code.OK
    file, store = plan.file, Store(beside(options.out), options.resume)
    if options.resume and _done_already(file, store):
        return Code.OK
    parts = sweep(module, plan.axes, **plan.processes, store=store, **plan.asked)
    pieces: list[Table] = []
    code, problem = Code.OK, ""
    try:
        with closing(parts), progress("sweep", file.count) as advance:
            for piece in parts:
                advance(len(piece), piece["status"], fresh=store.kept <= len(pieces))
                pieces.append(piece)
    except KeyboardInterrupt:
        code, problem = Code.INTERRUPTED, "Interrupted."
    except WorkerDied as death:
        code, problem = Code.DIED, str(death)
    except StoreError as complaint:
        raise BadInput(str(complaint)) from None
    except ClusterError as complaint:
        raise BadInput(f"{complaint}{_kept(store, pieces)}") from None
    except ValueError as complaint:
        raise words.refusal(module, complaint, plan.start.numerics) or complaint from None
    except OSError as full:
        raise BadInput(f"{complaint_of(full)}{_kept(store, pieces)}") from None
    if store.kept:
        note(f"{store.kept} finished chunks were there already.")
    if store.torn:
        note(f"{store.torn} chunks were torn and were calculated again.")
    if pieces:
        _write(join(pieces), file)
    if not code:
        store.remove()
        return code
    print(f"diffmicro: {problem}{_kept(store, pieces)}", file=sys.stderr)
    return code


def _kept(store: Store, pieces: list[Table]) -> str:
    return f" What is finished is in {store.path}: --resume goes on from there." if pieces else ""


class _Plan(NamedTuple):
    """A sweep in the words of `sweep.sweep`: axes, as a job, the point at their start, all else; who calculates;
    its file."""

    axes: Mapping[str, Value]
    job: Job
    start: words.Point
    asked: dict[str, Value]
    processes: dict[str, Value]
    file: "_File"


def _planned(module: Device, device: str, given: Mapping[str, str], options: Options) -> _Plan:
    """What the words and options mean; every value is checked."""
    carry, paired = options.carry, options.draw is not None
    if options.draw is not None:
        drawn_from, fixed = boxes(module, given)
        count, seed, sobol = options.draw
        axes, ends = drawn(drawn_from, count, seed, sobol=sobol), ends_of(drawn_from)
    else:
        axes, fixed = grid_axes(module, given)
        ends = axes
    try:
        check_size(axes, carry, paired)  # type: ignore[arg-type]
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    wanted = words.names(options.response, words.responses(module), "response") or None
    wrt, of = words.derivatives(options.grad, options.of, module)
    # With a value of each axis: a device may derive what is not given from what is.
    first = {key: values[0] for key, values in ends.items()}
    start = words.point(module, fixed | first)
    note_cautions(module, start, axes)
    check_points(module, ends, start, wrt)
    processes = _processes(options, axes)
    held = dict(design=start.design, setting=start.setting, responses=wanted, carry=carry)
    held |= dict(wrt=wrt, of=of)
    if carry != "none":
        try:
            module.check_carries(f"--carry {carry}", start.numerics.get("method"))
        except ValueError as complaint:
            raise BadInput(str(complaint)) from None
    job = job_of(module, axes, numerics=start.numerics, paired=paired, **held)  # type: ignore[arg-type]
    mark, shard = fingerprint(job), options.shard
    points = size(axes, carry, paired)  # type: ignore[arg-type]
    if shard != WHOLE:
        mark, points = mark | {SHARD: str(shard)}, len(rows_of(job, shard))
        if not points:
            raise BadInput(f"--shard {shard}: there are fewer pieces of work than {shard.of}.")
    others = ", ".join(f"{key}={value}" for key, value in fixed.items())
    title = f"{device}: {others}" if others else device
    keys = () if paired else (_drawn_along(axes, carry),)
    shown = wanted or module.usual_responses
    measured = points_over(module, options.data, options.plot, start, keys, shown)
    said = _words(device, given, options)
    file = _File(options.out, points, mark, options.plot, title, said, measured)
    asked = held | {"paired": paired, "shard": shard} | dict(start.numerics)
    return _Plan(axes, job, start, asked, processes, file)


def _words(device: str, given: Mapping[str, str], options: Options) -> str:
    """The command that calculates the same points, wherever and in however many parts it runs."""
    pairs = [f"{key}={value}" for key, value in given.items()]
    known = {"carry": options.carry if options.carry != "none" else None}
    known |= {"response": options.response, "grad": options.grad, "of": options.of}
    if options.draw is not None:
        known |= {"sobol" if options.draw.sobol else "random": options.draw.count}
        known |= {"seed": options.draw.seed}
    chosen = [f"--{name}={value}" for name, value in known.items() if value is not None]
    return shlex.join(["diffmicro", "sweep", device, *pairs, *chosen])


def _drawn_along(axes: Mapping[str, Value], carry: str) -> str:
    """The key along x: of walks the first, else of numbers the one with most values."""
    numbers = [key for key, values in axes.items() if isinstance(values[0], int | float)]
    if carry != "none" or not numbers:
        return next(iter(axes))
    return max(numbers, key=lambda key: len(set(axes[key])))


def _cost(cost: Cost, processes: int) -> str:
    """What a sweep would take, in words."""
    several = f", {duration(cost.total(processes))} in {processes}" if processes > 1 else ""
    return (
        f"{cost.points} points, some {cost.points * BYTES / 1e6:.3g} MB of memory. {cost.measured} of them took "
        f"{1e3 * cost.seconds:.3g} ms each, compiling {duration(cost.compiling)}: "
        f"about {duration(cost.total())} in one process{several}. Nothing was kept."
    )


class _File(NamedTuple):
    """What a sweep leaves behind: `count` points in `out`, of the sweep with this fingerprint, and a figure.

    words: of the command, without where it runs and what of it."""

    out: Path
    count: int
    sweep: Mapping[str, Json]
    plot: Path | None
    title: str
    words: str
    measured: "Measured | None" = None


def _done_already(file: _File, store: Store) -> bool:
    """Whether the file holds this whole sweep; then its figure is drawn. Else what `--resume` finds is noted."""
    there = record_of(file.out)
    if there is None or not there.whole or there.sweep != file.sweep:
        if not store.path.exists():
            note(f"There is nothing to resume in {store.path}: starting with the first chunk.")
        if there is not None and there.whole:
            other = differences(there.sweep, file.sweep)[0]
            note(
                f"{file.out} is of another sweep ({other}); this one replaces it when it is complete."
            )
        return False
    if store.path.exists():
        try:
            store.begin(file.sweep, 0)
        except StoreError as complaint:
            raise BadInput(str(complaint)) from None
        store.remove()
    _draw(recorded(file.out, there), file)
    note(f"All {file.count} points of this sweep are in {file.out}: nothing is calculated again.")
    return True


def check_files(out: Path, plot: Path | None) -> None:
    """`BadInput` for files that cannot be written, before anything is calculated."""
    try:
        writer(out)
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    if out is not None:
        _check_place(out)
    check_figure(plot)


def check_figure(plot: Path | None) -> None:
    """`BadInput` for a figure that cannot be written."""
    if plot is None:
        return
    if plot.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise BadInput(f"--plot {plot}: the ending has to be one of .png, .pdf, .svg.")
    _check_place(plot)


def _check_place(path: Path) -> None:
    if not path.parent.is_dir():
        raise BadInput(f"The folder {path.parent} does not exist.")
    if path.is_dir():
        raise BadInput(f"{path} is a folder, not a file.")
    if not os.access(path.parent, os.W_OK):
        raise BadInput(
            f"The folder {path.parent} may not be written to. Write to a folder that you may write to."
        )


def _processes(options: Options, axes: Mapping[str, Value]) -> dict[str, Value]:
    """Who calculates, in the words of `sweep.sweep`; a note where there are more than the walks need."""
    workers, cluster = checked(options.workers, options.cluster)
    carry = options.carry
    walks = size(dict(list(axes.items())[1:])) * (2 if carry == "both" else 1)
    if carry != "none" and workers > walks:
        note(
            f"With --carry {carry} these words make {walks} walk{'s' if walks > 1 else ''} along "
            f"{next(iter(axes))}, each in one process; more than {walks} are not faster."
        )
    return {"workers": workers, "cluster": cluster}


def _write(table: Table, file: _File) -> None:
    of = "" if len(table) == file.count else f" of {file.count}"
    if not keep(table, file.out, file.count, file.sweep, file.words):
        note(f"{len(table)}{of} points are finished. {file.out} has a table already, which stays.")
        return
    _draw(table, file)
    note(f"{len(table)}{of} points to {file.out}: {counted(Counter(table['status']))}")


def _draw(table: Table, file: _File) -> None:
    if file.plot:
        from diffmicro.plot.sweep import save_sweep_figure

        own = file.measured.responses if file.measured else ()
        response = next((name for name in own if name in table.columns), "velocity")
        save_sweep_figure(table, file.plot, response, file.title, file.measured)


def _check_carry(module: Device, carry: str) -> None:
    if carry not in DIRECTIONS:
        raise BadInput(
            f"--carry {carry} is not allowed; it has to be one of {', '.join(DIRECTIONS)}."
        )
    if carry != "none" and not module.carries:
        able = ", ".join(name for name in OWN if words.device(name).carries)
        raise BadInput(
            f"--carry {carry}: {module.name} starts from no state, so none can be "
            f"carried; the devices that do are {able}."
        )
