"""`python -m tests.faults [JOB ...] --count 50`: see `tests.faults.stopped`. 1 if one left what it should not."""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.faults.stopped import JOBS, Broken, stops


def main() -> int:
    """A line a job: how it was stopped how often, or what went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("jobs", nargs="*", default=list(JOBS), metavar="JOB", help=" | ".join(JOBS))
    parser.add_argument("--count", type=int, default=4, help="stops a job")
    parser.add_argument("--seed", type=int, default=1)
    given, failed = parser.parse_args(), False
    for name in given.jobs:
        if name not in JOBS:
            parser.error(f"there is no job {name!r}, only {', '.join(JOBS)}")
        done: Counter[str] = Counter()
        try:
            with tempfile.TemporaryDirectory() as folder:
                for how in stops(name, given.count, given.seed, Path(folder)):
                    done[how] += 1
            said = "the same bytes"
        except Broken as found:
            failed, said = True, f"BROKEN: {found}"
        ways = ", ".join(f"{how} {count}" for how, count in sorted(done.items()))
        print(f"{name}: {ways or 'not stopped'}; {said}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
