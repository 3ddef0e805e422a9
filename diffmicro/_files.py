"""Files that are there whole or not at all, digests of torn ones, and folders that one program writes to."""

import errno
import hashlib
import io
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

DIGEST = 32
"""Bytes of a digest (SHA-256)."""


def digest(content: bytes) -> bytes:
    """The SHA-256 digest of a content."""
    return hashlib.sha256(content).digest()


@contextmanager
def unbroken() -> Iterator[None]:
    """Ctrl-C waits for the end of the block. In the middle of a file libraries answer it with errors of their
    own (`zipfile`: a ValueError about an open handle), which nobody takes for an interruption.
    """
    before = signal.getsignal(signal.SIGINT)
    in_time = threading.current_thread() is threading.main_thread()  # no other hears signals
    if not in_time or before is None:  # None: set by another language
        yield
        return
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            signal.raise_signal(signal.SIGINT)


def packed(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays as the content of a file .npz."""
    content = io.BytesIO()
    with unbroken():
        np.savez(content, allow_pickle=False, **arrays)
    return content.getvalue()


def sealed(arrays: Mapping[str, np.ndarray], mark: bytes = b"") -> bytes:
    """Arrays as a file that begins with a digest of the mark (what they belong to) and of the rest."""
    content = packed(arrays)
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
        with unbroken():
            with partial.open("wb") as file:
                file.write(content)
                if wait:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(partial, path)
    except OSError as problem:
        partial.unlink(missing_ok=True)
        raise OSError(problem.errno, problem.strerror, str(path)) from None


class Taken(ValueError):
    """Another program is at work in the folder."""


class Claim:
    """A folder that this program alone writes to, until the claim or the program ends, however it ends.

    Where the system or the file system has no locks nothing is claimed.
    """

    def __init__(self, folder: Path):
        self._held: int | None = None
        try:
            import fcntl
        except ImportError:  # Windows
            return
        held = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(held)
            raise Taken(
                f"Another program is at work in {folder}. Wait for its end, or write elsewhere."
            ) from None
        except OSError:
            os.close(held)
            return
        self._held = held

    def release(self) -> None:
        """Let others write there."""
        if self._held is not None:
            with suppress(OSError):
                os.close(self._held)
            self._held = None

    __del__ = release


_FULL = "Make room on that disk, or write to another one."
_CLOSED = "Write to a folder that you may write to."
REMEDIES = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: "Files may not be as large here (`ulimit -f`): raise that limit, or write to another disk.",
    errno.EROFS: _CLOSED,
    errno.EACCES: _CLOSED,
    errno.EPERM: _CLOSED,
}
"""What to do, where that is known."""


def complaint_of(problem: OSError) -> str:
    """What went wrong with which file, and what to do about it."""
    text = problem.strerror or str(problem)
    where = f"{problem.filename}: " if problem.filename else ""
    return " ".join([f"{where}{text}.", *filter(None, [REMEDIES.get(problem.errno or 0)])])
