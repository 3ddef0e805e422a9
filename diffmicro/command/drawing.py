"""The subcommand `draw`: a design from words, its drawing as a file."""

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from diffmicro.command import words
from diffmicro.command.codes import Code
from diffmicro.command.output import console
from diffmicro.command.ruling import check_layers, print_narrow, process_of
from diffmicro.command.runs import fields_with, kept
from diffmicro.command.words import BadInput
from diffmicro.parameters import describe
from diffmicro.units import in_si, readable

MASKS = (".gds", ".dxf")
"""Endings of files that something is made by."""


def run_draw(
    subject: str,
    pairs: Sequence[str],
    out: Path,
    tolerance: str | None,
    grid: str | None,
    rules: Path | None = None,
) -> int:
    """Draw a device, or the result of an optimization, and say what the drawing shows.

    rules: file of those that the mask is drawn for. Masks of a run with rules are drawn for these.
    """
    from diffmicro.drawing import draw, geometry
    from diffmicro.process import process_from
    from diffmicro.shapes import Angle

    run = kept(subject)
    device = words.device(run.device)
    layout, rest = words.layout(device, {**run.layout, **words.split(pairs)})
    point = words.point(device, fields_with(run, device, rest))
    process = process_of(rules)
    if process is None and run.rules is not None and out.suffix.lower() in MASKS:
        process = process_from(run.rules)
    if not out.parent.is_dir():
        raise BadInput(f"The folder {out.parent} does not exist.")
    sizes = {
        key: _length(f"--{key}", text)
        for key, text in (("tolerance", tolerance), ("grid", grid))
        if text is not None
    }
    try:
        if process is not None:
            check_layers(device, process, geometry(device, point.design, layout).layers)
        shown = draw(device, out, point.design, layout, process=process, **sizes)
    except BadInput:
        raise
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    page = console(stderr=True)
    for note in point.notes:
        page.print(Text(note), soft_wrap=True)
    if process is not None:
        page.print(Text(shown.notes[-1]), soft_wrap=True)
        print_narrow(page, device, process, point.design, layout)
    unused = [key for key in rest if key in describe(device.Setting) or key in words.NUMERICS]
    if unused:
        page.print(
            Text(
                f"{', '.join(unused)} {'does' if len(unused) == 1 else 'do'} not change the drawing."
            )
        )
    texts = [
        f"{d.name} {readable(float(d.value()), 'rad' if isinstance(d, Angle) else 'm', 5)}"
        for d in shown.dimensions
    ]
    page.print(Text(f"{device.name} to {out}: {', '.join(texts)}"), soft_wrap=True)
    return Code.OK


def _length(option: str, text: str) -> float:
    try:
        return in_si(text, "m")
    except ValueError as complaint:
        raise BadInput(f"{option} {text}: {complaint}; write a length such as 1nm.") from None
