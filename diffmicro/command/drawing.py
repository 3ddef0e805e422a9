"""The subcommand `draw`: a design from words, its drawing as a file."""

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from diffmicro.command import words
from diffmicro.command.codes import Code
from diffmicro.command.output import console
from diffmicro.command.runs import of_run
from diffmicro.command.words import BadInput
from diffmicro.parameters import describe
from diffmicro.units import in_si, readable


def run_draw(
    subject: str, pairs: Sequence[str], out: Path, tolerance: str | None, grid: str | None
) -> int:
    """Draw a device, or the result of an optimization, and say what the drawing shows."""
    from diffmicro.drawing import draw
    from diffmicro.shapes import Angle

    name, kept, _ = of_run(Path(subject)) if Path(subject).is_dir() else (subject, {}, [])
    device = words.device(name)
    given = words.split(pairs)
    layout, rest = words.layout(device, given)
    point = words.point(device, {**kept, **rest})
    if not out.parent.is_dir():
        raise BadInput(f"The folder {out.parent} does not exist.")
    sizes = {
        key: _length(f"--{key}", text)
        for key, text in (("tolerance", tolerance), ("grid", grid))
        if text is not None
    }
    try:
        shown = draw(device, out, point.design, layout, **sizes)
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    page = console(stderr=True)
    unused = [key for key in rest if key in describe(device.Setting) or key in words.NUMERICS]
    if unused:
        page.print(Text(f"{', '.join(unused)}: no part of the drawing."))
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
