"""The subcommand `doctor`: what a report of a problem needs to say about the machine."""

import os
import platform
from importlib import metadata

from diffmicro._configure import configure
from diffmicro._programs import LIMIT, VARIABLE, Programs, install, state, used, works
from diffmicro.command.output import console
from diffmicro.devices import origins

PACKAGES = (
    "diffmicro", "jax", "jaxlib", "equinox", "optax", "optimistix", "lineax", "numpy", "matplotlib"
)  # fmt: skip
MEGABYTE = 1024**2


def report() -> None:
    """Print devices, precision, settings of XLA, and versions."""
    settings = configure(double=True)
    import jax

    page = console()
    page.print(f"diffmicro devices: {', '.join(origins())}")
    page.print(f"python: {platform.python_version()} on {platform.system()} {platform.machine()}")
    page.print(f"processors: {os.cpu_count()}")
    page.print(f"jax devices: {', '.join(str(device) for device in jax.devices())}")
    page.print(f"precision: {64 if settings.double else 32} bits")
    page.print(f"XLA_FLAGS: {settings.flags or 'none'}")
    page.print(f"fast time loops: {'on' if settings.applied else 'off, see the warning'}")
    page.print(f"compiled programs: {_programs()}", soft_wrap=True)
    for name in PACKAGES:
        page.print(f"{name}: {_version(name)}")


def _programs() -> str:
    """Where compiled programs are kept, how many there are, and whether it works."""
    found = state()
    if found.folder is None:
        return f"not kept, {found.reason}"
    files = used(found.folder)
    size = sum(taken for _, taken, _ in files) / MEGABYTE
    programs = Programs(found.folder)
    install(programs)
    verdict = "works" if works(programs) else "does not work with this version of JAX"
    return (
        f"{found.folder}, {len(files)} files of {size:.1f} MB, at most {LIMIT / MEGABYTE:.0f}; {verdict} "
        f"({VARIABLE}=off or =folder changes it)"
    )


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
