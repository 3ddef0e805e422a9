"""The subcommand `merge`: the parts of a sweep that several programs calculated, as the file of the whole."""

from collections.abc import Sequence
from pathlib import Path

from diffmicro.command.codes import Code
from diffmicro.command.output import note
from diffmicro.command.sweeping import check_files
from diffmicro.command.words import BadInput
from diffmicro.sweep import join
from diffmicro.sweep.record import SHARD, Record, keep, record_of, recorded
from diffmicro.sweep.store import differences


def run_merge(files: Sequence[Path], out: Path, plot: Path | None = None) -> int:
    """Write the whole table, to the byte what one program would have written."""
    check_files(out, plot)
    parts = {file: _part(file) for file in files}
    first = next(iter(parts.values()))
    whole = {key: value for key, value in first.sweep.items() if key != SHARD}
    for file, part in list(parts.items())[1:]:
        differing = differences(
            *(
                {**record.sweep, SHARD: None, "of": record.sweep[SHARD].split("/")[1]}
                for record in (part, first)
            )
        )
        if differing:
            raise BadInput(f"{file} is of another sweep than {files[0]}: {differing[0]}.")
    _check_complete(parts)
    tables = [recorded(file, part) for file, part in parts.items()]
    table = join(tables)
    if not keep(table, out, len(table), whole, first.words):
        raise BadInput(f"{out} holds a longer table already.")
    if plot is not None:
        from diffmicro.plot.sweep import save_sweep_figure

        save_sweep_figure(table, plot)
    note(f"{len(table)} points of {len(tables)} parts to {out}")
    return Code.OK


def _part(file: Path) -> Record:
    there = record_of(file)
    if not file.exists():
        raise BadInput(f"There is no file {file}.")
    if there is None or SHARD not in there.sweep:
        raise BadInput(
            f"{file} is no file that `diffmicro sweep --shard` wrote, or it was changed since: the record beside "
            "it does not fit."
        )
    if not there.whole:
        raise BadInput(
            f"{file} holds {there.points} of {there.count} points: finish it with the same words and --resume."
        )
    return there


def _check_complete(parts: dict[Path, Record]) -> None:
    """`BadInput` for parts that are missing or there twice."""
    numbers: dict[int, Path] = {}
    count = 0
    for file, part in parts.items():
        number, count = map(int, part.sweep[SHARD].split("/"))
        if number in numbers:
            raise BadInput(f"{file} and {numbers[number]} are the same part, {number} of {count}.")
        numbers[number] = file
    missing = [str(n) for n in range(1, count + 1) if n not in numbers]
    if missing:
        raise BadInput(
            f"Of {count} parts {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing."
        )
