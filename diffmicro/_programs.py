"""Compiled programs on disk: what a process compiled, the next one loads.

`keep_programs()` is called by the command line, the studies and the experiments, never on import. Programs are in
the user's cache folder; the environment variable `DIFFMICRO_CACHE` names another one, or says `off`. Where
`JAX_COMPILATION_CACHE_DIR` is set, JAX's own cache is left as it is.

JAX makes the key: a hash of the program, of the versions of jaxlib and of the backend, of `XLA_FLAGS` and of the
compiler's options (precision is in the program). Added here: the processor's features, as folders may be shared
between machines, and a program compiled for one may not run on another. A changed key finds nothing, so nothing is
ever stale.

JAX's own files are not used, because its limit of size needs another package, stops working after a process was
killed at the wrong moment, and a torn file stays. Here a file begins with a digest, comes by renaming and is
removed when it is torn; the longest unused go first. No lock is needed: any process may remove any file.

Left out: sharing between users. Loaded programs are run, so the folder must belong to the user alone.
"""

import os
import platform
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from diffmicro._files import DIGEST, complaint_of, digest

VARIABLE = "DIFFMICRO_CACHE"
OFF = ("off", "0", "no", "none", "false")
LIMIT = 512 * 1024**2
"""Bytes of all programs together; one takes 5 kB to 3 MB."""
ROOM = 0.9
"""Share of the limit that is left in use once it is passed, so that not every program makes room anew."""
UNLOOKED = 0.1
"""Share of the free bytes that a process writes without looking what others wrote."""
PARTIAL_AGE = 600
"""Seconds after which a file that has not got its name was left by a process that ended."""
PRIVATE = 0o700
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class State(NamedTuple):
    """Where programs are kept, or why they are not.

    Attributes:
        folder: None when nothing is kept.
        reason: why nothing is kept.
        meant: whether it was chosen so; False: something does not work.
    """

    folder: Path | None
    reason: str = ""
    meant: bool = True


class Programs:
    """What JAX needs of a cache: `get` and `put` of bytes. What fails is a program to compile, no failure."""

    def __init__(self, folder: Path, limit: int = LIMIT, complain: Callable[[str], None] = print):
        self._path = folder  # the name that JAX's messages use
        self._limit = limit
        self._machine = features()
        self._complain = complain
        self._unlooked = (
            0  # bytes that may still be written before the folder is looked through again
        )
        self._aside = False
        self.found = 0

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """Nothing is found meanwhile: XLA cannot write whole what it has loaded itself."""
        self._aside = True
        try:
            yield
        finally:
            self._aside = False

    def get(self, key: str) -> bytes | None:
        """The program of this key, or None."""
        if self._aside:
            return None
        file = self._file(key)
        try:
            content = file.read_bytes()
        except OSError:
            return None
        whole = content[:DIGEST] == digest(content[DIGEST:])
        with suppress(OSError):  # another process removed it, or the folder may only be read
            os.utime(file) if whole else file.unlink()
        self.found += whole
        return content[DIGEST:] if whole else None

    def put(self, key: str, value: bytes) -> None:
        """Keep a program, in the place of one that could not be loaded; nothing if it is empty."""
        if not 0 < len(value) <= self._limit:
            return
        file = self._file(key)
        partial = file.with_name(f"{file.name}.{os.getpid()}-{threading.get_ident()}")
        try:
            self._make_room(len(value))
            partial.write_bytes(digest(value) + value)
            os.replace(partial, file)
        except OSError as problem:
            self._say_once(problem)
            with suppress(OSError):
                partial.unlink()

    def _file(self, key: str) -> Path:
        return self._path / digest(f"{self._machine} {key}".encode()).hex()

    def _make_room(self, size: int) -> None:
        """Remove the longest unused, until a new file fits. Another process may do the same meanwhile.

        Looking through thousands of files takes longer than writing one, so it is done anew after a share of the
        free bytes: a few processes together pass the limit by little.
        """
        self._unlooked -= size
        if self._unlooked >= 0:
            return
        files = sorted(used(self._path))
        total = size + sum(taken for _, taken, _ in files)
        self._unlooked = int(UNLOOKED * (self._limit - total))
        if total <= self._limit:
            return
        recent = time.time() - PARTIAL_AGE
        for last, taken, file in files:
            if "." in Path(file).name and last > recent:  # about to be renamed
                continue
            Path(file).unlink(missing_ok=True)
            total -= taken
            if total <= ROOM * self._limit:
                return

    def _say_once(self, problem: OSError) -> None:
        self._complain(f"compiled programs are not kept: {complaint_of(problem)}")
        self._complain = lambda _: None


def used(folder: Path) -> list[tuple[float, int, str]]:
    """Of each file when it was last used, its bytes and its name."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                about = entry.stat()
            except FileNotFoundError:  # another process removed it
                continue
            found.append((about.st_mtime, about.st_size, entry.path))
    return found


def state() -> State:
    """Where this process would keep programs. The folder is made if it can be."""
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return State(None, "left to JAX by JAX_COMPILATION_CACHE_DIR")
    said = os.environ.get(VARIABLE, "")
    if said.lower() in OFF:
        return State(None, f"switched off by {VARIABLE}={said}")
    try:
        folder = Path(said).expanduser() if said else usual_folder()
        folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        probe = folder / f"probe.{os.getpid()}-{threading.get_ident()}"
        probe.write_bytes(b"")
        probe.unlink()
        about = folder.stat()
    except (OSError, RuntimeError) as problem:
        text = complaint_of(problem) if isinstance(problem, OSError) else f"{problem}"
        return State(None, f"{text} Name another folder in {VARIABLE}, or set it to off.", False)
    if os.name == "posix" and about.st_uid != os.getuid():
        return State(None, f"{folder} belongs to another user, who could change programs.", False)
    if os.name == "posix" and about.st_mode & WRITABLE_BY_OTHERS:
        return State(None, f"others may write to {folder}: chmod go-w it.", False)
    return State(folder)


def keep_programs() -> State:
    """From here on this process keeps what it compiles and loads what is kept; a failure is a line of text."""
    found = state()
    if found.folder is not None:
        try:
            install(Programs(found.folder, complain=_say))
        except (ImportError, AttributeError) as problem:
            found = State(None, f"this version of JAX has another interface ({problem})", False)
    if not found.meant:
        _say(f"compiled programs are not kept: {found.reason}")
    return found


_INSTALLED: list[Programs] = []


def in_use() -> Programs | None:
    """The cache of this process, if it keeps programs."""
    return _INSTALLED[0] if _INSTALLED else None


def install(programs: Programs | None) -> None:
    """Give JAX this cache; None: the one that its own settings say."""
    from jax import config
    from jax._src import compilation_cache

    compilation_cache.reset_cache()
    _INSTALLED[:] = [] if programs is None else [programs]
    if programs is not None:
        compilation_cache._cache = programs  # pyright: ignore[reportAttributeAccessIssue]
        # Small programs too: a start compiles dozens of a hundredth of a second each.
        config.update("jax_persistent_cache_min_compile_time_secs", 0)


def works(programs: Programs) -> bool:
    """Whether what JAX compiles is found again: the same small program, twice."""
    import jax

    for _ in range(2):
        jax.jit(lambda x: x + 1).lower(1.0).compile()
    return programs.found > 0


def usual_folder() -> Path:
    """The place for such files on this system."""
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "diffmicro" / "programs"


def features() -> str:
    """What a program compiled here may need of a processor."""
    described = [platform.machine(), platform.processor()]
    with suppress(OSError), open("/proc/cpuinfo") as lines:
        for line in takewhile(str.strip, lines):  # the first processor's
            if line.startswith(("vendor_id", "model name", "flags", "Features")):
                described.append(line.strip())
    return " ".join(described)


def _say(text: str) -> None:
    print(f"diffmicro: {text}", file=sys.stderr)
