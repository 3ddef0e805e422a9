"""Packages of the extras, imported when they are needed."""

from importlib import import_module
from types import ModuleType
from typing import Any

Foreign = Any
"""An object of a package that a plain install does not bring."""


class MissingPackage(ValueError):
    """A package that a plain install does not bring. The message says how to get it."""


def package(name: str, what: str, extra: str, instead: str = "") -> ModuleType:
    """The package; `MissingPackage` where it is not installed. what: needs it. instead: what does not."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingPackage(
            f"{what} needs the package {name}: pip install 'diffmicro[{extra}]'.{instead and ' ' + instead}"
        ) from None
