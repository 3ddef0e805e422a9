"""Files that are there whole or not at all."""

import errno
import os
from pathlib import Path


def replace(path: Path, content: bytes, wait: bool = True) -> None:
    """Write a file under another name and rename it; `wait`: so that it survives a power cut too.

    An OSError names the file, whichever step failed, and nothing is left behind.
    """
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            if wait:
                file.flush()
                os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as problem:
        partial.unlink(missing_ok=True)
        raise OSError(problem.errno, problem.strerror, str(path)) from None


def told(problem: OSError) -> str:
    """What went wrong with which file, and what to do where the disk is full."""
    text = problem.strerror or str(problem)
    where = f"{problem.filename}: " if problem.filename else ""
    full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
    return f"{where}{text}.{' Make room on that disk, or write to another one.' if full else ''}"
