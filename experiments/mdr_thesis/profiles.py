"""Figs. 2.3 and 2.4: stress in the contact of a sphere, and the line that stands for the sphere.

Fig. 2.2 is a sketch without numbers. Material and load of the figures are not given; those of the drive are used.
"""

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from diffmicro.mechanics.elastic import hertz_contact_radius, hertz_peak_pressure
from diffmicro.mechanics.profiles import Sphere, contact_radius, pressure
from experiments.outcome import Check, Experiment, Outcome, Said, shape

RADIUS, FORCE, MODULUS, FRICTION = 0.5e-3, 0.25, 1.4725e11, 0.3
STICK = 0.5
"""Stick radius over contact radius that is drawn."""


def figure2_3() -> Outcome:
    """Pressure and shear stress, with a stick region of half the radius."""
    sphere = Sphere(RADIUS)
    a = float(contact_radius(sphere, FORCE, MODULUS))
    nodes, weights = np.polynomial.legendre.leggauss(400)
    parts = [(0.0, STICK * a), (STICK * a, a)]
    r = np.concatenate([low + (high - low) * (1 + nodes) / 2 for low, high in parts])
    measure = np.concatenate([(high - low) / 2 * weights for low, high in parts]) * 2 * np.pi * r
    normal = np.asarray(pressure(sphere, jnp.asarray(r), a, MODULUS))
    stick = np.asarray(pressure(sphere, jnp.asarray(r), STICK * a, MODULUS))
    shear = FRICTION * (normal - stick)
    limit = FRICTION * FORCE
    hertz = float(hertz_peak_pressure(FORCE, a)) * np.sqrt(1 - (r / a) ** 2)
    carried, dragged = float(np.sum(normal * measure)), float(np.sum(shear * measure))
    checks = [
        _same(
            Said("eq. 2.15", "sigma(r) = sigma_0 (1 - r^2/a^2)^(1/2)"),
            "pressure of the line is Hertz's",
            _off(normal, hertz),
            1e-9,
        ),
        _same(
            Said("eq. 2.17", "F_n = 4/3 E* a^3/R"),
            "pressure carries the normal force",
            carried / FORCE - 1,
            1e-6,
        ),
        _same(
            Said("eq. 2.27", "F_x = mu F_n (1 - c^3/a^3)"),
            "shear carries that force",
            dragged / (limit * (1 - STICK**3)) - 1,
            1e-6,
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(r / a, normal / 1e9, label="pressure")
        axes.plot(r / a, FRICTION * normal / 1e9, ":", label="friction bound")
        axes.plot(r / a, shear / 1e9, label="shear stress")
        axes.axvline(STICK, color="0.6", linewidth=0.8)
        axes.text(STICK / 2, 0.02, "stick", ha="center")
        axes.text((1 + STICK) / 2, 0.02, "slip", ha="center")
        axes.set(xlabel="distance from the axis over contact radius", ylabel="stress [GPa]")
        axes.legend(frameon=False)

    return Outcome(checks, {"radius": r, "pressure": normal, "shear": shear}, draw)


def figure2_4() -> Outcome:
    """A parabola of half the radius on independent springs has the sphere's force and radius."""
    sphere = Sphere(RADIUS)
    force = np.geomspace(1e-3, 1, 30)
    radii = np.array([float(contact_radius(sphere, f, MODULUS)) for f in force])
    hertz = np.asarray(hertz_contact_radius(jnp.asarray(force), RADIUS, MODULUS))
    x = np.linspace(-1, 1, 20001) * radii[-1]
    springs = MODULUS * np.maximum(radii[-1] ** 2 / RADIUS - x**2 / (2 * (RADIUS / 2)), 0)
    summed = float(np.trapezoid(springs, x))
    depth = radii[-1] ** 2 / RADIUS
    checks = [
        _same(
            Said("eq. 2.17", "F_n = 4/3 E* a^3/R"),
            "contact radius of the line is Hertz's",
            _off(radii, hertz),
            1e-12,
        ),
        _same(
            Said("eq. 2.50", "if one chooses R_1 = R/2, exactly the same as in eq. 2.17"),
            "springs under R/2 sum to the force, 1 N",
            summed - 1,
            1e-7,
        ),
    ]

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        um = 1e6
        left.plot(um * x, 1e9 * (x**2 / (2 * RADIUS)), label="sphere h(r)")
        left.plot(um * x, 1e9 * (x**2 / RADIUS), label="line g(x)")
        left.axhline(1e9 * depth, color="0.6", linewidth=0.8, label="indentation")
        left.set(xlabel="r, x [um]", ylabel="height [nm]")
        left.legend(frameon=False, fontsize=8)
        right.loglog(force, um * radii)
        right.set(xlabel="normal force [N]", ylabel="contact radius [um]")
        right.yaxis.set_minor_formatter("")
        right.set_yticks([2, 5, 10], ["2", "5", "10"])

    return Outcome(checks, {"force": force, "contact_radius": radii}, draw)


def _same(said: Said, statement: str, off: float, within: float) -> Check:
    """An equation that holds to the calculation's own accuracy."""
    return shape(
        said, statement, f"equal within {within:g}", f"{abs(off):.1e} apart", abs(off) < within
    )


def _off(here: np.ndarray, there: np.ndarray) -> float:
    return float(np.max(np.abs(here / there - 1)))


EXPERIMENTS = {
    "mdr_thesis_fig2_3": Experiment("stress in the contact of a sphere", figure2_3),
    "mdr_thesis_fig2_4": Experiment("the line that stands for a sphere", figure2_4, (8.0, 3.6)),
}
