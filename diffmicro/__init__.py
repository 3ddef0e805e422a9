"""diffmicro: a differentiable simulator for microrobots that stick, slip, bounce and adhere.

This is the public door. Each name is imported from its home when it is first used, so that
`import diffmicro` is quick, changes no setting and starts nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from diffmicro import hybrid
    from diffmicro._configure import Configuration, ConfigurationWarning, configure
    from diffmicro._device import Device, Limit, Method
    from diffmicro.attraction import basins
    from diffmicro.boundary import Boundary, boundaries, margin, margin_of
    from diffmicro.certificate import value_and_gradient
    from diffmicro.devices import device
    from diffmicro.drawing import draw, fit_design, geometry
    from diffmicro.fabrication import tolerances
    from diffmicro.identification import identify, next_measurement, read_data
    from diffmicro.parameters import output, parameter
    from diffmicro.recheck import ByResolution, ByWarmStart, Unchecked
    from diffmicro.results import RESULTS, NoResult
    from diffmicro.rules import Rule
    from diffmicro.tolerance import Tolerance
    from diffmicro.verdicts import Certificate, Entry, reason_text, verdict_word

    __version__: str

# The home of each public name; type checkers read the imports above, a test compares the two.
_HOMES = {
    "Boundary": "boundary",
    "ByResolution": "recheck",
    "ByWarmStart": "recheck",
    "Certificate": "verdicts",
    "Configuration": "_configure",
    "ConfigurationWarning": "_configure",
    "Device": "_device",
    "Entry": "verdicts",
    "Limit": "_device",
    "Method": "_device",
    "NoResult": "results",
    "RESULTS": "results",
    "Rule": "rules",
    "Tolerance": "tolerance",
    "Unchecked": "recheck",
    "basins": "attraction",
    "boundaries": "boundary",
    "configure": "_configure",
    "device": "devices",
    "draw": "drawing",
    "fit_design": "drawing",
    "geometry": "drawing",
    "identify": "identification",
    "margin": "boundary",
    "margin_of": "boundary",
    "next_measurement": "identification",
    "output": "parameters",
    "parameter": "parameters",
    "read_data": "identification",
    "reason_text": "verdicts",
    "tolerances": "fabrication",
    "value_and_gradient": "certificate",
    "verdict_word": "verdicts",
}

__all__ = [
    "Boundary",
    "ByResolution",
    "ByWarmStart",
    "Certificate",
    "Configuration",
    "ConfigurationWarning",
    "Device",
    "Entry",
    "Limit",
    "Method",
    "NoResult",
    "RESULTS",
    "Rule",
    "Tolerance",
    "Unchecked",
    "basins",
    "boundaries",
    "configure",
    "device",
    "draw",
    "fit_design",
    "geometry",
    "hybrid",
    "identify",
    "margin",
    "margin_of",
    "next_measurement",
    "output",
    "parameter",
    "read_data",
    "reason_text",
    "tolerances",
    "value_and_gradient",
    "verdict_word",
]


def __getattr__(name: str) -> object:
    if name == "__version__":  # written once, in pyproject.toml
        value = import_module("importlib.metadata").version("diffmicro")
    elif name == "hybrid":  # a whole package
        value = import_module("diffmicro.hybrid")
    elif name in _HOMES:
        value = getattr(import_module(f"diffmicro.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'diffmicro' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
