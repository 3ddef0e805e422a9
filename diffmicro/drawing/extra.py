"""Packages of the extra `fab`, imported when they are needed."""

from importlib import import_module
from typing import Any


def package(name: str, what: str) -> Any:
    """The package; ValueError that says how to get it where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise ValueError(
            f"{what} needs the package {name}: pip install 'diffmicro[fab]'. PNG and SVG do not."
        ) from None
