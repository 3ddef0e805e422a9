"""Tables 4.1 to 4.3 and the probe's equivalent mass."""

from matplotlib.figure import Figure

from diffmicro.devices.tribometer import published_design, published_setting
from diffmicro.mechanics import friction_control
from experiments.outcome import Check, Experiment, Outcome, near

STEEL = 7860.0
"""Density of section 4.3.1 [kg/m^3]."""


def _table(rows: list[tuple[str, float, float, str]], more: list[Check]) -> Outcome:
    checks = [near(name, said, here, 1e-12 * abs(said), unit) for name, said, here, unit in rows]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axis("off")
        cells = [[name, f"{said:g}", f"{here:g}", unit] for name, said, here, unit in rows]
        table = axes.table(cells, colLabels=["", "thesis", "here", "unit"], loc="center")
        table.auto_set_column_width([0, 1, 2, 3])

    return Outcome(checks + more, {name: here for name, _, here, _ in rows}, draw)


def table4_1() -> Outcome:
    """Out of plane: the published design and setting."""
    design, setting = published_design(), published_setting()
    rows = [
        ("Young's modulus of steel", 210.0, float(design.young) / 1e9, "GPa"),
        ("Poisson's ratio of steel", 0.3, float(design.poisson), ""),
        ("equivalent mass", 2.1, 1e3 * float(design.probe_mass), "g"),
        ("friction coefficient", 0.4, float(setting.friction), ""),
        ("radius of the sphere", 3.5, 1e3 * float(design.radius), "mm"),
        ("mean normal force", 9.5, float(setting.normal_force), "N"),
        ("natural frequency", 30.0, float(setting.frequency) / 1e3, "kHz"),
    ]
    rod = 1e3 * float(friction_control.rod_mass(STEEL, 3e-3, 16e-3))
    stepped = friction_control.stepped_rod_mass(STEEL, 3e-3, 10e-3, 5e-3, 6e-3)
    masses = [
        near("equivalent mass of the plain rod, rounded to 1 g", 1, rod, 0.5, "g"),
        near("equivalent mass of the stepped rod", 2.1, 1e3 * float(stepped), 0.05, "g"),
    ]
    return _table(rows, masses)


TABLES = {
    "in line": dict(friction=0.4, normal_force=9.0, frequency=43e3),
    "across": dict(friction=0.37, normal_force=4.0, frequency=43e3),
}
"""Tables 4.2 and 4.3. The angular frequency is printed as 86 pi kHz; section 4.2 gives 44 kHz."""


def _in_plane(name: str, friction: float, force: float) -> Outcome:
    known = TABLES[name]
    rows = [
        ("friction coefficient", friction, known["friction"], ""),
        ("mean normal force", force, known["normal_force"], "N"),
        ("natural frequency, 86 pi kHz / 2 pi", 43.0, known["frequency"] / 1e3, "kHz"),
    ]
    quoted = Check(
        "natural frequency of section 4.2",
        "44 kHz",
        f"{known['frequency'] / 1e3:g} kHz in the table",
        False,
    )
    return _table(rows, [quoted])


EXPERIMENTS = {
    "mdr_thesis_table4_1": Experiment("test stand, out of plane", table4_1, (6.0, 2.8)),
    "mdr_thesis_table4_2": Experiment(
        "test stand, in line", lambda: _in_plane("in line", 0.4, 9.0), (6.0, 2.0)
    ),
    "mdr_thesis_table4_3": Experiment(
        "test stand, across", lambda: _in_plane("across", 0.37, 4.0), (6.0, 2.0)
    ),
}
