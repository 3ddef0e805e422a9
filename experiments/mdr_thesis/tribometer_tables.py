"""Tables 4.1 to 4.3 and the probe's equivalent mass (eq. 4.7)."""

import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices.tribometer import published_design, published_setting
from diffmicro.mechanics import friction_control
from experiments.outcome import Experiment, Outcome, Said, incomparable, number

STEEL = 7860.0
"""Density of section 4.3.1 [kg/m^3]."""

TABLES = {
    "in line": dict(friction=0.4, normal_force=9.0, frequency=43e3),
    "across": dict(friction=0.37, normal_force=4.0, frequency=43e3),
}
"""Tables 4.2 and 4.3, inputs. The angular frequency is printed as 86 pi kHz; section 4.2 gives 44 kHz."""


def table4_1() -> Outcome:
    """The equivalent mass, which is computed in the text; all else of the table is an input."""
    design, setting = published_design(), published_setting()
    rod = 1e3 * float(friction_control.rod_mass(STEEL, 3e-3, 16e-3))
    stepped = 1e3 * float(friction_control.stepped_rod_mass(STEEL, 3e-3, 10e-3, 5e-3, 6e-3))
    # Twice the kinetic energy of the shape (3 x^2 - x^3)/2 over rho A l.
    x, weights = np.polynomial.legendre.leggauss(8)
    x = (1 + x) / 2
    share = float(np.sum(weights / 2 * ((3 * x**2 - x**3) / 2) ** 2))
    checks = [
        number(
            Said("section 4.3.1", "m_e = 1 g"), "equivalent mass of the plain rod", "1", rod, "g"
        ),
        number(
            Said("section 4.3.1", "the equivalent mass computes to m_e = 2.1 g"),
            "that of the stepped rod",
            "2.1",
            stepped,
            "g",
        ),
        number(
            Said("eq. 4.7", "33/144 [= 0.2292]"),
            "share of the rod's mass",
            "0.2292",
            share,
            note="33/140",
        ),
        incomparable(
            Said(
                "section 4.2; Tables 4.2, 4.3",
                "the natural frequency of this probe is 44 kHz; 86 pi kHz",
            ),
            "frequency of the in-plane probe",
            "the source has two, 44 and 43 kHz; 43 kHz is used",
        ),
    ]
    rows = [
        ("Young's modulus of steel", 1e-9 * float(design.young), "GPa"),
        ("Poisson's ratio of steel", float(design.poisson), ""),
        ("equivalent mass", 1e3 * float(design.probe_mass), "g"),
        ("friction coefficient", float(setting.friction), ""),
        ("radius of the sphere", 1e3 * float(design.radius), "mm"),
        ("mean normal force", float(setting.normal_force), "N"),
        ("natural frequency", 1e-3 * float(setting.frequency), "kHz"),
        ("plain rod (eq. 4.7)", rod, "g"),
        ("stepped rod", stepped, "g"),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axis("off")
        cells = [[name, f"{here:.4g}", unit] for name, here, unit in rows]
        table = axes.table(cells, colLabels=["", "here", "unit"], loc="center")
        table.auto_set_column_width([0, 1, 2])

    return Outcome(checks, {name: here for name, here, _ in rows}, draw)


EXPERIMENTS = {
    "mdr_thesis_table4_1": Experiment("test stand, out of plane", table4_1, (6.0, 2.8)),
}
