"""The devices, one module each. `DEVICES` is the table that every contract test runs over."""

from importlib import import_module
from types import ModuleType

DEVICES = ("wrmma",)
"""Names of all devices: `diffmicro.devices.<name>`."""


def device(name: str) -> ModuleType:
    """The module of a device, imported when it is first asked for."""
    if name not in DEVICES:
        raise ValueError(f"device {name!r} is not known; the devices are {', '.join(DEVICES)}.")
    return import_module(f"diffmicro.devices.{name}")
