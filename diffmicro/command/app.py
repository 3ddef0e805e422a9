"""The subcommands and their options; the work is done in the modules beside this one."""

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import wraps
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from diffmicro.command.options import (
    Device,
    Figure,
    Method,
    Names,
    Precision,
    Steps,
    TableFile,
    Words,
    as_given,
    start_jax,
)

COLLECT_AFTER = 200_000
"""Objects made between two collections of garbage."""

OK, BAD_INPUT, NOT_CONVERGED, INTERRUPTED, NO_READER = 0, 2, 3, 130, 141

app = typer.Typer(
    name="diffmicro",
    help="Differentiable simulator for microrobots: evaluate devices, sweep their parameters.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    # Tracing makes many objects that stay; looking through them again and again takes a fifth of its time.
    gc.set_threshold(COLLECT_AFTER)
    try:
        app(args=arguments, prog_name="diffmicro")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return OK


def _reporting(command: Any) -> Any:
    """Bad input and files that do not work as a message and exit code 2, an interruption as 130, a reader that
    went away (`| head -1`) as 141 without a word."""

    @wraps(command)
    def reporting(*args: Any, **kwargs: Any) -> None:
        from diffmicro._files import told
        from diffmicro.command.words import BadInput

        try:
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:  # `| head -1` has what it wants
            # Python flushes once more at its end, and would complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = NO_READER
        except BadInput as problem:
            print(f"diffmicro: {problem}", file=sys.stderr)
            code = BAD_INPUT
        except OSError as problem:
            print(f"diffmicro: {told(problem)}", file=sys.stderr)
            code = BAD_INPUT
        except KeyboardInterrupt:
            print("diffmicro: interrupted.", file=sys.stderr)
            code = INTERRUPTED
        raise typer.Exit(code or OK)

    return reporting


@app.callback(invoke_without_command=True)
def _program(
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
) -> None:
    if version:
        print(f"diffmicro {metadata.version('diffmicro')}")
        raise typer.Exit()


@app.command("list")
@_reporting
def list_devices() -> None:
    """Devices and what they are."""
    from diffmicro.command.output import console, devices_table

    console().print(devices_table())


@app.command()
@_reporting
def show(device: Device) -> None:
    """Parameters and responses of a device: default, unit, allowed range, symbol, source."""
    from diffmicro.command import output, words

    module = words.device(device)
    page = output.console()
    for kind in (module.Design, module.Setting):
        page.print(output.parameters_table(module, kind, kind.__name__))
        page.print()
    page.print(output.responses_table(module))


@app.command()
@_reporting
def evaluate(
    device: Device,
    pairs: Words = None,
    method: Method = None,
    steps: Steps = None,
    response: Names = None,
    grad: Annotated[
        str | None, typer.Option(metavar="KEYS", help="Parameters to differentiate by.")
    ] = None,
    of: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Responses to differentiate.")
    ] = None,
    precision: Precision = 64,
    points: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="One point a line: {key: value, ...}.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object for each point.")] = False,
) -> int:
    """Responses at one point or at many, with gradients and what these say about themselves."""
    from diffmicro.command import evaluation, output, words
    from diffmicro.results import FAILURES

    start_jax(precision)
    module = words.device(device)
    given = as_given(pairs, method, steps)
    known = words.responses(module)
    wrt = words.free_names(grad, module)
    if of and not wrt:
        raise words.BadInput(
            f"--of {of} says what to differentiate; say by what, with --grad KEYS."
        )
    first = next(iter(known))
    request = evaluation.Request(
        module,
        words.names(response, known, "response") or words.usual(module),
        wrt,
        (words.names(of, known, "response") or (first,)) if wrt else (),
    )
    page = output.console()
    if points is None:
        answer = evaluation.answer_point(request, given)
        if json:
            print(output.json_line(answer))
        else:
            for part in output.answer_tables(request, answer, given):
                page.print(part)
        if answer.status in FAILURES:
            return NOT_CONVERGED
        return BAD_INPUT if answer.status in ("invalid_input", "out_of_range") else OK
    lines = [
        line if isinstance(line, words.BadInput) else given | dict(line)
        for line in words.file_points(points)
    ]
    with closing(evaluation.answer_points(request, lines)) as answers:
        for number, answer in enumerate(answers, 1):
            if json:
                print(output.json_line(answer), flush=True)
                continue
            page.print(f"\npoint {number}: {_words_of(lines[number - 1])}")
            for part in output.answer_tables(request, answer, _values(lines[number - 1])):
                page.print(part)
            sys.stdout.flush()
    return OK


@app.command()
@_reporting
def sweep(
    device: Device,
    pairs: Annotated[
        list[str],
        typer.Argument(metavar="key=start:stop:count", help="Also key=a,b,c; key=value."),
    ],
    out: TableFile,
    carry: Annotated[
        str,
        typer.Option(help="Carry the state along the first key: up, down, both."),
    ] = "none",
    plot: Figure = None,
    response: Names = None,
    method: Method = None,
    steps: Steps = None,
    precision: Precision = 64,
    workers: Annotated[int, typer.Option(help="Processes that share the points.")] = 1,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the sweep that did not end.")
    ] = False,
) -> int:
    """Responses on a grid of parameters; every point has its status."""
    from diffmicro.command.sweeping import Options, run_sweep

    start_jax(precision)
    options = Options(out, carry, plot, response, workers, resume)
    return run_sweep(device, as_given(pairs, method, steps), options)


@app.command()
@_reporting
def branches(
    device: Device,
    pairs: Annotated[
        list[str], typer.Argument(metavar="key=start:stop", help="Also other key=value.")
    ],
    out: TableFile,
    plot: Figure = None,
    seeds: Annotated[
        int, typer.Option(help="Simulations from rest, spread over the range, to start from.")
    ] = 9,
    method: Method = None,
    steps: Steps = None,
) -> int:
    """Periodic motions followed through folds along one parameter, stable and unstable ones."""
    from diffmicro.command.branching import run_branches

    start_jax(64)
    return run_branches(device, as_given(pairs, method, steps), out, plot, seeds)


@app.command()
@_reporting
def boundaries(
    device: Device,
    along: Annotated[
        str, typer.Option(metavar="key|key=low:high", help="The parameter that is moved.")
    ],
    pairs: Words = None,
    grad: Annotated[
        str | None,
        typer.Option(metavar="KEYS", help="By what places are differentiated; all if not given."),
    ] = None,
    starts: Annotated[
        bool, typer.Option(help="Look where the start stops to lead to the motion.")
    ] = True,
    steps: Steps = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a boundary.")] = False,
    plot: Figure = None,
) -> int:
    """The nearest places along a parameter where the device stops doing what it does, and what moves them."""
    from diffmicro.command.limits import run_boundaries

    start_jax(64)
    given = as_given(pairs, None, steps)
    return run_boundaries(device, given, along, grad, starts, json, plot)


@app.command("map")
@_reporting
def map_motions(
    device: Device,
    pairs: Annotated[
        list[str], typer.Argument(metavar="key=start:stop", help="Two of them; also key=value.")
    ],
    out: TableFile,
    plot: Figure = None,
    rows: Annotated[int, typer.Option(min=2, help="Rows of the second key to start from.")] = 13,
    starts: Annotated[int, typer.Option(min=1, help="Simulations from the start on each.")] = 9,
    steps: Steps = None,
) -> int:
    """Where the motions of a device end in the plane of two parameters, and which there are between."""
    from diffmicro.command.mapping import run_map

    start_jax(64)
    return run_map(device, as_given(pairs, None, steps), out, plot, rows, starts)


@app.command()
@_reporting
def optimize(
    device: Device,
    pairs: Words = None,
    maximize: Annotated[str | None, typer.Option(metavar="RESPONSE")] = None,
    minimize: Annotated[str | None, typer.Option(metavar="RESPONSE")] = None,
    free: Annotated[
        list[str] | None, typer.Option(metavar="key=low:high", help="Free within bounds.")
    ] = None,
    subject: Annotated[
        list[str] | None, typer.Option(metavar="'min_gap>1e-6'", help="A constraint.")
    ] = None,
    robust: Annotated[
        list[str] | None,
        typer.Option(
            metavar="key=5%",
            help="Fabrication scatters: deviation, or +-5% interval; each entry of a vector.",
        ),
    ] = None,
    measure: Annotated[
        str, typer.Option(help="What --robust looks at: mean, quantile (the worst 10 %), worst.")
    ] = "mean",
    method: Annotated[
        str, typer.Option(help="auto, sqp, lagrangian, climb, or cma (without gradients).")
    ] = "auto",
    budget: Annotated[int, typer.Option(min=10, help="Evaluations to spend.")] = 148,
    lanes: Annotated[int | None, typer.Option(min=1, help="Starts of the search.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the random part of the search.")] = 0,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="New folder for the run.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run that is in --out.")] = False,
    json: Annotated[bool, typer.Option("--json", help="The result as one JSON object.")] = False,
) -> int:
    """The best design within bounds and constraints, by gradients.

    It ends ok: an optimum; stopped: better than the start, but no optimum (why is said); not_converged: nothing
    feasible or better (exit code 3).
    """
    from diffmicro.command.optimizing import run_optimize

    start_jax(64)
    goals = {"maximize": maximize, "minimize": minimize}
    options: dict[str, Any] = {"budget": budget, "seed": seed, "method": method, "resume": resume}
    if lanes is not None:
        options["lanes"] = lanes
    scatter = (robust or [], measure)
    return run_optimize(
        device, pairs or [], goals, free or [], subject or [], scatter, out, json, options
    )


@app.command()
@_reporting
def basins(
    device: Device,
    pairs: Words = None,
    box: Annotated[
        list[str] | None,
        typer.Option(metavar="state=low:high", help="Ends for a state of the starts, in SI."),
    ] = None,
    starts: Annotated[int, typer.Option(min=10, help="How many states to start from.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the starts.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="The result as one JSON object.")] = False,
    plot: Figure = None,
) -> int:
    """All motions that starts from a box of states end in, the share of each, and the smallest kicks.

    A kick is a sudden change of one state that loses the motion which the setting's own start reaches.
    """
    from diffmicro.command.attracting import run_basins

    start_jax(64)
    return run_basins(device, pairs or [], box or [], {"starts": starts, "seed": seed}, json, plot)


@app.command()
@_reporting
def tolerances(
    subject: Annotated[
        str, typer.Argument(metavar="DEVICE|RUN", help="Or an optimization's folder.")
    ],
    pairs: Words = None,
    scatter: Annotated[
        list[str] | None,
        typer.Option(metavar="key=1um", help="Standard deviation, also 2%; +-1um for an interval."),
    ] = None,
    common: Annotated[
        list[str] | None,
        typer.Option(metavar="etch=0.3um:a-2,b+2", help="One cause that moves several fields."),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option("--subject", metavar="'velocity>8mm/s'", help="What a good part keeps."),
    ] = None,
    parts: Annotated[int, typer.Option(min=20, help="Parts to calculate at most.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Of the random parts.")] = 0,
    gradients: Annotated[
        bool, typer.Option(help="Look for bad parts along the slopes of limits too.")
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="The result as one JSON object.")] = False,
    plot: Figure = None,
) -> int:
    """Share of good parts under tolerances, with its interval, and what the bad ones fail by.

    A good part ends ok and keeps every limit. Without --scatter and --common the device's own process is taken.
    """
    from diffmicro.command.fabricating import run_tolerances

    start_jax(64)
    options: dict[str, Any] = {"parts": parts, "seed": seed, "gradients": gradients}
    return run_tolerances(
        subject, pairs or [], scatter or [], common or [], limit or [], options, json, plot
    )


@app.command()
@_reporting
def animate(
    device: Device,
    out: Annotated[Path, typer.Option(help="Where to write: a file .gif, .mp4 or .png.")],
    pairs: Words = None,
    frames: Annotated[int, typer.Option(min=2, max=2000, help="Number of frames.")] = 80,
) -> int:
    """The device in motion as GIF or MP4, or as a strip of frames in a PNG."""
    from diffmicro.command import words
    from diffmicro.command.output import console
    from diffmicro.plot import animate as drawing

    start_jax(64)
    module = words.device(device)
    point = words.point(module, words.split(pairs or []))
    if point.numerics:
        raise words.BadInput(f"{', '.join(point.numerics)}: animate chooses its own numerics.")
    if not out.parent.is_dir():
        raise words.BadInput(f"The folder {out.parent} does not exist.")
    try:
        drawing.animate(module, point.design, point.setting, out, frames)
    except ValueError as complaint:
        raise words.BadInput(str(complaint)) from None
    console(stderr=True).print(f"The motion of {device} to {out}", soft_wrap=True)
    return OK


@app.command()
@_reporting
def doctor() -> None:
    """Devices, precision, settings and versions, for reports of problems."""
    from diffmicro.command.doctor import report

    report()


def _values(line: Any) -> dict[str, Any]:
    return dict(line) if isinstance(line, Mapping) else {}


def _words_of(line: Any) -> str:
    return " ".join(f"{key}={value}" for key, value in _values(line).items())
