"""Where devices are found: those of the papers here, those of installed packages, and anybody's own file.

A device is called by one of

- its name: one of `OWN`, or one that an installed package registers by the entry point group `diffmicro.devices`;
- `package.module:NAME`, a `Device` in a module that can be imported;
- `path/to/file.py:NAME`, a `Device` in a file.
"""

import difflib
import hashlib
import sys
import traceback
from functools import cache
from importlib import import_module, metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from diffmicro import _sources
from diffmicro._device import Device

OWN = ("wrmma", "tumbler", "legs", "stickslip", "tribometer", "gripper")
"""Names of the devices of this package: `diffmicro.devices.<name>.DEVICE`."""

GROUP = "diffmicro.devices"
"""The entry point group in which a package registers its devices: `name = "package.module:NAME"`."""

OF_FILE = "diffmicro_device_"
"""What the names of modules begin with that were read from files."""

FORMS = "a name from `diffmicro list`, package.module:NAME, or path/to/file.py:NAME"


class UnknownDevice(ValueError):
    """No device is there under this name, or what is there is no device. The message names what to change."""


def device(reference: str) -> Device:
    """The device of this name or place; see the module docstring. Imported when it is first called for."""
    found = _load(reference)
    _REFERENCES.setdefault(found, _from_anywhere(reference))
    return found


def as_device(given: Device | str) -> Device:
    """The device itself, or the one of this name or place."""
    if isinstance(given, str):
        return device(given)
    return _checked(given, str(getattr(given, "__name__", given)))


def is_own(found: Device) -> bool:
    """Whether it is one of this package, not another one of the same name."""
    return found.name in OWN and device(found.name) is found


def reference_of(found: Device) -> str:
    """How another process finds this device: what `device` was given."""
    if is_own(found):
        return found.name
    if found not in _REFERENCES:
        raise ValueError(
            f"{found.name}: other processes cannot find this device, because it was not called by its place. "
            "Get it by diffmicro.device('package.module:NAME') or diffmicro.device('file.py:NAME')."
        )
    return _REFERENCES[found]


def written(found: Device) -> str:
    """What a run's folder says of its device: where it is found again, or its name where that is not known."""
    return _REFERENCES.get(found, found.name)


def source_of(found: Device) -> str:
    """A digest of the files in which a device stands; empty for one of this package."""
    return _sources.source_of(found.Design, found.Setting, found.respond)


_REFERENCES: WeakKeyDictionary[Device, str] = WeakKeyDictionary()


def _from_anywhere(reference: str) -> str:
    """A file is found from every folder."""
    place, _, name = reference.rpartition(":")
    return f"{Path(place).resolve()}:{name}" if place.endswith(".py") else reference


def origins() -> dict[str, str]:
    """Names of all devices that are known by a name, and the package that each comes from."""
    return dict.fromkeys(OWN, "diffmicro") | {
        point.name: _package(point) for point in metadata.entry_points(group=GROUP)
    }


def _package(point: metadata.EntryPoint) -> str:
    return point.dist.name if point.dist else point.module


@cache
def _load(reference: str) -> Device:
    place, colon, name = reference.rpartition(":")
    if not colon:
        return _checked(_registered(reference), reference)
    if place.endswith(".py"):
        module = _module_of_file(Path(place))
    else:
        try:
            module = import_module(place)
        except ImportError as problem:
            raise UnknownDevice(
                f"device {reference}: {place} cannot be imported: {problem}."
            ) from problem
    if name not in vars(module):
        inside = [key for key, value in vars(module).items() if isinstance(value, Device)]
        there = f"its devices are {', '.join(inside)}" if inside else "it has no Device"
        raise UnknownDevice(f"device {reference}: there is no {name} in {place}; {there}.")
    return _checked(vars(module)[name], reference)


def _registered(name: str) -> Any:
    if name in OWN:
        return import_module(f"diffmicro.devices.{name}").DEVICE
    for point in metadata.entry_points(group=GROUP, name=name):
        try:
            return point.load()
        except (ImportError, AttributeError) as problem:
            raise UnknownDevice(
                f"device {name}, registered by {_package(point)} as {point.value}: {problem}."
            ) from problem
    close = difflib.get_close_matches(name.lower(), origins(), n=1, cutoff=0.4)
    near = f"did you mean {close[0]}?" if close else f"choose from {', '.join(origins())}."
    if Path(name).suffix == ".py":
        near = f"a file needs the name of its Device behind it: {name}:NAME."
    raise UnknownDevice(f"device {name!r} is not known; {near} A device is {FORMS}.")


def fault_in_file(problem: Exception) -> str | None:
    """A failure inside a device's own file as a sentence with its line; None for any other."""
    frames = list(traceback.walk_tb(problem.__traceback__))
    own = [f for f in frames if str(f[0].f_globals.get("__name__", "")).startswith(OF_FILE)]
    if not own:
        return None
    frame, line = own[-1]
    text = str(problem).partition("\n")[0].rstrip(".")
    where = f"{frame.f_code.co_filename}, line {line}, in {frame.f_code.co_name}"
    return f"{where}: {type(problem).__name__}: {text}."


def _module_of_file(path: Path) -> ModuleType:
    """The file as a module; files beside it can be imported by it, as by a script."""
    path = path.resolve()
    if not path.is_file():
        raise UnknownDevice(f"There is no file {path}. A device is {FORMS}.")
    known = hashlib.sha256(str(path).encode()).hexdigest()[:16]  # the same in every process
    spec = spec_from_file_location(f"{OF_FILE}{path.stem}_{known}", path)
    if spec is None or spec.loader is None:
        raise UnknownDevice(f"{path} is no Python file.")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # its classes are pickled by this name
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        del sys.modules[spec.name]
        where = f", line {problem.lineno}" if isinstance(problem, SyntaxError) else ""
        raise UnknownDevice(
            f"{path} fails when it is imported{where}: {type(problem).__name__}: {problem}"
        ) from problem
    finally:
        sys.path.remove(str(path.parent))
    return module


def _checked(found: Any, reference: str) -> Device:
    if not isinstance(found, Device):
        inside = [
            key
            for key, value in getattr(found, "__dict__", {}).items()
            if isinstance(value, Device)
        ]
        if inside:
            raise UnknownDevice(f"{reference} is a module; its Device is {reference}.{inside[0]}.")
        raise UnknownDevice(
            f"device {reference} is a {type(found).__name__}, not a diffmicro.Device. Make one: "
            "Device(name=..., title=..., source=..., Design=..., Setting=..., Response=..., respond=...)."
        )
    return found
