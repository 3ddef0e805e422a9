"""The subcommand `animate`: a device from words, or the result of an optimization, in motion as a file."""

from collections.abc import Sequence
from pathlib import Path

from diffmicro.command import words
from diffmicro.command.codes import Code
from diffmicro.command.output import note
from diffmicro.command.runs import fields_with, kept
from diffmicro.command.words import BadInput


def run_animate(subject: str, pairs: Sequence[str], out: Path, frames: int) -> int:
    """Write the motion; 3 where it has no values. subject: a device, or the folder of an optimization."""
    from diffmicro.plot import film
    from diffmicro.plot.states import NoMotion

    run = kept(subject)
    device = words.device(run.device)
    point = words.point(device, fields_with(run, device, words.split(pairs)))
    if point.numerics:
        raise BadInput(f"{', '.join(point.numerics)}: animate chooses its own numerics.")
    if not out.parent.is_dir():
        raise BadInput(f"The folder {out.parent} does not exist.")
    for text in point.notes:
        note(text)
    try:
        film.animate(device, point.design, point.setting, out, frames)
    except NoMotion as complaint:
        note(f"diffmicro: {complaint}")
        return Code.NOT_CONVERGED
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    note(f"The motion of {run.device} to {out}")
    return Code.OK
