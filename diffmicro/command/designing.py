"""The subcommands about designs: branches, boundaries, maps, searches, yields, reports, identification."""

from pathlib import Path
from typing import Annotated

import typer

from diffmicro._json import Json
from diffmicro.command.options import (
    Cluster,
    Common,
    Device,
    Figure,
    Good,
    Method,
    Points,
    Robust,
    Rules,
    Scatter,
    Steps,
    TableFile,
    Words,
    Workers,
    given_words,
    start_program,
)


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
    data: Points = None,
) -> int:
    """Follow periodic motions along one parameter and around folds, stable and unstable ones."""
    from diffmicro.command.branching import run_branches

    start_program(64)
    given = given_words(pairs, method, steps)
    return run_branches(device, given, out, plot, seeds, data)


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
    """Find the nearest places along a parameter where the device stops doing what it does; what moves them."""
    from diffmicro.command.limits import run_boundaries

    start_program(64)
    given = given_words(pairs, None, steps)
    return run_boundaries(device, given, along, grad, starts, json, plot)


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
    data: Points = None,
) -> int:
    """Map which motions a device has in the plane of two parameters, and where they end."""
    from diffmicro.command.mapping import run_map

    start_program(64)
    given = given_words(pairs, None, steps)
    return run_map(device, given, out, plot, rows, starts, data)


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
    robust: Robust = None,
    measure: Annotated[
        str, typer.Option(help="What --robust looks at: mean, quantile (the worst 10 %), worst.")
    ] = "mean",
    rules: Rules = None,
    good: Good = None,
    scatter: Scatter = None,
    common: Common = None,
    method: Annotated[
        str,
        typer.Option(
            help="auto, sqp, slsqp, optax (no constraints), climb, or cma (without gradients)."
        ),
    ] = "auto",
    budget: Annotated[int, typer.Option(min=10, help="Evaluations to spend.")] = 148,
    lanes: Annotated[int | None, typer.Option(min=1, help="Starts of the search.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the random part of the search.")] = 0,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="New folder for the run.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run that is in --out.")] = False,
    workers: Workers = 1,
    cluster: Cluster = None,
    surroundings: Annotated[
        bool, typer.Option(help="Look at ends and tolerances around the optimum.")
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="The result as one JSON object.")] = False,
    plot: Figure = None,
) -> int:
    """Find the best design within bounds and constraints, by gradients.

    It ends ok: an optimum; stopped: better than the start, but no optimum (why is said); not_converged: nothing
    feasible or better (exit code 3). With --yield it ends so only where parts that decided about nothing confirm
    the share, by the lower end of its interval at 95 %. Without --scatter and --common the device's own process is
    taken.
    """
    from diffmicro.command.optimizing import run_optimize
    from diffmicro.command.yielding import Fabrication

    start_program(64)
    goals = {"maximize": maximize, "minimize": minimize}
    options: dict[str, Json] = {"budget": budget, "seed": seed, "method": method, "resume": resume}
    if lanes is not None:
        options["lanes"] = lanes
    return run_optimize(
        device,
        pairs or [],
        goals,
        free or [],
        subject or [],
        (robust or [], measure),
        out,
        json,
        options,
        surroundings,
        rules,
        Fabrication(good, scatter or [], common or []),
        plot,
        (workers, cluster),
    )


def basins(
    device: Device,
    pairs: Words = None,
    box: Annotated[
        list[str] | None,
        typer.Option(metavar="state=low:high", help="Ends for a state of the starts, in SI."),
    ] = None,
    starts: Annotated[int, typer.Option(min=10, help="How many states to start from.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the starts.")] = 0,
    workers: Workers = 1,
    cluster: Cluster = None,
    json: Annotated[bool, typer.Option("--json", help="The result as one JSON object.")] = False,
    plot: Figure = None,
) -> int:
    """Find all motions that the device settles to from a box of starts, and the kicks that lose the wanted one.

    A kick is a sudden change of one state that loses the motion which the setting's own start reaches.
    """
    from diffmicro.command.attracting import run_basins

    start_program(64)
    options: dict[str, Json] = {"starts": starts, "seed": seed}
    return run_basins(device, pairs or [], box or [], options, json, plot, (workers, cluster))


def tolerances(
    subject: Annotated[
        str, typer.Argument(metavar="DEVICE|RUN", help="Or an optimization's folder.")
    ],
    pairs: Words = None,
    scatter: Scatter = None,
    common: Common = None,
    limit: Annotated[
        list[str] | None,
        typer.Option("--subject", metavar="'velocity>8mm/s'", help="What a good part keeps."),
    ] = None,
    rules: Rules = None,
    parts: Annotated[int, typer.Option(min=20, help="Parts to calculate at most.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Of the random parts.")] = 0,
    gradients: Annotated[
        bool, typer.Option(help="Look for bad parts along the slopes of limits too.")
    ] = True,
    workers: Workers = 1,
    cluster: Cluster = None,
    json: Annotated[bool, typer.Option("--json", help="The result as one JSON object.")] = False,
    plot: Figure = None,
) -> int:
    """Estimate the share of good parts under tolerances, and what the bad ones fail by.

    A good part ends ok and keeps every limit. --rules has the scatter of the etch as a common cause of
    each layer. Without it, --scatter and --common the device's own process is taken.
    """
    from diffmicro.command.fabricating import run_tolerances

    start_program(64)
    options: dict[str, Json] = {"parts": parts, "seed": seed, "gradients": gradients}
    words = pairs or [], scatter or [], common or [], limit or []
    return run_tolerances(subject, *words, options, json, plot, rules, (workers, cluster))


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="An optimization's folder.")],
    out: Annotated[Path, typer.Option(metavar="FILE.html", help="Where to write the page.")],
) -> int:
    """Write a page about an optimization, for readers who know the device; its claims beside it as JSON."""
    from diffmicro.command.reporting import run_report

    start_program(64)
    return run_report(run, out)


def verify(
    file: Annotated[Path, typer.Argument(metavar="report.json", help="What `report` wrote.")],
    device: Annotated[
        str | None,
        typer.Option(metavar="DEVICE", help="Where the report's device is found on this machine."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> int:
    """Calculate the claims of a report again, and say which hold. Exit code 3 where one does not."""
    from diffmicro.command.reporting import run_verify

    start_program(64)
    return run_verify(file, device, json)


def identify(
    device: Device,
    data: Annotated[
        Path, typer.Argument(metavar="data.csv", help="Columns key [unit], response [unit].")
    ],
    pairs: Words = None,
    free: Annotated[
        list[str] | None, typer.Option(metavar="key=low:high", help="To be found, in this range.")
    ] = None,
    error: Annotated[
        list[str] | None,
        typer.Option(metavar="velocity=0.1mm/s", help="Standard error of all rows of a response."),
    ] = None,
    loss: Annotated[
        str, typer.Option(help="linear, or huber, soft_l1 where single points are far off.")
    ] = "linear",
    starts: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Of the search; by default as many as needed."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the starts.")] = 0,
    ignore: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Columns that do not count.")
    ] = None,
    upcoming: Annotated[
        bool,
        typer.Option("--next", help="What to measure next; key=low:high of a column says where."),
    ] = False,
    method: Method = None,
    steps: Steps = None,
    workers: Workers = 1,
    cluster: Cluster = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="New folder for it.")] = None,
    json: Annotated[bool, typer.Option("--json", help="The result as one JSON object.")] = False,
    plot: Figure = None,
) -> int:
    """Find parameters from measurements, with 95 % intervals, and what the data do not see."""
    from diffmicro.command.identifying import Options, run_identify

    start_program(64)
    numerics = {"method": method, "steps": steps}
    named = [f"{key}={value}" for key, value in numerics.items() if value is not None]
    options = Options(
        free or [], error or [], loss, starts, seed, ignore, upcoming, out, json, plot,
        (workers, cluster),
    )  # fmt: skip
    return run_identify(device, data, [*(pairs or []), *named], options)


COMMANDS = {
    "branches": branches,
    "boundaries": boundaries,
    "map": map_motions,
    "optimize": optimize,
    "basins": basins,
    "tolerances": tolerances,
    "report": report,
    "verify": verify,
    "identify": identify,
}
"""By the names that users type."""
