"""The command `diffmicro`: list, show, evaluate, sweep, branches, optimize, animate, doctor.

Exit codes: 0 ok, 1 a process of a sweep died, 2 bad input, 3 did not converge, 130 interrupted. Each
part is imported when it is used, so that `diffmicro evaluate` spends its time on JAX and one
compilation.
"""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line on `arguments` (by default the process's); returns the exit code."""
    try:
        from diffmicro.command.app import run

        return run(arguments)
    except KeyboardInterrupt:  # while JAX is imported no command is there yet to answer for itself
        from diffmicro.command.codes import Code

        print("diffmicro: interrupted.", file=sys.stderr)
        return Code.INTERRUPTED
