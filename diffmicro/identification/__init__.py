"""From measured points to the parameters of a device: estimates, intervals, blind spots, and what to measure
next."""

from diffmicro.identification.data import Data, DataError, data_of, read_data
from diffmicro.identification.estimate import identify
from diffmicro.identification.residuals import (
    Fit,
    Parameters,
    Smoothed,
    fit,
    impact_residual,
    misfit,
    response_residual,
    shooting_residual,
    smoothed,
)
from diffmicro.identification.result import Estimate, Identified
from diffmicro.identification.upcoming import Next, next_measurement

__all__ = [
    "Data",
    "DataError",
    "Estimate",
    "Fit",
    "Identified",
    "Next",
    "Parameters",
    "Smoothed",
    "data_of",
    "fit",
    "identify",
    "impact_residual",
    "misfit",
    "next_measurement",
    "read_data",
    "response_residual",
    "shooting_residual",
    "smoothed",
]
