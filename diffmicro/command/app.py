"""The subcommands and their options; the work is done in the modules beside this one."""

import gc
import sys
from collections.abc import Sequence
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from diffmicro.command.codes import Code
from diffmicro.command.designing import COMMANDS
from diffmicro.command.examples import epilog, tries
from diffmicro.command.options import (
    Cluster,
    Device,
    Figure,
    Grad,
    Method,
    Names,
    Of,
    Points,
    Precision,
    Rules,
    Steps,
    TableFile,
    Words,
    Workers,
    given_words,
    note_cautions,
    reporting,
    start_program,
    words_of,
)

COLLECT_AFTER = 200_000
"""Objects made between two collections of garbage."""

app = typer.Typer(
    name="diffmicro",
    help="Differentiable simulator for microrobots. Begin with: diffmicro list, diffmicro show wrmma.",
    no_args_is_help=True,
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
    return Code.OK


@app.callback(invoke_without_command=True)
def _program(
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
) -> None:
    if version:
        print(f"diffmicro {metadata.version('diffmicro')}")
        raise typer.Exit()


@app.command("list")
@reporting
def list_devices() -> None:
    """List the devices."""
    from diffmicro.command.output import console, devices_table

    console().print(devices_table())


@app.command(epilog=epilog("show"))
@reporting
def show(device: Device) -> None:
    """Show the parameters and responses of a device, with units and allowed ranges, and commands to try."""
    from diffmicro.command import output, words

    module = words.device(device)
    page = output.console()
    for kind in (module.Design, module.Setting, module.Layout):
        if kind is not None:
            page.print(output.parameters_table(kind, kind.__name__))
            page.print()
    page.print(output.responses_table(module))
    for line in (*output.alias_lines(module), *output.drawing_lines(module, device)):
        page.print()
        page.print(line, soft_wrap=True)
    page.print("\nTry this")
    for line in tries(module, device):
        page.print(f"  {line}", soft_wrap=True)


@app.command(epilog=epilog("evaluate"))
@reporting
def evaluate(
    device: Device,
    pairs: Words = None,
    method: Method = None,
    steps: Steps = None,
    response: Names = None,
    grad: Grad = None,
    of: Of = None,
    precision: Precision = 64,
    points: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="One point a line: {key: value, ...}.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object for each point.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png",
            help="With --grad elasticities with verdicts, else the motion (.png, .pdf, .svg).",
        ),
    ] = None,
) -> int:
    """Calculate responses at one point or at many, and their gradients with verdicts."""
    from diffmicro.command import evaluation, files, output, picturing, words
    from diffmicro.results import FAILURES

    start_program(precision)
    module = words.device(device)
    given = given_words(pairs, method, steps)
    known = words.responses(module)
    request = evaluation.Request(
        module,
        words.names(response, known, "response") or words.usual(module),
        *words.derivatives(grad, of, module),
    )
    page = output.console()
    picturing.check(plot, points)
    if points is None:
        answer = evaluation.answer_point(request, given)
        point = words.point(module, given)
        note_cautions(module, point)
        if json:
            print(output.json_line(answer))
        else:
            for part in output.answer_tables(request, answer, words.numbers(module, point)):
                page.print(part)
        if plot is not None:
            picturing.draw(request, answer, given, plot)
        if answer.status in FAILURES:
            return Code.NOT_CONVERGED
        return Code.BAD_INPUT if answer.status in ("invalid_input", "out_of_range") else Code.OK
    lines = [
        line if isinstance(line, words.BadInput) else given | dict(line)
        for line in files.file_points(points)
    ]
    with closing(evaluation.answer_points(request, lines)) as answers:
        for number, answer in enumerate(answers, 1):
            if json:
                print(output.json_line(answer), flush=True)
                continue
            page.print(f"\npoint {number}: {words_of(lines[number - 1])}")
            at = evaluation.numbers_at(request, lines[number - 1])
            for part in output.answer_tables(request, answer, at):
                page.print(part)
            sys.stdout.flush()
    return Code.OK


@app.command(epilog=epilog("sweep"))
@reporting
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
    workers: Workers = 1,
    cluster: Cluster = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the sweep that did not end.")
    ] = False,
    random: Annotated[
        int | None, typer.Option(min=1, help="No grid: so many points from key=low:high, key=a,b.")
    ] = None,
    sobol: Annotated[
        int | None, typer.Option(min=1, help="The same, filling the box more evenly.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of --random and --sobol.")] = 0,
    grad: Grad = None,
    of: Of = None,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Only the I-th of N parts; see merge.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Points, memory and time, from a few points; keep nothing."),
    ] = False,
    data: Points = None,
) -> int:
    """Calculate responses on a grid of parameters, or at points drawn from a box."""
    from diffmicro.command.sweeping import Options, draw_of, run_sweep, shard_of

    start_program(precision)
    draw, part = draw_of(random, sobol, seed), shard_of(shard)
    options = Options(
        out, carry, plot, response, workers, resume, draw, part, dry_run, data, grad, of, cluster
    )
    return run_sweep(device, given_words(pairs, method, steps), options)


@app.command(epilog=epilog("merge"))
@reporting
def merge(
    files: Annotated[list[Path], typer.Argument(help="What sweep --shard wrote, all parts.")],
    out: TableFile,
    plot: Figure = None,
) -> int:
    """Join the parts of a sweep to one table, the same as from one program."""
    from diffmicro.command.merging import run_merge

    return run_merge(files, out, plot)


for _name, _command in COMMANDS.items():
    app.command(_name, epilog=epilog(_name))(reporting(_command))


@app.command(epilog=epilog("draw"))
@reporting
def draw(
    subject: Annotated[
        str, typer.Argument(metavar="DEVICE|RUN", help="Or an optimization's folder.")
    ],
    out: Annotated[
        Path, typer.Option(help="Where to write: a file .gds, .dxf, .stl, .svg, .png or .pdf.")
    ],
    pairs: Words = None,
    tolerance: Annotated[
        str | None,
        typer.Option(metavar="1nm", help="Distance of polygons from arcs, for .gds and .stl."),
    ] = None,
    grid: Annotated[
        str | None, typer.Option(metavar="0.1nm", help="Grid of the coordinates in .gds.")
    ] = None,
    rules: Rules = None,
) -> int:
    """Draw the device: a mask, polylines with true arcs, a solid, or a picture with its dimensions.

    It shows the part as it comes out; with --rules what has to be drawn, so that the etch leaves that part.
    """
    from diffmicro.command.drawing import run_draw

    start_program(64)
    return run_draw(subject, pairs or [], out, tolerance, grid, rules)


@app.command(epilog=epilog("animate"))
@reporting
def animate(
    subject: Annotated[
        str, typer.Argument(metavar="DEVICE|RUN", help="Or an optimization's folder.")
    ],
    out: Annotated[
        Path, typer.Option(help="A file .gif, .mp4, .html (a page with a slider) or .png.")
    ],
    pairs: Words = None,
    frames: Annotated[int, typer.Option(min=2, max=2000, help="Number of frames.")] = 80,
) -> int:
    """Show the device in motion: GIF, MP4, HTML with a slider, or a strip of frames as PNG."""
    from diffmicro.command.animating import run_animate

    start_program(64)
    return run_animate(subject, pairs or [], out, frames)


@app.command(epilog=epilog("explore"))
@reporting
def explore(
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DEVICE... key=value",
            help="Devices to switch between, all if none is named; values to begin with, of the first.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="Of the page's address; 0 for any free one.")] = 8473,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> int:
    """Open a page on this machine: sliders for all parameters, curve, motion, gradient with its verdicts."""
    from diffmicro.command.exploring import run_explore

    start_program(64)
    return run_explore(given or [], port, browser)


@app.command(epilog=epilog("doctor"))
@reporting
def doctor(
    devices: Annotated[
        list[str] | None, typer.Argument(help="With --target: these devices instead of all.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Compile for this GPU: a100, h100 or l4. Needs none.")
    ] = None,
    lanes: Annotated[int, typer.Option(help="With --target: designs in the batch.", min=1)] = 1024,
    precision: Precision = 64,
) -> None:
    """Print versions and settings, for reports of problems; or compile for a GPU that need not be there."""
    from diffmicro.command import gpu, words
    from diffmicro.gpu.targets import TARGETS

    if target is None and devices:
        raise words.BadInput(f"What of {', '.join(devices)}? Add --target a100, h100 or l4.")
    if target is None:
        from diffmicro.command.doctor import report

        report()
    elif target not in TARGETS:
        raise words.BadInput(
            f"--target {target} is not known; it has to be one of {', '.join(TARGETS)}."
        )
    else:
        gpu.report(target, devices or (), lanes, precision == 64)
