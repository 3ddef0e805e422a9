"""Exit codes of the command line and of the programs beside it."""

from enum import IntEnum


class Code(IntEnum):
    """How a program ended.

    DIED: a process of a sweep died. NO_READER: whoever read the output went away (`| head -1`).
    """

    OK = 0
    DIED = 1
    BAD_INPUT = 2
    NOT_CONVERGED = 3
    INTERRUPTED = 130
    NO_READER = 141


OF_SEARCH = {
    "ok": Code.OK,
    "stopped": Code.OK,
    "not_converged": Code.NOT_CONVERGED,
    "interrupted": Code.INTERRUPTED,
}
"""Exit code for each way in which a search ends."""
