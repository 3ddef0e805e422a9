"""A calculation in another process: packed here, unpacked and carried out there.

A parcel is unpacked in two steps. The first says where the device is found; before the second the worker
configures JAX and imports the device, once. Of the device, its Design and its Setting the parcel has names and
values only, so their classes may stand in any file. The worker compares what the numbers depend on with what the
sender says, and refuses where it differs.
"""

import io
import os
import pickle
import platform
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from diffmicro._configure import configure, has_started
from diffmicro._device import Device
from diffmicro._json import Json
from diffmicro._programs import keep_programs
from diffmicro.devices import device, reference_of, source_of
from diffmicro.parameters import Fields
from diffmicro.sweep.plan import environment
from diffmicro.sweep.store import differences

THREADS = "PJRT_NPROC"
"""Read by XLA when it starts: how many threads it may use."""

_STARTING = threading.Lock()


class ClusterError(ValueError):
    """A cluster that cannot be used in this way; the message says what to change."""


class Call(NamedTuple):
    """A calculation that any process can carry out.

    device: what it is about. function: can be imported. arguments: plain data, arrays, and the device, designs and
    settings of it. What comes back has to be plain data and arrays of NumPy.
    """

    device: Device
    function: Callable[..., Any]
    arguments: tuple[object, ...]

    def here(self) -> Any:
        """What it gives, calculated in this process."""
        return self.function(*self.arguments)

    def packed(self) -> bytes:
        """What `carried_out` takes."""
        text = io.BytesIO()
        _Packer(text, self.device).dump((self.function, self.arguments))
        place, source = reference_of(self.device), source_of(self.device)
        return pickle.dumps((place, source, text.getvalue()))


def carried_out(parcel: bytes, there: Mapping[str, Json], double: bool, keep: bool = False) -> Any:
    """What a call gives. there: `environment` of the sender; double: whether it calculates in 64 bits; keep:
    whether it keeps compiled programs, in which case this process does, in the cache folder of its own user."""
    with _STARTING:
        if not has_started():
            os.environ[THREADS] = "1"
            os.environ["XLA_FLAGS"] = there["XLA_FLAGS"]
            configure()
            if keep:
                keep_programs()
        jax.config.update("jax_enable_x64", double)
    place, source, text = pickle.loads(parcel)
    known = device(place)
    different = differences(
        environment() | {f"source of {place}": source_of(known)},
        {**there, f"source of {place}": source},
    )
    if different:
        raise ClusterError(
            f"A worker on {platform.node()} differs from this process: {'; '.join(different)} "
            "(there: the worker, here: this process). Give both the same packages and files; a Python program "
            "calls diffmicro.configure() before JAX starts, and workers start anew."
        )
    function, arguments = _Unpacker(io.BytesIO(text), known).load()
    return function(*arguments)


class _Packer(pickle.Pickler):
    """Packs with a device's name for the device, and without arrays of JAX."""

    def __init__(self, file: io.BytesIO, known: Device):
        super().__init__(file)
        self._known = known

    def persistent_id(self, thing: object) -> str | None:
        return "device" if thing is self._known else None

    def reducer_override(self, thing: object) -> Any:
        if isinstance(thing, jax.Array):
            return np.array, (np.asarray(thing),)
        for side in ("Design", "Setting"):
            if type(thing) is getattr(self._known, side):
                return _made, (self._known, side, vars(thing))
        return NotImplemented


class _Unpacker(pickle.Unpickler):
    """Unpacks where the device is known."""

    def __init__(self, file: io.BytesIO, known: Device):
        super().__init__(file)
        self._known = known

    def persistent_load(self, name: str) -> Device:
        return self._known


def _made(known: Device, side: str, values: Mapping[str, object]) -> Fields:
    """A Design or Setting of these values, as they were: stacked ones pass no check."""
    made = object.__new__(getattr(known, side))
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made
