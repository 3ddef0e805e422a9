"""What starting costs: importing the library, and one evaluation with a gradient from the command line.

Cold: nothing compiled is kept. Warm: a process before has compiled the same. Times are the processor's of the
started processes, over that of the imports that nothing can do without; so a busy machine changes little.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from resource import RUSAGE_CHILDREN, getrusage

from benchmarks.timing import in_turn, once, table

BASIS = "import jax, equinox, optax"
COLD, ASKED, WARM = 8, 10, 3.5
"""Goals: cold, cold for a response on request, warm."""

COMMANDS = {
    "wrmma --grad mass_ratio": (COLD, 10, 4.5),
    "tribometer --grad drag_ratio": (COLD, None, None),
    "gripper --grad beam_radius": (COLD, 24, 5),
    "gripper --response closing_force --grad beam_radius --of closing_force": (ASKED, None, None),
    "tumbler --grad length": (COLD, 34, 7),
    "legs --grad damping": (COLD, 46, 12),
    "stickslip --grad radius": (COLD, 30, 6),
}
"""What follows `diffmicro evaluate`: the goal when cold; where goals are not reached, what holds cold and warm."""


def children() -> float:
    """Seconds that processors spent on processes that this one started and that have ended."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _python(*words: str, cache: str = "off") -> None:
    environment = {**os.environ, "DIFFMICRO_CACHE": cache}
    subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environment)


def _goal(most: float, holds: float | None) -> str:
    return f"at most {most:g}" + (f" (holds {holds:g})" if holds else "")


def run() -> list[str]:
    """Lines of the table."""
    imports: dict[str, Callable[[], object]] = {
        BASIS: lambda: _python("-c", BASIS),
        "import diffmicro": lambda: _python("-c", "import diffmicro"),
    }
    seconds = in_turn(imports, rounds=3, clock=children)
    goals = {"import diffmicro": "at most 1.6"}
    for words, (most, cold, warm) in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            for state, holds in (("cold", cold), ("warm", warm)):
                name = f"evaluate {words}, {state}"
                call = ("-m", "diffmicro", "evaluate", *words.split())
                seconds[name] = once(lambda c=call, f=folder: _python(*c, cache=f), children)
                goals[name] = _goal(most if state == "cold" else WARM, holds)
    rows = [
        [name, f"{s:.2f}", f"{s / seconds[BASIS]:.2f}", goals.get(name, "")]
        for name, s in seconds.items()
    ]
    return table(["program", "seconds", "times the first", "goal"], rows)
