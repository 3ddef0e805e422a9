"""The devices, one module each. `DEVICES` is the table that every contract test runs over."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

DEVICES = ("wrmma", "tumbler", "legs", "stickslip", "tribometer", "gripper")
"""Names of all devices: `diffmicro.devices.<name>`."""


def device(name: str) -> ModuleType:
    """The module of a device, imported when it is first asked for."""
    if name not in DEVICES:
        raise ValueError(f"device {name!r} is not known; the devices are {', '.join(DEVICES)}.")
    return import_module(f"diffmicro.devices.{name}")


def on_request(module: ModuleType) -> tuple[str, ...]:
    """The responses that a device calculates only when asked, because they need many solves."""
    return getattr(module, "ON_REQUEST", ())


def asking_for(
    module: ModuleType, responses: Sequence[str], numerics: Mapping[str, Any]
) -> dict[str, Any]:
    """The numerics of `respond` with what it takes to get these responses."""
    extra = tuple(name for name in on_request(module) if name in responses)
    extra += tuple(name for name in numerics.get("extra", ()) if name not in extra)
    return {**numerics, "extra": extra} if extra else dict(numerics)
