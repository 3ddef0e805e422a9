"""`python -m optimize <study> [--json] [--out DIR] [--seed N]`; `list` names the studies."""

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

from diffmicro import configure
from diffmicro.design import run_study, summary
from optimize import STUDIES


def main(arguments: list[str] | None = None) -> int:
    """Run one study; 0: a feasible design was found, 2: bad input, 3: none was found."""
    parser = argparse.ArgumentParser(prog="python -m optimize", description=__doc__)
    parser.add_argument("study", choices=("list", *STUDIES))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--out", type=Path, help="folder of the figure; default runs/<study>")
    parser.add_argument("--seed", type=int, default=0, help="of random starts and designs")
    options = parser.parse_args(arguments)
    if options.study == "list":
        print("\n".join(STUDIES))
        return 0
    if options.seed < 0:
        parser.error(f"--seed {options.seed}: it has to be at least 0.")
    configure(double=True)
    study = import_module(f"optimize.{options.study}").STUDY
    out = options.out or Path("runs") / options.study
    found = run_study(study, seed=options.seed, out=out)
    print(json.dumps(found, allow_nan=False) if options.json else summary(study, found))
    return {"ok": 0, "interrupted": 130}.get(found["status"], 3)


if __name__ == "__main__":
    sys.exit(main())
