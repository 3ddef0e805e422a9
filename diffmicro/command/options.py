"""Arguments and options that several subcommands have, and what they set up."""

from pathlib import Path
from typing import Annotated, Any

import typer

Device = Annotated[str, typer.Argument(help="A name from `diffmicro list`.")]
Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="key=value",
        help="Fields of Design and Setting, in SI or with a unit: rest_gap=20um.",
        show_default=False,
    ),
]
Method = Annotated[str | None, typer.Option(help="Numerical method of the device.")]
Steps = Annotated[str | None, typer.Option(help="Time resolution: steps per drive period.")]
Names = Annotated[str | None, typer.Option(metavar="NAMES", help="Responses, separated by commas.")]
TableFile = Annotated[
    Path, typer.Option(metavar="FILE", help="Where to write: a file .csv, .npz or .jsonl.")
]
Figure = Annotated[
    Path | None, typer.Option(metavar="FILE.png", help="Draw a figure too (.png, .pdf, .svg).")
]
Precision = Annotated[int, typer.Option(help="Bits of a number: 32 or 64.")]


def start_jax(precision: int) -> None:
    """Settings of JAX, before it starts."""
    from diffmicro._configure import configure
    from diffmicro.command.words import BadInput

    if precision not in (32, 64):
        raise BadInput(f"--precision {precision} is not allowed; it has to be 32 or 64.")
    configure(double=precision == 64)


def as_given(pairs: list[str] | None, method: str | None, steps: str | None) -> dict[str, Any]:
    """Words and options as one dictionary of what was given."""
    from diffmicro.command.words import BadInput, split

    given = split(pairs or [])
    for key, value in {"method": method, "steps": steps}.items():
        if value is not None:
            if key in given:
                raise BadInput(
                    f"{key} is given twice, as {key}={given[key]} and as --{key} {value}."
                )
            given[key] = value
    return given
