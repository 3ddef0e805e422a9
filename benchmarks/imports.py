"""What starting costs: importing the library, and one cold evaluation from the command line."""

import subprocess
import sys
import time

from benchmarks.timing import in_turn, table


def _python(*words: str) -> None:
    subprocess.run([sys.executable, *words], check=True, capture_output=True)


def run() -> list[str]:
    """Lines of the table."""
    basis = "import jax, equinox, optax"
    evaluate = "diffmicro evaluate wrmma --grad mass_ratio"
    seconds = in_turn(
        {
            basis: lambda: _python("-c", basis),
            "import diffmicro": lambda: _python("-c", "import diffmicro"),
            evaluate: lambda: _python("-m", *evaluate.split()),
        },
        rounds=3,
        clock=time.perf_counter,
    )
    goals = {"import diffmicro": "at most 1.6", evaluate: "at most 8"}
    rows = [
        [name, f"{s:.2f}", f"{s / seconds[basis]:.2f}", goals.get(name, "")]
        for name, s in seconds.items()
    ]
    return table(["program", "seconds", "times the first", "goal"], rows)
