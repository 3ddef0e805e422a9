"""The subcommand `branches`: periodic motions followed through folds, as a table and a figure.

Branches that are finished when Ctrl-C comes are written.
"""

import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import PyTree

from diffmicro._device import Device, hooked
from diffmicro.command import words
from diffmicro.command.codes import Code
from diffmicro.command.measuring import points_over
from diffmicro.command.options import note_cautions
from diffmicro.command.output import console
from diffmicro.command.progress import progress
from diffmicro.command.sweeping import check_files
from diffmicro.command.words import BadInput
from diffmicro.devices import OWN
from diffmicro.parameters import Value
from diffmicro.sweep import Table, writer

if TYPE_CHECKING:
    from diffmicro.dynamics.branches import AnyBranch
    from diffmicro.plot.measured import Measured

UNFINISHED = ("not_converged", "step_limit")
"""Ends at which a branch would go on."""

ENDS = {
    "bound": "the range ends",
    "grazing": "grazing: an impact appears or vanishes",
    "closed": "it is closed",
    "not_converged": "not converged: no next point was found",
    "step_limit": "the limit on points was reached",
}


class Range(NamedTuple):
    """The key that a branch is followed along, from low to high."""

    key: str
    low: float
    high: float


def run_branches(
    device: str,
    given: Mapping[str, str],
    out: Path,
    plot: Path | None,
    seeds: int,
    data: Path | None = None,
) -> int:
    """Follow the branches and write them; 3 when one did not come to its end, 130 when interrupted."""
    module = words.device(device)
    each_branch = _each_branch(module)
    check_files(out, plot)
    along, fixed = _range(module, given)
    words.check_varied(module, fixed, (along.key,))
    for end in (along.low, along.high):
        start = words.point(module, fixed | {along.key: end})
    note_cautions(module, start, (along.key,))
    if start.numerics.pop("method", "event") != "event":
        raise BadInput("Branches are followed by the method event; leave --method out.")
    measured = points_over(module, data, plot, start, (along.key,), tuple(module.responses))
    found: list[PyTree] = []
    interrupted = False
    try:
        with progress(f"branches over {along.key}, points", None) as advance:
            each = each_branch(
                start.design, start.setting, *along, seeds=seeds, watch=advance, **start.numerics
            )
            with closing(each):
                found.extend(each)
    except KeyboardInterrupt:
        interrupted = True
    except ValueError as complaint:
        numerics = start.numerics | {"seeds": seeds}
        raise words.refusal(module, complaint, numerics) or complaint from None
    if found:
        _write(module, found, out, plot, measured)
    if interrupted:
        kept = f" The finished branches are in {out}." if found else ""
        print(f"diffmicro: Interrupted.{kept}", file=sys.stderr)
        return Code.INTERRUPTED
    if not found:
        print(
            f"diffmicro: none of {seeds} simulations from rest between {along.key} = {along.low:g} "
            f"and {along.high:g} settles to a motion with the period of the drive, so there is no "
            "branch to start from, and nothing is written. Try another range, or more of them by "
            "--seeds.",
            file=sys.stderr,
        )
        return Code.NOT_CONVERGED
    lost = any(end in UNFINISHED for branch in found for end in branch.ends)
    return Code.NOT_CONVERGED if lost else Code.OK


def branches_table(module: Device, branches: Sequence[PyTree]) -> Table:
    """All branches as one table: key, responses, `stable`, `branch` (from 1), and `kind` of point.

    `kind`: `regular`; `fold`, where the key turns around; `corner`, where the branch has a kink; or why
    the branch ends there, see `ENDS`.
    """
    key = branches[0].key
    known = words.parameters(module) | words.responses(module)
    names = [name for name in words.responses(module) if name in branches[0]._fields]

    def joined(columns: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate([np.asarray(column) for column in columns])

    columns = {key: joined([branch.parameter for branch in branches])}
    columns |= {name: joined([getattr(branch, name) for branch in branches]) for name in names}
    columns["stable"] = joined([branch.stable for branch in branches])
    columns["branch"] = joined(
        [np.full(len(branch.parameter), number) for number, branch in enumerate(branches, 1)]
    )
    columns["kind"] = joined([_kinds(branch) for branch in branches])
    units = {name: known[name].unit for name in (key, *names)}
    return Table((key,), columns, np.arange(len(columns[key])), units)


def _kinds(branch: PyTree) -> np.ndarray:
    kinds = np.full(len(branch.parameter), "regular", object)
    kinds[branch.corners] = "corner"
    kinds[branch.folds] = "fold"
    kinds[[0, -1]] = branch.ends
    return kinds.astype(str)


def _each_branch(module: Device) -> "Callable[..., Generator[AnyBranch]]":
    """The function that follows the branches of a device."""
    if module.branches is None:
        able = ", ".join(name for name in OWN if words.device(name).branches is not None)
        raise BadInput(
            f"{module.name} has no continuation of branches; the devices that have it: {able}. See how "
            f"{module.name} changes with a parameter by `diffmicro sweep`."
        )
    return hooked(module.branches)


def _range(module: Device, words_given: Mapping[str, str]) -> tuple[Range, dict[str, str]]:
    """The one word that is a range, and the others as they are."""
    given = dict(words_given)
    ranges = [key for key, text in given.items() if ":" in text]
    if len(ranges) != 1:
        others = f"; {', '.join(ranges)} are {len(ranges)}" if ranges else ""
        raise BadInput(f"Give exactly one key with a range, key=start:stop{others}.")
    (key,) = ranges
    text = given.pop(key)
    ends = text.split(":")
    if len(ends) != 2:
        raise BadInput(
            f"{key}={text}: the range of branches is key=start:stop, without a count; they choose "
            "their points themselves."
        )
    if key in words.NUMERICS:
        raise BadInput(f"{key} is no parameter of the device, so no branch is followed along it.")
    words.free_names(key, module)
    known = words.parameters(module)[key]
    if () not in known.shapes:
        raise BadInput(f"{key} is {known.size} numbers; a branch is followed along one number.")
    low, high = (words.one_number(known, end) for end in ends)
    if not low < high:
        raise BadInput(f"{key}={text}: the start has to be below the stop.")
    return Range(key, low, high), given


def _write(
    module: Device,
    branches: Sequence[PyTree],
    out: Path,
    plot: Path | None,
    measured: "Measured | None",
) -> None:
    table = branches_table(module, branches)
    writer(out)(table, out)
    key = table.keys[0]
    if plot:
        from diffmicro.plot.branches import plot_branches

        unit = table.units[key]
        label = key.replace("_", " ") + ("" if unit in ("", "-") else f" [{unit}]")
        shown: dict[str, Value] = {}  # a velocity in mm/s, anything else in its own unit
        if "velocity" not in table.units:
            first = next(name for name in table.units if name != key)
            shown = dict(response=first, scale=1.0, unit=table.units[first])
        if measured is not None:
            first = next((name for name in measured.responses if name in table.units), None)
            if first is None:
                raise BadInput(
                    f"--data: branches have none of {', '.join(measured.responses)}; nothing is drawn. The table "
                    f"is in {out}."
                )
            if first != "velocity":
                shown = dict(response=first, scale=1.0, unit=table.units[first])
        figure = plot_branches(branches, label=label, measured=measured, **shown)
        figure.savefig(plot, dpi=150)
    page = console(stderr=True)
    for number, branch in enumerate(branches, 1):
        page.print(_in_a_line(number, branch), soft_wrap=True)
    count = f"{len(branches)} branch{'es' if len(branches) > 1 else ''}"
    page.print(f"{count}, {len(table)} points to {out}", soft_wrap=True)


def _in_a_line(number: int, branch: PyTree) -> str:
    """A branch in one line: where it goes and turns, and how much of it is stable."""
    at = branch.parameter
    share = float(np.mean(branch.stable))
    stable = {0.0: "unstable", 1.0: "stable"}.get(share, f"stable at {100 * share:.0f} % of them")
    folds = ", ".join(f"{at[i]:.6g}" for i in branch.folds)
    ends = (f"{at[i]:.6g} ({ENDS[end]})" for i, end in zip((0, -1), branch.ends, strict=True))
    return (
        f"branch {number}: {len(at)} points, {stable}, {branch.key} from {' to '.join(ends)}"
        f"{f'; folds at {folds}' if folds else ''}"
    )
