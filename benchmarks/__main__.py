"""`python -m benchmarks [NAME ...]`: tables of ratios, each from one run, on one core.

Absolute times differ between machines and with what else runs on them; ratios of things timed in
turn within one run do not, or less. The process keeps to one core, so XLA and C have the same.
"""

import argparse
import os
import sys
from importlib import import_module
from inspect import signature

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
)


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
    parser.add_argument(
        "--count", type=int, help="draws, of benchmarks that draw: planted_faults, truth"
    )
    given = parser.parse_args(arguments)
    asked = given.names or NAMES
    for name in asked:
        if name not in NAMES:
            print(f"benchmarks: there is no {name!r}, only {', '.join(NAMES)}.", file=sys.stderr)
            return 2
    keep_to_one_core()
    import diffmicro

    diffmicro.configure(double=True)
    for name in asked:
        print(f"\n## {name}\n")
        run = import_module(f"benchmarks.{name}").run
        counted = given.count is not None and "count" in signature(run).parameters
        for line in run(count=given.count) if counted else run():
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
