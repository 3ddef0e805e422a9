"""Packages of the extra `fab`, imported when they are needed."""

from typing import Any

from diffmicro import _extras


def package(name: str, what: str) -> Any:
    """The package; ValueError that says how to get it where it is not installed."""
    return _extras.package(name, what, "fab", "PNG and SVG do not.")
