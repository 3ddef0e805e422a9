"""`python -m benchmarks [NAME ...]`: tables of ratios, each from one run, on one core.

Absolute times differ between machines and with what else runs on them; ratios of things timed in
turn within one run do not, or less. The process keeps to one core, so XLA and C have the same.

Beside each table a JSON file is written, and a line to the history, see `record`. Exit code 1: a
ratio misses what has to hold; 2: unknown name. What is worse than in earlier runs is said.
"""

import argparse
import os
import sys
import time
from datetime import UTC, datetime
from importlib import import_module
from inspect import signature
from pathlib import Path

from benchmarks import record

NAMES = (
    "moreau_sweep",
    "event_gradient",
    "hybrid_peers",
    "gripper",
    "stickslip",
    "tumbler",
    "tumbler_mujoco",
    "legs",
    "pareto",
    "optimizers",
    "imports",
    "planted_faults",
    "truth",
    "yields",
    "scaling",
    "costs",
)

OUT = Path("runs/benchmarks")


def keep_to_one_core() -> None:
    """From here on, for this process and what it starts; where that is impossible, say so."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    else:
        print("benchmarks: cannot keep to one core on this system; ratios favor JAX.")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks named, or all; the exit code is returned."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=" | ".join(NAMES))
    parser.add_argument("--out", type=Path, default=OUT, help=f"folder of the records ({OUT})")
    parser.add_argument(
        "--history", type=Path, default=record.usual_history(), help="file of all runs"
    )
    parser.add_argument(
        "--count", type=int, help="draws, of benchmarks that draw: planted_faults, truth"
    )
    options = parser.parse_args(arguments)
    asked = options.names or NAMES
    for name in asked:
        if name not in NAMES:
            print(f"benchmarks: there is no {name!r}, only {', '.join(NAMES)}.", file=sys.stderr)
            return 2
    keep_to_one_core()
    import diffmicro

    diffmicro.configure(double=True)
    missed, slower = [], []
    for name in asked:
        print(f"\n## {name}\n")
        start, began, lines = (
            time.perf_counter(),
            datetime.now(UTC).isoformat(timespec="seconds"),
            [],
        )
        run = import_module(f"benchmarks.{name}").run
        counted = options.count is not None and "count" in signature(run).parameters
        for line in run(count=options.count) if counted else run():
            print(line, flush=True)
            lines.append(line)
        found = record.record_of(name, lines, time.perf_counter() - start, began)
        missed += record.misses(found)
        slower += record.slowdowns(found, record.read_history(options.history))
        record.keep(found, options.out, options.history)
    for title, texts in (("Missed", missed), ("Slower than before", slower)):
        for text in texts:
            print(f"{title}: {text}.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
