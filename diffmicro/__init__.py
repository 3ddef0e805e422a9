"""diffmicro: a differentiable simulator for microrobots that stick, slip, bounce and adhere.

This is the public door. Each name is imported from its home when it is first used, so that
`import diffmicro` is quick, changes no setting and starts nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from diffmicro._configure import Configuration, ConfigurationWarning, configure
    from diffmicro.certificate import (
        Certificate,
        reason_text,
        value_and_gradient,
        verdict_word,
    )
    from diffmicro.devices import device

    __version__: str

# The home of each public name; type checkers read the imports above, a test compares the two.
_HOMES = {
    "Certificate": "certificate",
    "Configuration": "_configure",
    "ConfigurationWarning": "_configure",
    "configure": "_configure",
    "device": "devices",
    "reason_text": "certificate",
    "value_and_gradient": "certificate",
    "verdict_word": "certificate",
}

__all__ = [
    "Certificate",
    "Configuration",
    "ConfigurationWarning",
    "configure",
    "device",
    "reason_text",
    "value_and_gradient",
    "verdict_word",
]


def __getattr__(name: str) -> object:
    if name == "__version__":  # written once, in pyproject.toml
        value = import_module("importlib.metadata").version("diffmicro")
    elif name in _HOMES:
        value = getattr(import_module(f"diffmicro.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'diffmicro' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
