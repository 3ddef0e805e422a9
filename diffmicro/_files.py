"""Files that are there whole or not at all, and digests that tell a torn one."""

import errno
import hashlib
import io
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

DIGEST = 32
"""Bytes of a digest (SHA-256)."""


def digest(content: bytes) -> bytes:
    """The SHA-256 digest of a content."""
    return hashlib.sha256(content).digest()


def sealed(arrays: Mapping[str, np.ndarray], mark: bytes = b"") -> bytes:
    """Arrays as a file that begins with a digest of the mark (what they belong to) and of the rest."""
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    content = packed.getvalue()
    return digest(mark + content) + content


def unsealed(file: bytes, mark: bytes = b"") -> dict[str, np.ndarray] | None:
    """The arrays of such a file; None where it is torn, or belongs to something else."""
    if file[:DIGEST] != digest(mark + file[DIGEST:]):
        return None
    with np.load(io.BytesIO(file[DIGEST:]), allow_pickle=False) as arrays:
        return dict(arrays)


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


def complaint_of(problem: OSError) -> str:
    """What went wrong with which file, and what to do where the disk is full."""
    text = problem.strerror or str(problem)
    where = f"{problem.filename}: " if problem.filename else ""
    full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
    return f"{where}{text}.{' Make room on that disk, or write to another one.' if full else ''}"
