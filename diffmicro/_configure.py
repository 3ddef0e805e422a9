"""Settings that make the time loops fast: `configure()`, to be called before JAX starts.

XLA compiles each time loop into one kernel when `xla_cpu_small_while_loop_byte_threshold` is
large. Before jaxlib 0.12 the default is small, and the loop runs as a sequence of many small
kernels; from 0.12 on the default is one kernel and the option is left out. How much that gains
depends on the loop. `xla_cpu_prefer_vector_width` widens the kernel's vectors. Both are read from
`XLA_FLAGS` once, when the first backend starts.

Importing diffmicro changes nothing; the command line, the studies, the experiments and the tests
call `configure()` first. Without it results are the same up to rounding. The loop option is not a
documented interface of XLA, so `tests/test_configure.py` checks in the installed version that it
works, and that it is needed where it is set.

In vectors of 512 bits XLA's arctan is wrong (jaxlib 0.10.2): for 64 numbers or more, by up to the size of its
result. Its atan2 is right unless its second argument is the constant one, which is what `jnp.arctan(x)` becomes.
So `configure()` gives JAX another way to write `arctan` for CPUs, in which that one is not seen to be constant.

Left out: options for GPUs, and any change to flags that the user has set.
"""

import os
import re
import subprocess
import sys
import warnings
from dataclasses import dataclass
from importlib import metadata

_LIST_FLAG = "--xla_backend_extra_options="
_LOOP_OPTION = "xla_cpu_small_while_loop_byte_threshold"
_WIDTH_FLAG = "xla_cpu_prefer_vector_width"
_DEVICES_FLAG = "xla_force_host_platform_device_count"
_LOOP_BYTES = 1_000_000_000  # above any loop state of this library
_VECTOR_BITS = 512  # the widest that x86 processors have
_TESTED_JAXLIB = tuple(f"0.{minor}." for minor in range(6, 13))
"""Versions known to take these flags; others are tried in a process of their own first."""
_ONE_KERNEL_SINCE = (0, 12)  # the jaxlib whose default already makes a loop one kernel
_MAX_DEVICES = 1024


class ConfigurationWarning(UserWarning):
    """`configure()` could not apply every setting; the message names what and why."""


@dataclass(frozen=True)
class Configuration:
    """What `configure()` did.

    Attributes:
        flags: `XLA_FLAGS` as they stand now.
        added: the flags that this call added.
        applied: False when a requested setting is not in force (a warning gave the reason).
        double: whether JAX calculates in 64 bits now.
    """

    flags: str
    added: tuple[str, ...]
    applied: bool
    double: bool


def configure(*, double: bool | None = None, devices: int | None = None) -> Configuration:
    """Set XLA up for fast time loops on CPUs; call it before the first JAX calculation.

    Flags that the user has set in `XLA_FLAGS` stay as they are. Calling twice is harmless.

    Args:
        double: True or False switches 64-bit precision; None leaves it.
        devices: number of CPU devices to show to JAX, for sweeps sharded over cores; None
            leaves it.
    """
    if devices is not None and (type(devices) is not int or not 0 < devices <= _MAX_DEVICES):
        raise ValueError(
            f"configure: devices is {devices!r}; it must be a whole number from 1 to "
            f"{_MAX_DEVICES}. Use os.cpu_count() for one device per core."
        )
    import jax

    present = os.environ.get("XLA_FLAGS", "").strip()
    missing = _missing(present, devices, loop=_needs_loop_option(metadata.version("jaxlib")))
    obstacle = _obstacle(present, missing) if missing else None
    if missing and not obstacle:
        os.environ["XLA_FLAGS"] = _merged(present, missing)
    obstacle = obstacle or _conflict(present, devices)
    if obstacle:
        warnings.warn(f"diffmicro.configure: {obstacle}", ConfigurationWarning, stacklevel=2)
    _mend_arctan()
    if double is not None:
        jax.config.update("jax_enable_x64", bool(double))
    flags = os.environ.get("XLA_FLAGS", "")
    return Configuration(
        flags=flags,
        added=missing if flags != present else (),
        applied=obstacle is None,
        double=jax.dtypes.canonicalize_dtype(float) == "float64",
    )


def has_started() -> bool:
    """Whether a backend of JAX runs in this process, so that flags come too late."""
    from jax._src import xla_bridge

    return xla_bridge.backends_are_initialized()


def _mend_arctan() -> None:
    """Programs that are compiled for CPUs from now on have an arctan that is right in wide vectors."""
    import jax.numpy as jnp
    from jax.interpreters import mlir
    from jax.lax import atan2, atan_p

    def arctan(x, **_):
        one = jnp.where(x == x, jnp.ones_like(x), x)
        return atan2(x, one)

    mlir.register_lowering(atan_p, mlir.lower_fun(arctan, multiple_results=False), platform="cpu")


def _needs_loop_option(jaxlib: str) -> bool:
    """Whether this version of jaxlib makes many kernels of a loop unless the option is set."""
    major, minor = jaxlib.split(".")[:2]
    return (int(major), int(minor)) < _ONE_KERNEL_SINCE


def _missing(present: str, devices: int | None, *, loop: bool) -> tuple[str, ...]:
    """The flags that `present` lacks. One that the user has set is not missing, at any value."""
    flags = {_LOOP_OPTION: f"{_LIST_FLAG}{_LOOP_OPTION}={_LOOP_BYTES}"} if loop else {}
    flags[_WIDTH_FLAG] = f"--{_WIDTH_FLAG}={_VECTOR_BITS}"
    if devices is not None:
        flags[_DEVICES_FLAG] = f"--{_DEVICES_FLAG}={devices}"
    return tuple(flag for name, flag in flags.items() if name not in present)


def _merged(present: str, missing: tuple[str, ...]) -> str:
    """`present` and `missing` as one string that XLA accepts.

    One flag carries all options of the compiler as a list with commas, so ours joins the
    user's list. No space may stand alone: XLA would take it for the name of a file.
    """
    for flag in missing:
        if flag.startswith(_LIST_FLAG) and _LIST_FLAG in present:
            option = flag.removeprefix(_LIST_FLAG)
            present = re.sub(rf"{_LIST_FLAG}[\"']?", rf"\g<0>{option},", present, count=1)
        else:
            present = f"{present} {flag}".strip()
    return present


def _obstacle(present: str, missing: tuple[str, ...]) -> str | None:
    """Why the missing flags cannot be added, with the remedy; None when they can."""
    if has_started():
        return (
            "too late, JAX has started and no longer reads XLA_FLAGS; time loops will be slow "
            f"({' '.join(missing)} not set). Call it before the first JAX calculation."
        )
    if present and not present.startswith("--"):
        return (
            f"XLA_FLAGS names a file ({present!r}), to which nothing is added; time loops may be "
            f"slow. Add these lines to it: {' '.join(missing)}"
        )
    version = metadata.version("jaxlib")
    if not version.startswith(_TESTED_JAXLIB) and not _accepted(_merged(present, missing)):
        return (
            f"jaxlib {version} does not take {' '.join(missing)}; time loops will be slow. "
            "Install the jaxlib of constraints.txt."
        )
    return None


def _conflict(present: str, devices: int | None) -> str | None:
    """What stands in the user's flags against the arguments."""
    found = re.search(rf"{_DEVICES_FLAG}=(\d+)", present)
    if devices is None or found is None or int(found[1]) == devices:
        return None
    return (
        f"devices is {devices}, but XLA_FLAGS already says {found[0]}, which is kept. "
        "Remove it from XLA_FLAGS or leave devices out."
    )


def _accepted(flags: str) -> bool:
    """Whether XLA starts with these flags. It ends the process on one that it does not know."""
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", "import jax; jax.devices()"]
    return subprocess.run(command, env=environment, capture_output=True).returncode == 0
