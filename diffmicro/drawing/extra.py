"""Packages of the extra `fab`, imported when they are needed."""

from types import ModuleType

from diffmicro import _extras


def package(name: str, what: str) -> ModuleType:
    """The package; ValueError that says how to get it where it is not installed."""
    return _extras.package(name, what, "fab", "PNG and SVG do not.")
