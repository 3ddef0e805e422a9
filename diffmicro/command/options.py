"""What the subcommands share: types of their options, endings, the start of the program, words that are left."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diffmicro._json import Json
from diffmicro.command.codes import Code

if TYPE_CHECKING:
    from diffmicro import _device
    from diffmicro.command import words


def _devices(incomplete: str) -> list[str]:
    """Names that a shell may complete to."""
    from diffmicro.devices import origins

    return [name for name in origins() if name.startswith(incomplete)]


Device = Annotated[
    str,
    typer.Argument(
        help="A name from `diffmicro list`, file.py:NAME or package.module:NAME.",
        autocompletion=_devices,
    ),
]
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
Grad = Annotated[
    str | None, typer.Option(metavar="KEYS", help="Parameters to differentiate by, with commas.")
]
Of = Annotated[
    str | None, typer.Option(metavar="NAMES", help="Responses to differentiate, with commas.")
]
TableFile = Annotated[
    Path, typer.Option(metavar="FILE", help="Where to write: a file .csv, .npz, .jsonl or .nc.")
]
Figure = Annotated[
    Path | None, typer.Option(metavar="FILE.png", help="Draw a figure too (.png, .pdf, .svg).")
]
Points = Annotated[
    Path | None, typer.Option(metavar="data.csv", help="Measured points to draw over the figure.")
]
Rules = Annotated[
    Path | None, typer.Option(metavar="FILE.toml", help="Rules of the fabrication process.")
]
Robust = Annotated[
    list[str] | None,
    typer.Option(
        metavar="key=5%",
        help="Fabrication scatters: deviation, or +-5% interval; each entry of a vector.",
    ),
]
Good = Annotated[
    float | None,
    typer.Option("--yield", metavar="0.95", help="Share of parts to be good; counted at the end."),
]
Scatter = Annotated[
    list[str] | None,
    typer.Option(metavar="key=1um", help="Standard deviation, also 2%; +-1um for an interval."),
]
Common = Annotated[
    list[str] | None,
    typer.Option(metavar="etch=0.3um:a-2,b+2", help="One cause that moves several fields."),
]
Workers = Annotated[
    int, typer.Option(metavar="N", help="Processes of this machine that share the work.")
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="The workers of a dask scheduler, or scheduler.json."),
]
Precision = Annotated[int, typer.Option(help="Bits of a number: 32 or 64.")]


def reporting(command: Callable[..., int | None]) -> Callable[..., None]:
    """Bad input and files that do not work as a message and exit code 2, an interruption as 130, a reader that
    went away (`| head -1`) as 141 without a word."""

    @wraps(command)
    def reporting(*args: Json, **kwargs: Json) -> None:
        from diffmicro._files import complaint_of
        from diffmicro.command.words import BadInput

        try:
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:  # `| head -1` has what it wants
            # Python flushes once more at its end, and would complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = Code.NO_READER
        except BadInput as problem:
            print(f"diffmicro: {problem}", file=sys.stderr)
            code = Code.BAD_INPUT
        except OSError as problem:
            print(f"diffmicro: {complaint_of(problem)}", file=sys.stderr)
            code = Code.BAD_INPUT
        except KeyboardInterrupt:
            print("diffmicro: interrupted.", file=sys.stderr)
            code = Code.INTERRUPTED
        except Exception as problem:
            fault = _fault_of_device(problem)
            if fault is None:
                raise
            print(f"diffmicro: {fault}", file=sys.stderr)
            code = Code.BAD_INPUT
        raise typer.Exit(code or Code.OK)

    return reporting


def _fault_of_device(problem: Exception) -> str | None:
    """What is wrong with somebody's own device, where that is what failed."""
    from diffmicro.devices import fault_in_file
    from diffmicro.hybrid.motion import MotionError

    return str(problem) if isinstance(problem, MotionError) else fault_in_file(problem)


def start_program(precision: int) -> None:
    """Settings of JAX, before it starts; compiled programs are kept."""
    from diffmicro._configure import configure
    from diffmicro._programs import keep_programs
    from diffmicro.command.words import BadInput

    if precision not in (32, 64):
        raise BadInput(f"--precision {precision} is not allowed; it has to be 32 or 64.")
    configure(double=precision == 64)
    keep_programs()


def given_words(pairs: list[str] | None, method: str | None, steps: str | None) -> dict[str, Json]:
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


def note_cautions(module: "_device.Device", point: "words.Point", keys: Iterable[str] = ()) -> None:
    """Cautions about what differs from the published design, to standard error."""
    from diffmicro.command.output import console
    from diffmicro.command.words import cautions

    for text in point.notes:
        console(stderr=True).print(text, soft_wrap=True, markup=False)
    for text in cautions(module, point, keys):
        console(stderr=True).print(f"caution: {text}", soft_wrap=True)


def values_of(line: object) -> dict[str, Json]:
    return dict(line) if isinstance(line, Mapping) else {}


def words_of(line: object) -> str:
    return " ".join(f"{key}={value}" for key, value in values_of(line).items())
