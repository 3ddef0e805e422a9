"""The units of Table II."""

import numpy as np
import pytest

from diffmicro.reference.units import UNITS, from_micro, to_micro

# Nagy 2012, Table II, third column.
TABLE_II = {
    "length": 1e6, "force": 1e9, "time": 1.0, "mass": 1e3, "pressure": 1e-3, "velocity": 1e6,
    "acceleration": 1e6, "density": 1e-15, "field_intensity": 1e9, "flux_density": 1e-12,
    "permeability": 1e-21,
}  # fmt: skip


def test_factors_are_those_of_table_ii():
    assert {name: UNITS[name].factor for name in TABLE_II} == TABLE_II


def test_damping_of_table_iii():
    """c = 1e-6 N s/m is printed as 1e-3 g/s."""
    assert to_micro("damping", 1e-6) == pytest.approx(1e-3, rel=1e-13)
    assert UNITS["damping"].symbol == "g/s"


def test_laws_hold_in_both_systems():
    """F = m a and F = k x: a coherent system needs no factors."""
    force = to_micro("mass", 9e-9) * to_micro("acceleration", 3.0)
    assert force == pytest.approx(to_micro("force", 9e-9 * 3.0), rel=1e-13)
    force = to_micro("stiffness", 10.6) * to_micro("length", 2e-6)
    assert force == pytest.approx(to_micro("force", 10.6 * 2e-6), rel=1e-13)
    pressure = to_micro("flux_density", 5e-3) ** 2 / to_micro("permeability", 1.2566e-6)
    assert pressure == pytest.approx(to_micro("pressure", 25e-6 / 1.2566e-6), rel=1e-13)


@pytest.mark.parametrize("quantity", UNITS)
def test_round_trip(quantity):
    values = np.array([-2.5, 0.0, 3e-7])
    np.testing.assert_allclose(from_micro(quantity, to_micro(quantity, values)), values, rtol=1e-13)


def test_unknown_quantity_names_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'velocity'"):
        to_micro("velocty", 1.0)
