"""Fig. 3 and Table I: the normalized magnetic force and its fit.

The finite-element results behind the fit are not published as numbers, so the fit's quality cannot
be computed again; what it implies can.
"""

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from diffmicro.devices.wrmma import published_design
from diffmicro.mechanics.magnetics import normalized_force, prism_demagnetization
from experiments.nagy2012.drawing import as_table
from experiments.outcome import Check, Outcome, near

TABLE_1 = {
    0.5: (0.027, 2.823, 7.032, 0.997),
    1.0: (0.025, 3.074, 6.768, 0.998),
    1.5: (0.025, 3.028, 6.740, 0.998),
}
"""Mass ratio -> c_g, kappa, RMSE, R^2."""

DEMAGNETIZATION = 0.1161
"""n_x of section II-A2."""


def curves() -> tuple[np.ndarray, dict[float, np.ndarray]]:
    """Gap over magnetic length, and the normalized force of each mass ratio (eq. 13)."""
    ratio = np.linspace(0, 0.15, 151)
    force = {
        alpha: np.asarray(normalized_force(jnp.asarray(ratio), c_g, kappa, DEMAGNETIZATION))
        for alpha, (c_g, kappa, *_) in TABLE_1.items()
    }
    return ratio, force


def figure3() -> Outcome:
    """The curves differ only slightly, read as: by less than a tenth."""
    ratio, force = curves()
    stacked = np.stack(list(force.values()))
    spread = (stacked.max(0) - stacked.min(0)) / stacked.mean(0)
    rest = float(np.interp(20 / 280, ratio, spread))
    pair = np.abs(force[1.0] - force[1.5]) / force[1.5]
    falls = bool(np.all(np.diff(stacked, axis=1) < 0))
    checks = [
        Check("force falls with the gap", "yes", "yes" if falls else "no", falls),
        Check(
            "curves differ only slightly between mass ratios, at the rest gap",
            "below 10 %",
            f"{100 * rest:.1f} %",
            rest < 0.10,
        ),
        Check(
            "the same for mass ratios 1 and 1.5 alone, at any gap",
            "below 10 %",
            f"{100 * float(pair.max()):.1f} % at most",
            float(pair.max()) < 0.10,
        ),
    ]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for alpha, values in force.items():
            axes.plot(ratio, values, label=f"mass ratio {alpha:g}")
        axes.axvline(20 / 280, color="0.6", linestyle=":", label="rest gap")
        axes.set_xlabel("gap over magnetic length")
        axes.set_ylabel("normalized magnetic force")
        axes.set_ylim(0)
        axes.legend()

    return Outcome(checks, {"gap_ratio": ratio, "force": force, "spread": spread}, draw)


def table1() -> Outcome:
    """The fit's parameters, as the published design has them for alpha = 1.5."""
    design = published_design()
    gap_fit, gain_fit, *_ = TABLE_1[1.5]
    prism = float(prism_demagnetization(280e-6, 130e-6, 50e-6))
    checks = [
        near("c_g of the published design", gap_fit, float(design.gap_fit), 0),
        near("kappa of the published design", gain_fit, float(design.gain_fit), 0),
        near("n_x of a prism 280 x 130 x 50 um", DEMAGNETIZATION, prism, 5e-5),
        Check(
            "RMSE and R^2 of the fits",
            "6.7 to 7.0, 0.997 to 0.998",
            "not computable: the finite-element results are not published",
            False,
        ),
    ]

    def draw(figure: Figure) -> None:
        rows = [[f"{alpha:g}", *(f"{x:g}" for x in values)] for alpha, values in TABLE_1.items()]
        as_table(figure.subplots(), ["alpha", "c_g", "kappa", "RMSE", "R^2"], rows)

    return Outcome(checks, {"demagnetization": prism}, draw)
