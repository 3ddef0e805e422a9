"""From one drawing to many parts: how they deviate, how many are good, and what the bad ones fail by."""

from diffmicro.fabrication.scatter import Scatter, scatter
from diffmicro.fabrication.tolerances import tolerances
from diffmicro.fabrication.yields import Center, Yield, estimate
from diffmicro.tolerance import Tolerance

__all__ = ["Center", "Scatter", "Tolerance", "Yield", "estimate", "scatter", "tolerances"]
