"""The words --workers and --cluster: who calculates beside this process."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from diffmicro._extras import MissingPackage
from diffmicro.command.codes import Code
from diffmicro.command.output import note
from diffmicro.command.words import BadInput
from diffmicro.sweep.cluster import Processes, WorkerDied, check_installed, processes

ALONE = (1, None)
"""No --workers, no --cluster."""


def checked(workers: int, cluster: str | None) -> tuple[int, str | None]:
    """Processes of this machine, and the address of others; a note where there are fewer than wanted."""
    if workers < 1:
        raise BadInput(f"--workers {workers} is not allowed; it has to be at least 1.")
    if cluster is not None:
        if workers > 1:
            raise BadInput("--workers starts processes here, --cluster takes others; give one.")
        try:
            check_installed("--cluster")
        except MissingPackage as missing:
            raise BadInput(str(missing)) from None
    elif workers > 1:
        try:
            check_installed(f"--workers {workers}")
        except MissingPackage as missing:
            note(f"{missing} One process calculates all.")
            return 1, None
        most = processors()
        if workers > most:
            note(f"{workers} processes share {most} processors; more than {most} are not faster.")
    return workers, cluster


@contextmanager
def sharing(workers: int, cluster: str | None) -> Iterator[Processes | None]:
    """The processes of these words, None where this one calculates all.

    A complaint about what is calculated inside is `BadInput`; where processes end, the command does.
    """
    try:
        with processes(*checked(workers, cluster)) as found:
            yield found
    except ValueError as complaint:
        raise BadInput(str(complaint)) from None
    except WorkerDied as death:
        note(f"diffmicro: {death}")
        raise typer.Exit(Code.DIED) from None


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
