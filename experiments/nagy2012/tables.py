"""Tables II and III: units, and what follows from the parameters that stay constant."""

import math

from matplotlib.figure import Figure

from diffmicro.devices.wrmma import eta, published_design, published_setting
from diffmicro.devices.wrmma.lumped import masses
from diffmicro.reference.units import UNITS, to_micro
from experiments.nagy2012.drawing import as_table
from experiments.outcome import Outcome, Said, number, numbers, order, own_number

FACTORS = {
    "length": 1e6, "force": 1e9, "time": 1.0, "mass": 1e3, "pressure": 1e-3, "velocity": 1e6,
    "acceleration": 1e6, "density": 1e-15, "field_intensity": 1e9, "flux_density": 1e-12,
    "permeability": 1e-21,
}  # fmt: skip
"""Table II: SI times this is the number in the paper's units."""


def table2() -> Outcome:
    """Every factor of the paper's units, from their dimensions and the base units um, g, s, fA."""
    off = [n for n, f in FACTORS.items() if abs(float(to_micro(n, 1.0)) / f - 1) > 1e-12]
    checks = [
        numbers(
            Said("Table II", "MKS unit, multiply by, to obtain"),
            "factors follow from the dimensions and the base units",
            f"all {len(FACTORS)}",
            f"{len(FACTORS) - len(off)}" + (", not " + ", ".join(off) if off else ""),
            not off,
        )
    ]

    def draw(figure: Figure) -> None:
        rows = [
            [name, UNITS[name].si, f"{UNITS[name].factor:.0e}", UNITS[name].symbol]
            for name in FACTORS
        ]
        as_table(figure.subplots(), ["parameter", "SI", "multiply by", "to obtain"], rows)

    return Outcome(checks, {"factors": {n: float(to_micro(n, 1.0)) for n in FACTORS}}, draw)


def table3() -> Outcome:
    """What mass, stiffness and eta follow from the printed constants."""
    design, setting = published_design(), published_setting()
    body, hammer = (float(m) for m in masses(published_design(mass_ratio=1.0)))
    prototype = 8900 * 150e-6 * 130e-6 * 50e-6
    stiffness = float(masses(design)[1]) * (2 * math.pi * design.tethered_frequency) ** 2
    printed = published_design(force_scale=1.0)
    ratio = float(eta(printed, setting)) * float(setting.load_factor)
    fitted = float(eta(design, published_setting(field=5e-3, load_factor=8.0)))
    checks = [
        order(
            Said("section II-A1", "a mass on the order of 10 x 10^-9 kg for each part"),
            "mass of a part of 150 x 130 x 50 um",
            "between 3e-9 and 3e-8 kg",
            f"{prototype:.2e} kg; parts of Table III's device {body:.2e} and {hammer:.2e} kg",
            3e-9 < prototype < 3e-8,
        ),
        number(
            Said("section II-A1", "k = 10.6 N/m represents a typical stiffness value"),
            "stiffness that section III-B calculates from 2300 Hz",
            "10.6",
            stiffness,
            "N/m",
            note="the paper's two statements differ; 10.6 N/m would make 5.3 kHz",
        ),
        number(
            Said("Fig. 7, caption", "eta = 14.79/beta"),
            "eta times beta at 5 mT by the printed constants",
            "14.79",
            ratio,
            note="so the published design scales the force by 0.257",
        ),
        own_number(
            "eta = 1.85 of Fig. 8, which the scale of the force puts in",
            "eta at 5 mT and load factor 8",
            1.85,
            fitted,
            0.005,
        ),
    ]
    rows = [
        ("total length of the device", 300.0, 1e6 * design.device_length, "um"),
        ("density of nickel", 8900.0, design.density, "kg/m^3"),
        ("linear damping", 1e-3, to_micro("damping", design.damping), "g/s"),
        ("equilibrium gap", 20.0, 1e6 * design.rest_gap, "um"),
        ("friction coefficient", 0.5, setting.friction, ""),
        ("coefficient of restitution", 0.5, design.restitution, ""),
    ]

    def draw(figure: Figure) -> None:
        cells = [
            [name, f"{stated:g}", f"{float(here):g}", unit] for name, stated, here, unit in rows
        ]
        as_table(figure.subplots(), ["parameter", "paper", "here", "unit"], cells)

    data = {"stiffness": stiffness, "eta_times_beta": ratio, "mass": prototype}
    return Outcome(checks, data, draw)
