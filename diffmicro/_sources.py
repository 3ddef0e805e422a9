"""Digests of source code: what a number depends on as much as on its words."""

import hashlib
import inspect
from functools import cache
from pathlib import Path

SHOWN = 16
"""Digits of a digest: messages show them."""


@cache
def sources() -> str:
    """Of this package."""
    return _digest(sorted(Path(__file__).parent.rglob("*.py")))


@cache
def source_of(*parts: object) -> str:
    """Of the files in which classes and functions stand, read once; empty for those of this package, which
    `sources` covers."""
    files = sorted({Path(place) for part in parts if (place := _place(part))})
    return _digest([file for file in files if Path(__file__).parent not in file.parents])


def _place(part: object) -> str | None:
    """The file that a class or function stands in; None where there is none, as in an interpreter."""
    try:
        return inspect.getsourcefile(inspect.unwrap(part))  # type: ignore[arg-type]
    except (TypeError, OSError):
        return None


def _digest(files: list[Path]) -> str:
    total, root = hashlib.sha256(), Path(__file__).parent
    for file in files:
        name = file.relative_to(root) if root in file.parents else file.name
        total.update(f"{name}".encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()[:SHOWN] if files else ""
