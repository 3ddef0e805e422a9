"""The subcommand `doctor`: what a report of a problem needs to say about the machine."""

import os
import platform
from importlib import metadata

from diffmicro._configure import configure
from diffmicro.command.output import console
from diffmicro.devices import origins

PACKAGES = (
    "diffmicro", "jax", "jaxlib", "equinox", "optax", "optimistix", "lineax", "numpy", "matplotlib"
)  # fmt: skip


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
    for name in PACKAGES:
        page.print(f"{name}: {_version(name)}")


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
