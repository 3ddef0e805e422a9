"""`python -m experiments list | all | NAME ... [--out DIR] [--record]`: run, compare, draw, keep the score.

Each experiment writes NAME.json and NAME.png to DIR (default runs/experiments), and scoreboard.md
is made anew from all the records there. --record also writes what was found into the table of expected
verdicts, into docs/sources.md and docs/gallery.md. Exit code 0 also when a statement is contradicted: that is a
result. 2: unknown name.
"""

import argparse
import difflib
import json
import sys
import time
from pathlib import Path

import diffmicro
from diffmicro._programs import keep_programs
from diffmicro.command.codes import Code
from experiments import gallery, known_experiments
from experiments.outcome import write
from experiments.progress import shown
from experiments.scoreboard import expected, kept, remember, scoreboard, sentence

OUT = Path("runs/experiments")


def main(arguments: list[str] | None = None) -> int:
    """Run what the words ask for; the exit code is returned."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="+", metavar="list | all | NAME")
    parser.add_argument("--out", type=Path, default=OUT, help=f"folder to write to ({OUT})")
    parser.add_argument("--record", action="store_true", help="make what is found the expected")
    asked = parser.parse_args(arguments)
    known = known_experiments()
    if asked.names == ["list"]:
        for name, experiment in known.items():
            print(f"{name:22} {experiment.title}")
        return Code.OK
    names = list(known) if asked.names == ["all"] else asked.names
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else "`list` shows them all."
            print(f"experiments: there is no {name!r}. {hint}", file=sys.stderr)
            return Code.BAD_INPUT

    diffmicro.configure(double=True)
    keep_programs()
    for name in names:
        began = time.perf_counter()
        with shown(name):
            found = known[name].run()
        record = write(name, known[name], found, asked.out)
        seconds = time.perf_counter() - began
        print(f"{name:22} {record['verdict']:14} {seconds:5.1f} s  {record['reason']}", flush=True)
    files = [asked.out / f"{name}.json" for name in known]
    records = [json.loads(file.read_text()) for file in files if file.exists()]
    (asked.out / "scoreboard.md").write_text(scoreboard(records))
    if asked.record:
        remember([r for r in records if r["experiment"] in names], list(known))
        gallery.PAGE.write_text(gallery.gallery(expected()))
    print(sentence({r["experiment"]: kept(r) for r in records}))
    print(f"Records, figures and scoreboard.md are in {asked.out}.")
    return Code.OK


if __name__ == "__main__":
    sys.exit(main())
