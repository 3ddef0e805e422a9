"""`python -m optimize STUDY [--json] [--out DIR] [--seed N] [--resume]`; `list` names the studies.

`flagship` runs the mission's four and prints one table; `--compare [STUDY ...]` compares with CMA-ES.
"""

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console

from diffmicro import configure
from diffmicro._programs import keep_programs
from diffmicro.command.codes import OF_SEARCH, Code
from diffmicro.command.surrounding import surroundings_of, surroundings_text
from diffmicro.design import run_study, summary
from diffmicro.design.run import FolderRefused
from diffmicro.design.shown import in_units
from optimize import COMPARED, PROGRAMS, STUDIES

WIDTH = 140
"""Columns of a table that goes to no terminal."""


def main(arguments: list[str] | None = None) -> int:
    """Run one study; 0: a better design was found, 2: bad input, 3: none, 130: interrupted."""
    parser = argparse.ArgumentParser(prog="python -m optimize", description=__doc__)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="list, flagship, or a study")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--out",
        type=Path,
        help="folder of the run; default runs/<study>, or the next free runs/<study>-2 ...",
    )
    parser.add_argument("--seed", type=int, default=0, help="of random starts and designs")
    parser.add_argument("--resume", action="store_true", help="go on with the run in the folder")
    parser.add_argument("--compare", action="store_true", help="compare studies with CMA-ES")
    options = parser.parse_args(arguments)
    known = COMPARED if options.compare else ("list", *PROGRAMS, *STUDIES)
    for name in options.studies:
        if name not in known:
            parser.error(f"{name!r} is not one of {', '.join(known)}.")
    if options.seed < 0:
        parser.error(f"--seed {options.seed}: it has to be at least 0.")
    if options.compare:
        return _compare(options.studies or COMPARED, options.seed)
    if len(options.studies) != 1:
        parser.error(f"give one study; choose from {', '.join(known)}.")
    (name,) = options.studies
    if name == "list":
        print("\n".join((*STUDIES, *PROGRAMS)))
        return Code.OK
    if options.resume and name in PROGRAMS:
        parser.error(f"--resume: {name} is more than one search; run it anew.")
    configure(double=True)
    keep_programs()
    out = options.out or _folder(name, options.resume)
    module = import_module(f"optimize.{name}")
    try:
        if name in PROGRAMS:
            found = module.run(seed=options.seed, out=out)
            shown = module.summary(found)
        else:
            found = run_study(
                module.STUDY, options.seed, out, resume=options.resume, around=surroundings_of
            )
            around = found.get("surroundings")
            lines = surroundings_text(around) if around else []
            problem = module.STUDY.problem()
            shown = "\n".join(
                [summary(module.STUDY, found), *(in_units(problem, line) for line in lines)]
            )
    except FolderRefused as complaint:
        parser.error(str(complaint))
    if options.json:
        print(json.dumps(found, allow_nan=False))
    else:
        # A file or a pipe has no width of its own.
        width = None if sys.stdout.isatty() else WIDTH
        Console(highlight=False, markup=False, width=width).print(shown)
    return OF_SEARCH[found["status"]]


def _folder(name: str, resume: bool) -> Path:
    """The first of runs/<name>, runs/<name>-2, ... in which nothing is; to resume, the last in use."""
    free = runs = Path("runs") / name
    last, number = runs, 1
    while free.is_dir() and any(free.iterdir()):
        last, number = free, number + 1
        free = runs.with_name(f"{name}-{number}")
    return last if resume else free


def _compare(names: list[str] | tuple[str, ...], seed: int) -> int:
    from optimize.compare import compare, table

    configure(double=True)
    keep_programs()
    rows = []
    for name in names:
        module = import_module(f"optimize.{name}")
        study = getattr(module, "STUDY", None)
        rows.append(module.compare(seed) if study is None else compare(study, seed))
        print(f"compared {name}", file=sys.stderr, flush=True)
    print(table(rows))
    return Code.OK


if __name__ == "__main__":
    sys.exit(main())
