"""Tables II and III: units, and the parameters that stay constant."""

from matplotlib.figure import Figure

from diffmicro.devices.wrmma import published_design, published_setting
from diffmicro.reference.units import UNITS, to_micro
from experiments.nagy2012.drawing import as_table
from experiments.outcome import Check, Outcome, near

FACTORS = {
    "length": 1e6, "force": 1e9, "time": 1.0, "mass": 1e3, "pressure": 1e-3, "velocity": 1e6,
    "acceleration": 1e6, "density": 1e-15, "field_intensity": 1e9, "flux_density": 1e-12,
    "permeability": 1e-21,
}  # fmt: skip
"""Table II: SI times this is the number in the paper's units."""


def table2() -> Outcome:
    """Every factor of the paper's units."""
    checks = [
        near(name, factor, float(to_micro(name, 1.0)), 1e-12 * factor)
        for name, factor in FACTORS.items()
    ]

    def draw(figure: Figure) -> None:
        rows = [
            [name, UNITS[name].si, f"{UNITS[name].factor:.0e}", UNITS[name].symbol]
            for name in FACTORS
        ]
        as_table(figure.subplots(), ["parameter", "SI", "multiply by", "to obtain"], rows)

    return Outcome(checks, {"factors": {n: float(to_micro(n, 1.0)) for n in FACTORS}}, draw)


def table3() -> Outcome:
    """The published design and setting hold the table's values."""
    design, setting = published_design(), published_setting()
    rows = [
        ("total length of the device", 300.0, 1e6 * design.device_length, "um"),
        ("density of nickel", 8900.0, design.density, "kg/m^3"),
        ("linear damping", 1e-3, to_micro("damping", design.damping), "g/s"),
        ("equilibrium gap", 20.0, 1e6 * design.rest_gap, "um"),
        ("friction coefficient", 0.5, setting.friction, ""),
        ("coefficient of restitution", 0.5, design.restitution, ""),
    ]
    checks: list[Check] = [
        near(name, stated, float(here), 1e-12 * stated, unit) for name, stated, here, unit in rows
    ]

    def draw(figure: Figure) -> None:
        cells = [
            [name, f"{stated:g}", f"{float(here):g}", unit] for name, stated, here, unit in rows
        ]
        as_table(figure.subplots(), ["parameter", "paper", "here", "unit"], cells)

    return Outcome(checks, {name: float(here) for name, _, here, _ in rows}, draw)
