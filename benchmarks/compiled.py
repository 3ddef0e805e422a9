"""C of the folder `c`, compiled on this machine and called by ctypes."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

SOURCES = Path(__file__).parent / "c"
FLAGS = ("-O3", "-march=native")


def compiled(
    name: str, flags: Sequence[str] = FLAGS, libraries: Sequence[str] = ("-lm",)
) -> ctypes.CDLL:
    """The shared library of `c/<name>.c`."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise RuntimeError("benchmarks need a C compiler to compare with: install gcc.")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"{name}.so"
        source = str(SOURCES / f"{name}.c")
        shared = ("-shared", "-fPIC", source, "-o", str(target))
        subprocess.run([compiler, *flags, *shared, *libraries], check=True)
        return ctypes.CDLL(str(target))
