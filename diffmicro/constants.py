"""Physical constants in SI units, as plain floats.

Source: CODATA 2022 recommended values. Gravity is
not here: it is a parameter of each device's setting.
"""

MU_0 = 1.25663706127e-6
"""Vacuum magnetic permeability [N/A^2]."""

EPSILON_0 = 8.8541878188e-12
"""Permittivity of vacuum [F/m]."""
