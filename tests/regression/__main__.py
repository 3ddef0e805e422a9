"""`python -m tests.regression [LABEL ...]`: compare with the stored numbers; `--record` stores them anew.

`--apart` calculates each case twice, by a program that LLVM optimizes and by one that it does not, and prints the
largest differences of values and of derivatives: what rounding does to them. A line of CHANGELOG.md under Numerics
goes with whatever is recorded.
"""

import argparse
import sys

import diffmicro
from tests.regression import stored
from tests.regression.points import OTHER, USUAL, answers, optimized, places, trial


def main() -> int:
    """1 where something differs from what is stored."""
    known = [*USUAL, *OTHER]
    parser = argparse.ArgumentParser(prog="python -m tests.regression", description=__doc__)
    parser.add_argument("labels", nargs="*", metavar="LABEL", help=" | ".join(known))
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--apart", action="store_true")
    given, differs = parser.parse_args(), False
    diffmicro.configure(double=True)
    for label in given.labels or known:
        if label not in known:
            parser.error(f"there is no case {label!r}, only {', '.join(known)}")
        of, kept = trial(label), stored.load()
        here = stored.as_json(answers(of, of.lanes, places(label)))
        if given.apart:
            other = stored.as_json(answers(of, optimized(of), places(label)))
            apart = stored.distances(other, here)
            worst = [
                max((v, k) for k, v in apart.items() if k.startswith("d ") == slope)
                for slope in (False, True)
            ]
            print(f"{label}: " + ", ".join(f"{k} {v:.1e}" for v, k in worst), flush=True)
        elif given.record:
            stored.save({**stored.load(), label: here})  # others may have recorded meanwhile
            print(f"{label}: {' '.join(here['status'])}", flush=True)
        else:
            told = stored.changes(label, here, kept[label]) if label in kept else ["not stored"]
            differs |= bool(told)
            print("\n".join(told) or f"{label}: as stored", flush=True)
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
