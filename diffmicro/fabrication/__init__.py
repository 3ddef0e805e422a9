"""From one drawing to many parts: how they deviate, how many are good, and what the bad ones fail by."""

from diffmicro.fabrication.buildable import Buildable, buildable
from diffmicro.fabrication.scatter import Scatter, scatter
from diffmicro.fabrication.surroundings import Surroundings, surroundings
from diffmicro.fabrication.tolerances import tolerances
from diffmicro.fabrication.yields import Center, Yield, estimate
from diffmicro.tolerance import Tolerance

__all__ = [
    "Buildable",
    "Center",
    "Scatter",
    "Surroundings",
    "Tolerance",
    "Yield",
    "buildable",
    "estimate",
    "scatter",
    "surroundings",
    "tolerances",
]
